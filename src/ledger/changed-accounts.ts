// Which accounts have changed since a moment, without a look at each one's rows.
//
// Whatever moves an account's money writes its row, and PostgreSQL puts the transaction's number into each version of a row: also where an
// owner of the database wrote it with the triggers off. A trace is the oldest transaction that was open at its moment, so what a later
// statement finds to be newer contains every change that was committed after it. One pass over the table of accounts compares these
// numbers; no partition of usage is looked at.

import type { Look } from "../database/throttled-reader.ts";

/** A moment: the server and its oldest open transaction, such as `7574…:812`. */
export type Trace = string;

/** The trace of a statement's moment, as an SQL expression. */
export const TRACE = `((SELECT system_identifier::text FROM pg_control_system()) || ':' || pg_snapshot_xmin(pg_current_snapshot())::text)`;

// Versions of rows have the lower half of a number. Half of it is as far as two can be compared.
const COMPARABLE = 2n ** 31n;
const CHANGED = `
WITH now AS MATERIALIZED (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS number)
SELECT a.id FROM account a, now
WHERE ((now.number - a.xmin::text::bigint) & 4294967295) <= now.number - $1::bigint OR $2::boolean AND (a.held <> 0 OR a.open_holds <> 0)
ORDER BY a.id`;
const NOW = `
SELECT (SELECT system_identifier::text FROM pg_control_system()) AS system,
       pg_snapshot_xmax(pg_current_snapshot())::text AS number, ${TRACE} AS trace`;

/** The number of a trace's transaction: a later one of the same server has no lower number. */
export function numberOf(trace: Trace): string {
  return trace.split(":")[1] ?? "0";
}

export async function readTrace(look: Look): Promise<Trace> {
  return (await look<{ trace: Trace }>(NOW))[0]?.trace ?? "";
}

/**
 * The accounts whose row was written since a moment, in the order of their ids. Null: that cannot be known, because the trace is of another
 * server, as after a restore into it, or too old. Any account may have changed then. `orHolding`: and those with held money, whose holds may
 * have gone without a write of the row.
 */
export async function changedAccounts(
  look: Look,
  since: Trace | null,
  { orHolding = false }: { readonly orHolding?: boolean } = {},
): Promise<string[] | null> {
  const [system, number] = since?.split(":") ?? [];
  if (system === undefined || number === undefined) return null;
  const [now] = await look<{ system: string; number: string }>(NOW);
  const age = BigInt(now?.number ?? 0) - BigInt(number);
  if (now?.system !== system || age < 0n || age >= COMPARABLE) return null;
  return (await look<{ id: string }>(CHANGED, [number, orHolding], "table")).map(({ id }) => id);
}
