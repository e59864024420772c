// Commands that one operator carries out alone, counted together: the sums of SecondPersonRule are of a day, so that splitting a command
// into small ones gains nothing.

import type { PoolClient } from "pg";
import type { OperatorContext } from "../audit-log/operator-actions.ts";
import { waitForLocks, withRetry, withTransaction } from "../../database/transactions.ts";
import { invariant } from "../../kernel/invariant.ts";
import { isAboveSum, type CommandAmount, type SecondPersonRule } from "./second-person.ts";

/** Minutes are whole ones: the one that began a day ago still counts. */
const IN_DAY = "minute > clock_timestamp() - interval '24 hours 1 minute'";
const ENTRIES = "unnest(o.minutes, o.amounts) AS entry (minute, amount)";
// The row is locked whether it is new or not, and read as it is behind the lock.
const LOCK = `
INSERT INTO ordered_alone AS o (operator, currency_code) VALUES (lower($1), $2)
ON CONFLICT (operator, currency_code) DO UPDATE SET operator = excluded.operator
RETURNING (SELECT coalesce(sum(amount), 0) FROM ${ENTRIES} WHERE ${IN_DAY})::text AS sum`;
const ADD = `
UPDATE ordered_alone o SET (minutes, amounts) = (
  SELECT array_agg(minute ORDER BY minute), array_agg(amount ORDER BY minute) FROM (
    SELECT minute, sum(amount) AS amount FROM (
      SELECT minute, amount FROM ${ENTRIES} WHERE ${IN_DAY}
      UNION ALL SELECT date_trunc('minute', clock_timestamp()), abs($3::numeric)
    ) every_entry GROUP BY minute
  ) by_minute)
WHERE operator = lower($1) AND currency_code = $2`;

/** Thrown to undo a command that was carried out and is above the sum of one operator. */
class TooMuchAlone extends Error {}

/**
 * Carries a command out where it, together with its operator's other commands of the last 24 hours in its currency, is not above the
 * sum. A command that was carried out before counts once. Null: it is above the sum, and nothing was done.
 */
export async function carryOutAlone<Outcome extends object>(
  { by, rule, amount: commanded }: { by: OperatorContext; rule: SecondPersonRule; amount: CommandAmount },
  carryOut: (by: OperatorContext) => Promise<Outcome>,
): Promise<Outcome | null> {
  const { currencyCode, amount } = commanded;
  const inOne = async (client: PoolClient): Promise<Outcome> => {
    await waitForLocks(client);
    const { rows } = await client.query<{ sum: string }>(LOCK, [by.operator, currencyCode]);
    const sum = rows[0]?.sum;
    invariant(sum !== undefined, "the row of an operator's commands is there behind its lock");
    const outcome = await carryOut({ ...by, within: client });
    // Only now it is known whether it was carried out before, under the lock that its kind takes.
    if ("isNew" in outcome && outcome.isNew === false) return outcome;
    if (isAboveSum(rule, commanded, sum)) throw new TooMuchAlone();
    await client.query(ADD, [by.operator, currencyCode, amount]);
    return outcome;
  };
  try {
    return await withRetry(() => withTransaction(by.database, inOne));
  } catch (error) {
    if (error instanceof TooMuchAlone) return null;
    throw error;
  }
}
