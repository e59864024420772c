// The audit: every invariant of the ledger, checked by SQL in short statements with pauses between them, and the topics' checks.
// It uses no audited code but the names of system accounts. It gives no false alarm on a running system, because all rows of a
// comparison are read in one statement.

import type { Pool } from "pg";
import { BEFORE_ALL_IDS } from "../../kernel/ids.ts";
import { auditAccounts, readHorizon } from "./accounts.ts";
import { LAST_OF_PAGE, POSTING_CHECKS, STEPS_PER_PAGE, UNKNOWN_NAMED, USED_ACCOUNTS, WHOLE_CHECKS } from "./checks.ts";
import { AuditFindings, inOneStatement, type Violation, VIOLATIONS_TO_READ } from "./findings.ts";
import type { AuditPlugin, Checks } from "./plugin.ts";
import { createLook, type Look } from "../../database/throttled-reader.ts";
import { readTrace } from "../changed-accounts.ts";
import { auditFunds } from "./funds.ts";
import { type AuditKind, beginAudit, readLastTrace, readPostingsBefore, recordAudit } from "./run.ts";

export type { Violation } from "./findings.ts";

/** The result of a run: a limited number of violations of each check; `hasMore`: there are more. */
export type AuditReport = {
  readonly ok: boolean;
  readonly violations: readonly Violation[];
  readonly hasMore: boolean;
  /** What a check could not compare, such as payouts while no node is reachable. Absent: everything was compared. */
  readonly notCompared?: readonly string[];
};

export type AuditOptions = {
  /** Default `full`. */
  readonly kind?: AuditKind;
  /** The share of the time in which the database may work for the audit, above 0 and at most 1; default 1, no pauses. */
  readonly share?: number;
  /** Ends the run early, with an AbortError. */
  readonly signal?: AbortSignal;
  /** The topics' checks. Default: none, only the ledger's own invariants. */
  readonly topics?: readonly AuditPlugin[];
};

/** Runs every check over all rows, or over rows since the last runs, and stores the result. */
export async function audit(
  pool: Pool,
  { kind = "full", share = 1, topics = [], signal }: AuditOptions = {},
): Promise<AuditReport> {
  signal?.throwIfAborted();
  const beganAt = await beginAudit(pool, kind);
  const look = createLook(pool, { share, ...(signal === undefined ? {} : { signal }) });
  const trace = await readTrace(look);
  const horizon = await readHorizon(look);
  const full = kind === "full";
  const from = full ? BEFORE_ALL_IDS : await readPostingsBefore(pool);
  const since = { trace: full ? null : await readLastTrace(pool), postings: from };
  const findings = new AuditFindings();
  for (const { whole } of [OWN, ...topics]) {
    if (whole !== undefined) findings.add(await look<Violation>(inOneStatement(whole)));
  }
  await (full ? auditUsedAccounts(look, findings) : auditNamedAccounts(look, findings, from));
  await auditAccounts({ look, findings, full, horizon, trace, since });
  await auditFunds({ look, findings, full, horizon });
  const seenBefore = findings.seen;
  const checks = Object.assign({}, ...[OWN, ...topics].map(({ postings }) => postings)) as Checks;
  await auditPostings({ look, findings, checks, from });
  const postingsBefore = findings.seen === seenBefore ? horizon : null;
  const missed: string[] = [];
  for (const { pages } of topics) await pages?.({ look, findings, full, notCompared: (what) => missed.push(what) });
  const { violations, hasMore } = findings;
  await recordAudit(pool, { kind, beganAt, violations, postingsBefore, trace });
  return { ok: violations.length === 0, violations, hasMore, ...(missed.length > 0 && { notCompared: missed }) };
}

const OWN: AuditPlugin = { whole: WHOLE_CHECKS, postings: POSTING_CHECKS };

const USED_CHECK = "every usage record is on an account that exists";

/** The accounts of open holds and new postings: an incremental run steps through no others. */
async function auditNamedAccounts(look: Look, findings: AuditFindings, from: string): Promise<void> {
  const unknown = await look<{ id: string }>(UNKNOWN_NAMED, [from]);
  findings.add(unknown.map(({ id }) => ({ check: USED_CHECK, subject: id, detail: "no such account" })));
}

async function auditUsedAccounts(look: Look, findings: AuditFindings): Promise<void> {
  for (let after = BEFORE_ALL_IDS; ;) {
    const accounts = await look<{ id: string; is_known: boolean }>(USED_ACCOUNTS, [after]);
    const unknown = accounts.filter(({ is_known: isKnown }) => !isKnown);
    findings.add(unknown.map(({ id }) => ({ check: USED_CHECK, subject: id, detail: "no such account" })));
    const last = accounts.at(-1);
    if (last === undefined || accounts.length < STEPS_PER_PAGE) return;
    after = last.id;
  }
}

type PostingsAudit = {
  readonly look: Look;
  readonly findings: AuditFindings;
  readonly checks: Checks;
  /** Postings with ids from here on. */
  readonly from: string;
};

async function auditPostings({ look, findings, checks, from }: PostingsAudit): Promise<void> {
  // Pages overlap by one posting, the last of the page before.
  for (let first = from; ;) {
    const [last] = await look<{ id: string }>(LAST_OF_PAGE, [first]);
    if (last === undefined) return;
    for (const [check, text] of Object.entries(checks)) {
      const found = await look<Omit<Violation, "check">>(`${text} LIMIT ${VIOLATIONS_TO_READ}`, [first, last.id]);
      findings.add(found.map((each) => ({ check, ...each })));
    }
    if (last.id === first) return;
    first = last.id;
  }
}
