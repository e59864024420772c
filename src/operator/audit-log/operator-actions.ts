// The audit log of operators: who ordered which action, on what, and why. A line is written in the transaction of its action, so
// neither exists without the other. A line never changes.

import type { Pool, PoolClient } from "pg";
import type { Database } from "../../database/database.ts";
import { entitiesOn } from "../../database/orm.ts";
import { withRetry, withTransaction } from "../../database/transactions.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { uuidv7, uuidv7Floor } from "../../kernel/ids.ts";
import { type AccountChange, recordAccountChange } from "./account-changes.ts";

export type OperatorAction = {
  /** Who ordered it: a person's e-mail address, or the login that ran a command, as `name@machine`. */
  readonly operator: string;
  /** What was done, in the words of the command line, such as `account freeze`. */
  readonly action: string;
  /** Its object: the id of an account, a request; null where there is only one such thing. */
  readonly subject: string | null;
  readonly reason: string | null;
  /** Further facts; amounts are decimal texts. */
  readonly facts?: Readonly<Record<string, string | number | null>>;
};

/** The line of a command, and of the change in the log that the customer reads. */
export type CommandLine = Omit<OperatorAction, "operator"> & {
  /** Null: the command changes nothing in one account. `test/operator/account-activity.test.ts` has the reasons. */
  readonly inAccount: AccountChange | null;
};

export type DoneAction = Required<OperatorAction> & { readonly actionId: string; readonly doneAt: Date };

/** Which actions are meant; all that is set must fit. Times are milliseconds of Unix time. */
export type ActionFilter = {
  readonly operator?: string;
  readonly action?: string;
  readonly subject?: string;
  readonly fromMs?: number;
  readonly untilMs?: number;
};

/** The operator of a command, and the database that it changes. */
export type OperatorContext = {
  readonly database: Pick<Database, "pool">;
  readonly operator: string;
  /** The database that has the people, where it is another one. */
  readonly people?: Pick<Database, "pool">;
  /** A transaction of the caller's that the command takes part in. Absent: it has its own. */
  readonly within?: PoolClient;
};

const INSERT = `
INSERT INTO operator_action (id, operator, action, subject, reason, facts) VALUES ($1::uuid, $2, $3, $4, $5, $6::jsonb)`;
const LAST_UUID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Writes the line of an action, inside its transaction. Errors: ValidationError for an empty reason. */
export async function recordAction(client: PoolClient, action: OperatorAction): Promise<void> {
  const { operator, action: name, subject, reason, facts = {} } = action;
  if (reason?.trim() === "") {
    throw new ValidationError([{ field: "reason", rule: "reason.blank", message: "must not be only spaces" }]);
  }
  await client.query(INSERT, [uuidv7(), operator, name, subject, reason, JSON.stringify(facts)]);
}

/**
 * Carries an operator's command out and records it, in one transaction: with the operator in the operators' log, and without in the log
 * of the account that it changes. `line` describes the change; null: nothing was changed, so there is nothing to record.
 */
export function withAuditLog<Outcome>(
  { database, operator, within }: OperatorContext,
  work: (client: PoolClient) => Promise<Outcome>,
  line: (outcome: Outcome, client: PoolClient) => CommandLine | null | Promise<CommandLine | null>,
): Promise<Outcome> {
  const inOne = async (client: PoolClient): Promise<Outcome> => {
    const outcome = await work(client);
    const described = await line(outcome, client);
    if (described === null) return outcome;
    const { inAccount, ...action } = described;
    await recordAction(client, { operator, ...action });
    if (inAccount !== null) await recordAccountChange(client, inAccount);
    return outcome;
  };
  return within === undefined ? withRetry(() => withTransaction(database, inOne)) : inOne(within);
}

/** Actions with ids before `beforeId`, newest first; null: from the newest on. */
export async function listActions(
  pool: Pool,
  { filter = {}, beforeId = null, limit }: { filter?: ActionFilter; beforeId?: string | null; limit: number },
): Promise<DoneAction[]> {
  const { fromMs = 0, untilMs, ...exact } = filter;
  const until = untilMs === undefined ? LAST_UUID : uuidv7Floor(untilMs);
  const before = beforeId !== null && beforeId < until ? beforeId : until;
  const { em, OperatorAction } = await entitiesOn(pool);
  // Ids begin with the time they were made, so a range of time is a range of the primary key.
  const where = { id: { $gte: uuidv7Floor(fromMs), $lt: before }, ...exact };
  const actions = await em.find(OperatorAction, where, { orderBy: { id: "desc" }, limit });
  return actions.map(({ id, operator, action, subject, reason, facts, doneAt }) => ({
    actionId: id,
    operator,
    action,
    subject: subject ?? null,
    reason: reason ?? null,
    facts,
    doneAt,
  }));
}
