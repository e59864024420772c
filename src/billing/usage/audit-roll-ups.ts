// The audit of roll-ups: usage per account, model and time equals the sum of the ledger's records. A full run compares every
// quarter of an hour, an incremental one the last hour of each account that was rolled up since the run before.

import type { Look } from "../../database/throttled-reader.ts";
import { BEFORE_ALL_IDS } from "../../kernel/ids.ts";
import { FIRST_ID_AT_HAND } from "../../ledger/archived-usage.ts";
import { type Violation, VIOLATIONS_TO_READ } from "../../ledger/audit/findings.ts";
import type { AuditCheck, AuditPlugin } from "../../ledger/audit/plugin.ts";
import { OTHER_KINDS } from "../../ledger/group-commit/token-columns.ts";
import { recentMarks, type RollUpMark } from "./recent-marks.ts";
import { OTHER_TOKENS_OF_RECORD, SAVED_OF_RECORD } from "./store.ts";

const ACCOUNTS_PER_PAGE = 200;
const RECORDS_PER_STRETCH = 20_000;
const QUARTERS_OF_AN_HOUR = 4;
const CHECK = "roll-ups of usage are the sums of its records";

/** What is summed of each record, beside their number. */
const COMPARED = [
  "input_tokens_uncached",
  "input_tokens_cached",
  "output_tokens",
  ...Object.values(OTHER_KINDS),
  "cost",
  "charge",
  "saved_by_cache",
];

const MARKS = `
SELECT account_id AS id, before_quarter AS before FROM usage_rolled_up
WHERE account_id > $1::uuid ORDER BY account_id LIMIT ${ACCOUNTS_PER_PAGE}`;

const NEXT = `
SELECT quarter_of(request_id) AS quarter FROM usage_record
WHERE account_id = $1::uuid AND request_id >= quarter_floor($2::int) ORDER BY request_id OFFSET ${RECORDS_PER_STRETCH} LIMIT 1`;

// $1 account, $2 from, $3 before. One statement and one snapshot: what is rolled up for good is compared with what is there. Those of months
// in the archive are compared with the seal of their month: a month may be taken away between two statements of a run.
const DIFFERENCES = `
SELECT '${CHECK}' AS "check", $1::uuid AS subject,
       format('quarter %s, %s, %s: %s requests and a charge of %s too many', quarter, model, basis, sum(requests), sum(charge)) AS detail
FROM (
  SELECT quarter, model, key_id, basis, requests, ${COMPARED.join(", ")}
  FROM usage_roll_up WHERE account_id = $1::uuid AND quarter >= greatest($2::int, quarter_of(${FIRST_ID_AT_HAND})) AND quarter < $3::int
  UNION ALL
  SELECT quarter, model, key_id, basis, -1, ${COMPARED.map((column) => `-${column}`).join(", ")}
  FROM (
    SELECT quarter_of(request_id) AS quarter, model, key_id, basis, input_tokens_uncached, input_tokens_cached, output_tokens,
           ${OTHER_TOKENS_OF_RECORD}, cost, charge, ${SAVED_OF_RECORD} AS saved_by_cache
    FROM usage_record
    WHERE account_id = $1::uuid AND request_id >= quarter_floor($2::int) AND request_id >= ${FIRST_ID_AT_HAND} AND request_id < quarter_floor($3::int)
  ) records
) both_sides
GROUP BY quarter, model, key_id, basis
HAVING ${["requests", ...COMPARED].map((column) => `sum(${column}) <> 0`).join(" OR ")}
LIMIT ${VIOLATIONS_TO_READ}`;

// What readers hold the balance against.
const TOTALS = `
SELECT '${CHECK}' AS "check", m.account_id AS subject, format('charges of %s are kept as %s', r.charge, m.charge) AS detail
FROM usage_rolled_up m
CROSS JOIN LATERAL (SELECT coalesce(sum(charge), 0) AS charge FROM usage_roll_up WHERE account_id = m.account_id) r
WHERE m.account_id = ANY ($1::uuid[]) AND m.charge <> r.charge`;

/** Where the roll-ups of an account's quarters are not the sums of its records. */
export function rollUpDifferences(
  look: Look,
  accountId: string,
  { fromQuarter, untilQuarter }: { fromQuarter: number; untilQuarter: number },
): Promise<Violation[]> {
  return look<Violation>(DIFFERENCES, [accountId, fromQuarter, untilQuarter]);
}

/** Compares roll-ups with records. What it finds is mended by `saldo usage recount`. */
const auditRollUps: AuditCheck = async ({ look, findings, full }) => {
  for await (const marks of full ? allMarks(look) : [await recentMarks(look)]) {
    for (const { id, before } of marks) {
      for (let from = full ? 0 : before - QUARTERS_OF_AN_HOUR; from < before;) {
        const [next] = await look<{ quarter: number }>(NEXT, [id, from]);
        const end = Math.min(before, Math.max(next?.quarter ?? before, from + 1));
        findings.add(await rollUpDifferences(look, id, { fromQuarter: from, untilQuarter: end }));
        from = end;
      }
    }
    if (full) findings.add(await look<Violation>(TOTALS, [marks.map(({ id }) => id)]));
  }
};

async function* allMarks(look: Look): AsyncGenerator<RollUpMark[], void> {
  for (let after: string | undefined = BEFORE_ALL_IDS; after !== undefined;) {
    const marks: RollUpMark[] = await look(MARKS, [after]);
    if (marks.length > 0) yield marks;
    after = marks.at(-1)?.id;
  }
}

/** The part of roll-ups in the ledger's audit. */
export const rollUpAudit: AuditPlugin = { pages: auditRollUps };
