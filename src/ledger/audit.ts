// The audit: every invariant of the ledger, asked of the database in SQL, in short statements with pauses between them. It
// takes nothing from the code it audits but the names of system accounts. What it promises of a running system: no false
// alarm, because whatever is compared is read in one statement.

import type { Pool } from "pg";
import { auditAccounts, readHorizon } from "./audit-accounts.ts";
import {
  DEBITS,
  LAST_OF_PAGE,
  MAX_VIOLATIONS_PER_CHECK,
  POSTING_CHECKS,
  STEPS_PER_PAGE,
  USED_ACCOUNTS,
  type Violation,
  WHOLE_CHECKS,
} from "./audit-checks.ts";
import { createLook, type Look } from "./gentle-look.ts";
import { type AuditKind, beginAudit, readPostingsBefore, recordAudit } from "./audit-run.ts";

export type { Violation } from "./audit-checks.ts";

export type AuditReport = { readonly ok: boolean; readonly violations: readonly Violation[] };

export type AuditOptions = {
  /** Default `full`. */
  readonly kind?: AuditKind;
  /** The part of the time that the database may work for the audit, above 0 and at most 1; default 1, no pauses. */
  readonly share?: number;
  /** Ends the run early, with an AbortError. */
  readonly signal?: AbortSignal;
};

const BEFORE_ALL_IDS = "00000000-0000-0000-0000-000000000000";

/** Runs every check over everything, or over what is new since the last runs, and keeps what it found. */
export async function audit(pool: Pool, { kind = "full", share = 1, signal }: AuditOptions = {}): Promise<AuditReport> {
  signal?.throwIfAborted();
  const beganAt = await beginAudit(pool, kind);
  const look = createLook(pool, { share, ...(signal === undefined ? {} : { signal }) });
  const horizon = await readHorizon(look);
  const full = kind === "full";
  const accountViolations = await auditAccounts(look, { full, horizon });
  const postings = await auditPostings(look, full ? BEFORE_ALL_IDS : await readPostingsBefore(pool));
  const violations = bounded([
    ...(await look<Violation>(WHOLE)),
    ...(await auditUsedAccounts(look)),
    ...accountViolations,
    ...postings,
  ]);
  await recordAudit(pool, {
    kind,
    beganAt,
    violations: violations.length,
    postingsBefore: postings.length === 0 ? horizon : null,
  });
  return { ok: violations.length === 0, violations };
}

/** They look at little, so one statement and one snapshot do for all of them. */
const WHOLE = Object.entries(WHOLE_CHECKS)
  .map(
    ([check, text]) =>
      `SELECT $$${check}$$ AS check, subject::text, detail FROM (${text} LIMIT ${MAX_VIOLATIONS_PER_CHECK}) found`,
  )
  .join("\nUNION ALL\n");

async function auditUsedAccounts(look: Look): Promise<Violation[]> {
  const violations: Violation[] = [];
  for (let after = BEFORE_ALL_IDS; ;) {
    const accounts = await look<{ id: string; is_known: boolean }>(USED_ACCOUNTS, [after]);
    for (const { id, is_known: isKnown } of accounts) {
      if (isKnown) continue;
      const check = "every usage record is on an account that exists";
      violations.push({ check, subject: id, detail: "no such account" });
    }
    const last = accounts.at(-1);
    if (last === undefined || accounts.length < STEPS_PER_PAGE) return violations;
    after = last.id;
  }
}

/** Postings with ids from `from` on. */
async function auditPostings(look: Look, from: string): Promise<Violation[]> {
  const violations: Violation[] = [];
  for (let after = BEFORE_ALL_IDS; ;) {
    const debits = await look<{ id: string; has_new: boolean }>(DEBITS, [after, from]);
    for (const { id, has_new: hasNew } of debits) {
      if (hasNew) violations.push(...(await auditDebit(look, id, from)));
    }
    const last = debits.at(-1);
    if (last === undefined || debits.length < STEPS_PER_PAGE) return violations;
    after = last.id;
  }
}

async function auditDebit(look: Look, debit: string, from: string): Promise<Violation[]> {
  const violations: Violation[] = [];
  // Pages overlap by the one posting that ends the page before.
  for (let first = from; ;) {
    const [last] = await look<{ id: string }>(LAST_OF_PAGE, [debit, first]);
    if (last === undefined) return violations;
    for (const [check, text] of Object.entries(POSTING_CHECKS)) {
      const found = await look<Omit<Violation, "check">>(`${text} LIMIT ${MAX_VIOLATIONS_PER_CHECK}`, [
        debit,
        first,
        last.id,
      ]);
      violations.push(...found.map((each) => ({ check, ...each })));
    }
    if (last.id === first) return violations;
    first = last.id;
  }
}

/** Each violation once, and of each check no more than anybody reads. */
function bounded(violations: readonly Violation[]): Violation[] {
  const told = new Set<string>();
  const counts = new Map<string, number>();
  return violations.filter(({ check, subject }) => {
    const name = `${check} ${subject}`;
    const count = counts.get(check) ?? 0;
    if (told.has(name) || count === MAX_VIOLATIONS_PER_CHECK) return false;
    told.add(name);
    counts.set(check, count + 1);
    return true;
  });
}
