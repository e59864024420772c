// The audit of usage records against other topics: each is at prices that its model had in the catalog when it was admitted, and
// of a key of its account. A full run reads every record, an incremental one the last hour of each account that was rolled up since
// the run before.

import { PRODUCTION_SINCE } from "../../database/purpose.ts";
import type { Look } from "../../database/throttled-reader.ts";
import type { CatalogModel } from "../../catalog/catalog-model.ts";
import { hasPriceHistory, type PriceSpan, readPriceHistory } from "../../catalog/price-history.ts";
import { BEFORE_ALL_IDS, timeOfUuidv7, uuidv7Floor } from "../../kernel/ids.ts";
import type { PriceSnapshot } from "../../kernel/token-prices.ts";
import { USED_ACCOUNTS } from "../../ledger/audit/checks.ts";
import { type Violation, VIOLATIONS_TO_READ } from "../../ledger/audit/findings.ts";
import type { AuditCheck, AuditPlugin } from "../../ledger/audit/plugin.ts";
import { recentMarks } from "./recent-marks.ts";
import { otherPricesColumn, readOtherPrices } from "../../ledger/group-commit/token-columns.ts";

const RECORDS_PER_STRETCH = 20_000;
const QUARTERS_OF_AN_HOUR = 4;
const QUARTER_MS = 15 * 60_000;
/**
 * How long before its model had a price, and how long after, a request may have it: it is named when it arrives, its body may
 * take five minutes, it reads a catalog that is up to a minute old, and the clocks of gateway and database differ.
 */
const SLACK_MS = 10 * 60_000;
const PRICE_CHECK = "a record has prices that its model had in the catalog";
const KEY_CHECK = "a record is of a key of its account";

// $1 account, $2 the first id of the stretch; below also $3, the first id behind it.
const NEXT = `
SELECT request_id AS id FROM usage_record
WHERE account_id = $1::uuid AND request_id >= $2::uuid ORDER BY request_id OFFSET ${RECORDS_PER_STRETCH} LIMIT 1`;
const IN_STRETCH = `account_id = $1::uuid AND request_id >= $2::uuid AND request_id < $3::uuid`;
const AFTER_ALL_IDS = "ffffffff-ffff-ffff-ffff-ffffffffffff";

// What a demo left behind when it became production was sold for play money. No writer that serves chooses when a row was written.
const wasDemo = (sinceMs: string): string =>
  `settled_time(request_id, settled_at) < to_timestamp(${sinceMs}::float8 / 1000)`;

// $4 since when the database is production's.
const GROUPS = `
SELECT g.*, EXISTS (SELECT FROM api_key k WHERE k.account_id = $1::uuid AND k.id = g.key_id) AS "isOwnKey"
FROM (
  SELECT key_id, model, input_price, output_price, cache_hit_price, other_prices, ${wasDemo("$4")} AS "wasDemo",
         min(request_id::text) AS first, max(request_id::text) AS last
  FROM usage_record WHERE ${IN_STRETCH}
  GROUP BY key_id, model, input_price, output_price, cache_hit_price, other_prices, "wasDemo"
) g`;
const OF_KEY = `
SELECT '${KEY_CHECK}' AS "check", request_id AS subject, format('key %s', key_id) AS detail
FROM usage_record WHERE ${IN_STRETCH} AND key_id = $4::uuid LIMIT ${VIOLATIONS_TO_READ}`;
// $4 to $8 the model and the prices; $9 and $10 the first ids of the spans in which they were right, and of what follows each; $11 as $4 above.
const OUTSIDE = `
SELECT '${PRICE_CHECK}' AS "check", request_id AS subject,
       format('%s: %s, %s, %s %s', model, input_price, output_price, cache_hit_price, other_prices) AS detail
FROM usage_record
WHERE ${IN_STRETCH} AND model = $4 AND input_price = $5::bigint AND output_price = $6::bigint
  AND cache_hit_price IS NOT DISTINCT FROM $7::bigint AND other_prices IS NOT DISTINCT FROM $8::jsonb
  AND NOT ${wasDemo("$11")}
  AND NOT EXISTS (SELECT FROM unnest($9::uuid[], $10::uuid[]) AS live(first, behind)
                  WHERE request_id >= live.first AND request_id < live.behind)
LIMIT ${VIOLATIONS_TO_READ}`;

type Group = {
  readonly key_id: string;
  readonly model: string;
  readonly input_price: bigint;
  readonly output_price: bigint;
  readonly cache_hit_price: bigint | null;
  readonly other_prices: Parameters<typeof readOtherPrices>[0];
  readonly first: string;
  readonly last: string;
  readonly isOwnKey: boolean;
  readonly wasDemo: boolean;
};
type Stretch = readonly [accountId: string, first: string, behind: string];

