// Whether a payment provider answers, from the orders that it is asked about.

import type { Pool } from "pg";

/** An order that got no answer so many times in a row; the question that is running counts as one. */
const FAILING_AFTER = 3;

// Orders of the last ten minutes are asked about every few seconds. Without any, all of the last day count that are asked about within
// half an hour, as one without an answer is.
const READ = `
SELECT (count(*) FILTER (WHERE fresh))::int AS "askedFresh", (count(*) FILTER (WHERE fresh AND failing))::int AS "failingFresh",
  count(*)::int AS asked, (count(*) FILTER (WHERE failing))::int AS failing
FROM (
  SELECT created_at > clock_timestamp() - interval '10 minutes' AS fresh, failures >= ${FAILING_AFTER} AS failing
  FROM top_up WHERE next_check_at < clock_timestamp() + interval '30 minutes' AND provider = $1
    AND created_at > clock_timestamp() - interval '1 day'
) due`;

/** How many orders a provider is asked about, and about how many of them it gave no answer. */
export async function readProviderAnswers(
  pool: Pick<Pool, "query">,
  provider: string,
): Promise<{ readonly asked: number; readonly failing: number }> {
  type Row = { askedFresh: number; failingFresh: number; asked: number; failing: number };
  const { rows } = await pool.query<Row>(READ, [provider]);
  const { askedFresh = 0, failingFresh = 0, asked = 0, failing = 0 } = rows[0] ?? {};
  return askedFresh > 0 ? { asked: askedFresh, failing: failingFresh } : { asked, failing };
}
