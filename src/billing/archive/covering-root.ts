// The signed root of the books that covers a month: a seal of the archive names it, so the chains of all accounts are proved up to there.

import type { ClientBase } from "pg";
import { LimitExceeded } from "../../kernel/errors.ts";
import type { SignedRoot } from "../proof/seal-store.ts";
import type { Month } from "./month.ts";

const COVERING = `
SELECT r.seal, r.text, r.signatures FROM proof_root r JOIN proof_window w USING (seal)
WHERE w.until_time >= $1::date::timestamp AT TIME ZONE 'UTC' ORDER BY r.seal LIMIT 1`;

/** Errors: LimitExceeded when the books are not sealed so far. */
export async function coveringRoot(client: ClientBase, month: Month): Promise<SignedRoot> {
  const until = new Date(month.untilMs).toISOString().slice(0, "2025-10-01".length);
  const { rows } = await client.query<SignedRoot>(COVERING, [until]);
  if (rows[0] === undefined)
    throw new LimitExceeded(`No signed root covers ${month.name}: run saldo proof seal, or let the workers do so.`);
  return rows[0];
}