/**
 * `presets`: the models that are in the catalog without a change of it, which only a demo has. A demo's past is written at the
 * prices of today, so there each price counts at any time.
 */
export function recordAudit(presets: readonly CatalogModel[]): AuditPlugin {
  const pages: AuditCheck = async ({ look, findings, full }) => {
    const sinceMs = (await look<{ sinceMs: number }>(PRODUCTION_SINCE))[0]?.sinceMs ?? 0;
    const hasPrices = presets.length > 0 || (await hasPriceHistory(look));
    for await (const stretch of stretches(look, full)) {
      const groups = await look<Group>(GROUPS, [...stretch, sinceMs]);
      for (const { isOwnKey, key_id: keyId } of groups)
        if (!isOwnKey) findings.add(await look<Violation>(OF_KEY, [...stretch, keyId]));
      if (!hasPrices) continue;
      const models = [...new Set(groups.map(({ model }) => model))];
      const history = await readPriceHistory(look, { models, presets });
      for (const group of groups) {
        const spans = rightSpans(group, history.get(group.model) ?? [], presets.length > 0);
        if (group.wasDemo || isInside(group, spans)) continue;
        findings.add(await look<Violation>(OUTSIDE, [...outsideOf(stretch, group, spans), sinceMs]));
      }
    }
  };
  return { pages };
}

async function* stretches(look: Look, full: boolean): AsyncGenerator<Stretch> {
  for await (const { id, from } of full ? usedAccounts(look) : await recentAccounts(look)) {
    for (let first: string | undefined = from; first !== undefined;) {
      const [next]: { id: string }[] = await look<{ id: string }>(NEXT, [id, first]);
      yield [id, first, next?.id ?? AFTER_ALL_IDS];
      first = next?.id;
    }
  }
}

/** Accounts, and the first id from which their records are read. */
async function* usedAccounts(look: Look): AsyncGenerator<{ id: string; from: string }> {
  for (let after: string | undefined = BEFORE_ALL_IDS; after !== undefined;) {
    const accounts: { id: string }[] = await look(USED_ACCOUNTS, [after]);
    for (const { id } of accounts) yield { id, from: BEFORE_ALL_IDS };
    after = accounts.at(-1)?.id;
  }
}

async function recentAccounts(look: Look): Promise<{ id: string; from: string }[]> {
  const marks = await recentMarks(look);
  return marks.map(({ id, before }) => ({
    id,
    from: uuidv7Floor(Math.max(0, before - QUARTERS_OF_AN_HOUR) * QUARTER_MS),
  }));
}

type Span = { readonly fromMs: number; readonly untilMs: number };

/** When a group's prices were those of its model, with the slack. */
function rightSpans(group: Group, history: readonly PriceSpan[], isDemo: boolean): Span[] {
  const billed = textOf({
    input: group.input_price,
    output: group.output_price,
    cacheHit: group.cache_hit_price,
    other: readOtherPrices(group.other_prices),
  });
  const right = history.filter(({ prices }) => textOf(prices) === billed);
  if (isDemo) return right.length === 0 ? [] : [{ fromMs: 0, untilMs: Infinity }];
  return right.map(({ fromMs, untilMs }) => ({ fromMs: Math.max(0, fromMs - SLACK_MS), untilMs: untilMs + SLACK_MS }));
}

function textOf(prices: PriceSnapshot): string {
  return [prices.input, prices.output, prices.cacheHit, otherPricesColumn(prices)].join(" ");
}

function isInside({ first, last }: Group, spans: readonly Span[]): boolean {
  const [firstMs, lastMs] = [timeOfUuidv7(first), timeOfUuidv7(last)];
  return spans.some(({ fromMs, untilMs }) => firstMs >= fromMs && lastMs < untilMs);
}

function outsideOf(stretch: Stretch, group: Group, spans: readonly Span[]): readonly unknown[] {
  const other = group.other_prices === null ? null : JSON.stringify(group.other_prices);
  const prices = [group.model, group.input_price, group.output_price, group.cache_hit_price, other];
  const firsts = spans.map(({ fromMs }) => uuidv7Floor(fromMs));
  const behinds = spans.map(({ untilMs }) => (untilMs === Infinity ? AFTER_ALL_IDS : uuidv7Floor(untilMs)));
  return [...stretch, ...prices, firsts, behinds];
}
