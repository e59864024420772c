// The switch that stops new chat requests in every process: for an upstream that reports wrong usage, a wrong price, or
// maintenance of the ledger. Running requests are finished and billed, and reads continue. The switch is a row that each process
// reads every two seconds; a request reads memory only.

import type { Pool, PoolClient } from "pg";

/** Null: requests are admitted. */
export type AdmissionStop = { readonly since: Date; readonly reason: string } | null;

const READ = `SELECT stopped_at AS since, reason FROM admission_switch`;
// Stopping twice keeps the first time and reason.
const STOP = `
UPDATE admission_switch SET stopped_at = clock_timestamp(), reason = $1 WHERE stopped_at IS NULL`;
const START = `UPDATE admission_switch SET stopped_at = NULL, reason = NULL WHERE stopped_at IS NOT NULL`;

/** Reads the switch. */
export async function readAdmissionStop(database: Pick<Pool | PoolClient, "query">): Promise<AdmissionStop> {
  const { rows } = await database.query<{ since: Date | null; reason: string | null }>(READ);
  const { since = null, reason = null } = rows[0] ?? {};
  return since === null || reason === null ? null : { since, reason };
}

/** Stops admissions. False: they were stopped before. */
export async function stopAdmissions(client: PoolClient, reason: string): Promise<boolean> {
  return (await client.query(STOP, [reason])).rowCount === 1;
}

/** Allows admissions again. False: they were not stopped. */
export async function startAdmissions(client: PoolClient): Promise<boolean> {
  return (await client.query(START)).rowCount === 1;
}

/** The switch as one process knows it. */
export class AdmissionGate {
  readonly #pool: Pool;
  #stop: AdmissionStop = null;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  get isStopped(): boolean {
    return this.#stop !== null;
  }

  /** Reads the switch again. While the database is unavailable the last known state remains. */
  async refresh(): Promise<void> {
    this.#stop = await readAdmissionStop(this.#pool);
  }
}
