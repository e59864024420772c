// The audit of payouts: every nonce of a wallet is accounted for, each has one final effect, and that effect is its
// transfer's state. An incremental run checks open transfers and those that changed lately, a full run checks all.

import { missingConstraints } from "../../database/schema-checks.ts";
import { type Violation, VIOLATIONS_TO_READ } from "../../ledger/audit/findings.ts";
import type { AuditPlugin, Checks } from "../../ledger/audit/plugin.ts";
import { systemAccounts } from "../../ledger/system-accounts.ts";
import { wrongBytes } from "./audit-signed-bytes.ts";
import { auditPages, lastOfPage, pagesOfTransfers } from "../transfers/audit-pages.ts";

/** How many of a wallet's last nonces an incremental run counts. */
const LAST_NONCES = 2_000;

const WHOLE_CHECKS: Checks = {
  "the database refuses what must never be of a payout": `
    ${missingConstraints([
      ["payout", "payout_nonce"],
      ["payout", "payout_end"],
      ["payout", "payout_transfer"],
      ["payout_attempt", "payout_attempt_hash"],
      ["payout_attempt", "payout_attempt_block"],
    ])}
    UNION ALL
    SELECT w.name, 'the unique index is missing or not valid' FROM (VALUES ('payout_living'), ('payout_attempt_final')) AS w(name)
    WHERE NOT EXISTS (SELECT FROM pg_index i WHERE i.indexrelid = to_regclass(w.name) AND i.indisunique AND i.indisvalid)`,
  "what was signed cannot be changed": `
    SELECT c.relname AS subject, 'its triggers are missing or not always on' AS detail
    FROM pg_class c JOIN (VALUES ('payout'::regclass, 2), ('payout_attempt'::regclass, 3)) AS w(id, triggers) ON w.id = c.oid
    WHERE w.triggers <> (SELECT count(*) FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgenabled = 'A'
                         AND t.tgname IN ('append_only', 'append_only_truncate', 'same_bytes'))`,
  "an open payout belongs to an open transfer": `
    SELECT p.id AS subject, format('%s, transfer %s', p.state, t.status) AS detail
    FROM payout p JOIN transfer t ON t.id = p.transfer_id
    WHERE p.state IN ('chosen', 'signed', 'broadcast') AND t.status NOT IN ('PENDING', 'SUBMITTED') AND p.reopened_at IS NULL`,
};

// $1: how many of the last nonces to count, null: all of them.
const GAPS = `
SELECT 'the nonces of a wallet have no gap' AS "check", w.id::text AS subject,
       format('%s of nonces %s to %s', n.count, w.from_nonce, w.next_nonce - 1) AS detail
FROM (SELECT id, next_nonce, greatest(first_nonce, next_nonce - $1::int) AS from_nonce FROM wallet) w
CROSS JOIN LATERAL (SELECT count(*) FROM payout p WHERE p.wallet_id = w.id AND p.nonce >= w.from_nonce) n
WHERE n.count <> w.next_nonce - w.from_nonce`;

// $1 the id behind which the page begins, $2 its last one.
const wrongPayouts = (which: string): string => `
SELECT v.name AS "check", p.id AS subject, v.detail
FROM (${which}) page
JOIN transfer t ON t.id = page.id
JOIN payout p ON p.transfer_id = t.id
CROSS JOIN LATERAL (
  SELECT count(*) AS stored, count(*) FILTER (WHERE a.state = 'final') AS finals,
         min(a.hash) FILTER (WHERE a.state = 'final') AS final_hash, min(a.kind) FILTER (WHERE a.state = 'final') AS final_kind,
         count(*) FILTER (WHERE a.hash = p.final_hash) AS own_finals
  FROM payout_attempt a WHERE a.payout_id = p.id
) a
CROSS JOIN LATERAL (VALUES
  ('a nonce has one final effect', format('%s, %s final attempts', p.state, a.finals), CASE
     WHEN p.state IN ('confirmed', 'reverted') THEN (a.finals, a.final_kind, a.final_hash) IS DISTINCT FROM (1, 'payment', p.final_hash)
     WHEN p.state = 'filled' THEN (a.finals, a.final_kind, a.final_hash) IS DISTINCT FROM (1, 'filler', p.final_hash)
     ELSE a.finals <> 0 OR a.own_finals <> 0 END),
  ('a transfer agrees with its payout', format('%s, transfer %s', p.state, t.status), CASE
     WHEN p.state = 'confirmed' THEN t.status <> 'CONFIRMED' OR t.transaction_hash IS DISTINCT FROM p.final_hash
     WHEN p.state IN ('reverted', 'filled') THEN t.status <> 'REJECTED' ELSE false END),
  ('every attempt of a payout is stored', format('%s counted, %s stored', p.attempts, a.stored), p.attempts <> a.stored)
) v(name, detail, is_broken)
WHERE v.is_broken LIMIT ${VIOLATIONS_TO_READ}`;
// A transfer that the books had lost may be paid by a transaction whose nonce they have of another transfer.
const PAID_BY_LOST = `
SELECT count(*) FROM payout_lost_attempt l
JOIN payout d ON d.wallet_id = l.wallet_id AND d.nonce = l.nonce AND d.state = 'displaced' AND d.final_hash = l.hash
WHERE l.hash = t.transaction_hash AND l.resolved_at IS NOT NULL AND d.transfer_id <> t.id`;
const wrongTransfers = (which: string): string => `
SELECT 'a confirmed transfer was paid once' AS "check", t.id AS subject, format('%s payouts of it are confirmed', n.count) AS detail
FROM (${which}) page
JOIN transfer t ON t.id = page.id
CROSS JOIN LATERAL (
  SELECT count(*) FROM payout p
  -- One that has vanished from its chain stops the wallet, and is sent again.
  WHERE p.transfer_id = t.id AND (p.state = 'confirmed' OR (p.reopened_at IS NOT NULL AND p.ended_at IS NULL AND p.filling_reason IS NULL))
) own
CROSS JOIN LATERAL (
  SELECT CASE WHEN own.count > 0 THEN own.count ELSE (${PAID_BY_LOST}) END AS count
) n
WHERE n.count <> CASE t.status WHEN 'CONFIRMED' THEN 1 ELSE 0 END LIMIT ${VIOLATIONS_TO_READ}`;

// Each posting of a network's fee names a final transaction of ours.
const FEES = `debit = '${systemAccounts.networkFees}'`;
const WRONG_FEES = `
SELECT 'a network fee is of a final transaction of ours' AS "check", f.id AS subject, f.reference AS detail
FROM posting f LEFT JOIN payout_attempt a ON a.hash = substr(f.reference, length('network_fee:') + 1)
  AND (a.state = 'final' OR EXISTS (SELECT FROM payout p WHERE p.id = a.payout_id AND p.reopened_at IS NOT NULL))
WHERE f.${FEES} AND f.id > $1::uuid AND f.id <= $2::uuid AND a.hash IS NULL
LIMIT ${VIOLATIONS_TO_READ}`;

/** The part of payouts in the ledger's audit. */
export const payoutAudit: AuditPlugin = {
  whole: WHOLE_CHECKS,
  async pages(run) {
    const { look, findings, full } = run;
    findings.add(await look<Violation>(GAPS, [full ? null : LAST_NONCES]));
    await auditPages(run, [
      pagesOfTransfers(full, [wrongPayouts, wrongTransfers, wrongBytes(full)]),
      { lastOfPage: lastOfPage("posting", FEES), wrong: [WRONG_FEES] },
    ]);
  },
};
