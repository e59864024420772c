// What operators ordered by hand: who, what, to whom, why. A line is written in the transaction of the action itself, so
// neither is there without the other, and is never changed.

import type { Pool, PoolClient } from "pg";
import { uuidv7 } from "../kernel/ids.ts";

export type OperatorAction = {
  /** Who ordered it, as far as the machine knows. */
  readonly operator: string;
  /** The command, such as `account freeze`. */
  readonly action: string;
  /** What it was done to: the id of an account, a request; null where there is only one such thing. */
  readonly subject: string | null;
  readonly reason: string | null;
  /** What else is worth knowing; amounts are decimal texts. */
  readonly facts?: Readonly<Record<string, string | number | null>>;
};

export type DoneAction = Required<OperatorAction> & { readonly actionId: string; readonly doneAt: Date };

const INSERT = `
INSERT INTO operator_action (id, operator, action, subject, reason, facts) VALUES ($1::uuid, $2, $3, $4, $5, $6::jsonb)`;
const LIST = `
SELECT id AS "actionId", operator, action, subject, reason, facts, done_at AS "doneAt"
FROM operator_action ORDER BY id DESC LIMIT $1`;

/** Writes the line of an action, inside its transaction. */
export async function recordAction(client: PoolClient, action: OperatorAction): Promise<void> {
  const { operator, action: name, subject, reason, facts = {} } = action;
  await client.query(INSERT, [uuidv7(), operator, name, subject, reason, JSON.stringify(facts)]);
}

/** The last actions, newest first. */
export async function listActions(pool: Pool, limit: number): Promise<DoneAction[]> {
  return (await pool.query<DoneAction>(LIST, [limit])).rows;
}
