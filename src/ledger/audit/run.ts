// The stored state of audits: when the last run of each kind began and ended, and its findings. Processes that share a database
// take turns by it.

import type { Pool } from "pg";
import { BEFORE_ALL_IDS } from "../../kernel/ids.ts";
import { invariant } from "../../kernel/invariant.ts";
import type { Trace } from "../changed-accounts.ts";
import type { Violation } from "./findings.ts";

/** Incremental: rows since each account's checkpoint. Full: all rows. */
export type AuditKind = "incremental" | "full";

/** The state of a kind of audit, by the database's clock. */
export type AuditState = {
  /** Seconds since the start of the last run that ended: all older rows were audited. Null: none has ended yet. */
  readonly lagSeconds: number | null;
  /** The number of findings of the last run that ended. */
  readonly violations: number;
};

// A run that has ended is due again after a while. A run that has not ended belongs to its process, until that process must have
// died.
const CLAIM = `
UPDATE audit_run SET started_at = clock_timestamp()
WHERE kind = $1 AND (started_at IS NULL OR started_at <= clock_timestamp() - interval '1 ms' *
  CASE WHEN started_at <= covered_at THEN $2::float8 ELSE $3::float8 END)
RETURNING kind`;
const BEGIN = `UPDATE audit_run SET started_at = clock_timestamp() WHERE kind = $1 RETURNING started_at::text`;
const POSTINGS_BEFORE = `SELECT postings_before FROM audit_run WHERE kind = 'incremental'`;
// A full run takes hours, and incremental runs that began after it end before it: no state goes back, and the findings of the
// newer run remain.
const RECORD = `
UPDATE audit_run SET covered_at = greatest(covered_at, $2::timestamptz), finished_at = clock_timestamp(),
  violations = CASE WHEN covered_at > $2::timestamptz THEN violations ELSE $3 END,
  found = CASE WHEN covered_at > $2::timestamptz THEN found ELSE $5::jsonb END,
  postings_before = greatest(postings_before, $4::uuid), trace = CASE WHEN covered_at > $2::timestamptz THEN trace ELSE $6 END
WHERE kind = $1 OR (kind = 'incremental' AND $1 = 'full')`;
const LAST_TRACE = `SELECT trace FROM audit_run WHERE kind = 'incremental'`;
const RUNS = `
SELECT kind, started_at AS "startedAt", finished_at AS "finishedAt", covered_at AS "coveredAt", violations, found
FROM audit_run ORDER BY kind DESC`;
/** How many violations of a run are stored: enough to find the place. The log has all of them. */
const MAX_KEPT = 100;
const STATES = `
SELECT kind, extract(epoch FROM clock_timestamp() - covered_at)::float8 AS lag, violations FROM audit_run`;

/** Takes the next run of a kind for this process, if it is due and no other process has it. */
export async function claimAudit(
  pool: Pool,
  { kind, everyMs, retryAfterMs }: { kind: AuditKind; everyMs: number; retryAfterMs: number },
): Promise<boolean> {
  return (await pool.query(CLAIM, [kind, everyMs, retryAfterMs])).rowCount === 1;
}

/** Records that a run begins, and returns when: as text, because a Date would lose the microseconds that distinguish two runs. */
export async function beginAudit(pool: Pool, kind: AuditKind): Promise<string> {
  const { rows } = await pool.query<{ started_at: string }>(BEGIN, [kind]);
  invariant(rows[0] !== undefined, "there is a row for each kind of audit");
  return rows[0].started_at;
}

/** The first posting that no audit has checked. */
export async function readPostingsBefore(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ postings_before: string }>(POSTINGS_BEFORE);
  return rows[0]?.postings_before ?? BEFORE_ALL_IDS;
}

/** The moment of the last run that ended. Null: not known. */
export async function readLastTrace(pool: Pool): Promise<Trace | null> {
  return (await pool.query<{ trace: Trace | null }>(LAST_TRACE)).rows[0]?.trace ?? null;
}

/**
 * Stores the findings of a run; a full run is also an incremental one. `postingsBefore` null: the first unchecked posting stays.
 */
export async function recordAudit(
  pool: Pool,
  run: {
    kind: AuditKind;
    beganAt: string;
    violations: readonly Violation[];
    postingsBefore: string | null;
    trace: Trace | null;
  },
): Promise<void> {
  const found = JSON.stringify(run.violations.slice(0, MAX_KEPT));
  await pool.query(RECORD, [run.kind, run.beganAt, run.violations.length, run.postingsBefore, found, run.trace]);
}

/** The stored state of the last runs of a kind. */
export type AuditRun = {
  readonly kind: AuditKind;
  /** When the last run began; null: none has. */
  readonly startedAt: Date | null;
  /** When the last run that ended did end. */
  readonly finishedAt: Date | null;
  /** Every row that was committed before this time has been audited. */
  readonly coveredAt: Date | null;
  /** The number of violations in the last run that ended, and the first of them. */
  readonly violations: number;
  readonly found: readonly Violation[];
};

/** Reads the findings of the last audits, and their times. */
export async function readAuditRuns(pool: Pick<Pool, "query">): Promise<AuditRun[]> {
  return (await pool.query<AuditRun>(RUNS)).rows;
}

/** Reads the state of the audits. */
export async function readAuditStates(pool: Pick<Pool, "query">): Promise<Record<AuditKind, AuditState>> {
  const { rows } = await pool.query<{ kind: AuditKind; lag: number | null; violations: number }>(STATES);
  const stateOf = (kind: AuditKind): AuditState => {
    const row = rows.find((each) => each.kind === kind);
    return { lagSeconds: row?.lag ?? null, violations: row?.violations ?? 0 };
  };
  return { incremental: stateOf("incremental"), full: stateOf("full") };
}
