// One filter, one total: for every caller, form and range, around midnight too. The ledger itself settles the records, and they
// are rolled up at times that miss some and at one that misses none.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OtherTokens, UsageBasis, UsageGrouping, type UsageFilterSchema } from "#gen/saldo/billing/v1/usage_pb.ts";
import { rollUpUsage } from "../../src/billing/usage/roll-up.ts";
import { timeOfUuidv7 } from "../../src/kernel/ids.ts";
import { testBackends } from "../setup/test-database.ts";
import { allPages, chance, HOUR_MS, micro, MODELS, type UsageClient, UsageSetup } from "./usage-setup.ts";
import { SOUND } from "./money-setup.ts";

const RECORDS = 200;
const FILTERS = 40;
// Whole hours, halves and quarters of one, a day that has 23 or 25 hours somewhere in the year, half an hour of summer time.
const ZONES = ["Asia/Jakarta", "UTC", "Asia/Kolkata", "Asia/Kathmandu", "America/New_York", "Australia/Lord_Howe"];
type Filter = MessageInitShape<typeof UsageFilterSchema>;

const KIND_COLUMNS = [
  "cache_write_tokens",
  "cache_write_1h_tokens",
  "audio_input_tokens",
  "image_input_tokens",
  "image_output_tokens",
];
type Sum = { requests: number; tokens: bigint; others: string; cost: bigint; charge: bigint; saved: bigint };
const NOTHING: Sum = { requests: 0, tokens: 0n, others: "0 0 0 0 0", cost: 0n, charge: 0n, saved: 0n };
/** Tokens of other kinds, one number for each. */
const othersOf = (tokens: OtherTokens | undefined): string =>
  [tokens?.cacheWrite, tokens?.cacheWrite1h, tokens?.audioInput, tokens?.imageInput, tokens?.imageOutput]
    .map((count) => String(count ?? 0n))
    .join(" ");
const addOthers = (a: string, b: string): string => {
  const more = b.split(" ").map(BigInt);
  return a
    .split(" ")
    .map((count, kind) => String(BigInt(count) + (more[kind] ?? 0n)))
    .join(" ");
};
const add = (a: Sum, b: Sum): Sum => ({
  requests: a.requests + b.requests,
  tokens: a.tokens + b.tokens,
  others: addOthers(a.others, b.others),
  cost: a.cost + b.cost,
  charge: a.charge + b.charge,
  saved: a.saved + b.saved,
});

describe.each(testBackends())("usage as it is read on the %s database", (backend) => {
  const chosen = chance();
  const { seed, whole, one } = chosen;
  let setup: UsageSetup;
  beforeAll(async () => {
    setup = await UsageSetup.create(backend, chosen);
  });
  afterAll(() => setup.money.close());

  function listed(client: UsageClient, filter: Filter) {
    return allPages(async (pageToken) => {
      const page = await client.listUsage({ filter, pageSize: 1 + whole(40), pageToken });
      return { items: page.records, nextPageToken: page.nextPageToken };
    });
  }

  async function exported(client: UsageClient, filter: Filter, timeZone: string) {
    const pieces = [];
    for await (const { csv } of client.exportUsage({ filter, timeZone })) pieces.push(csv);
    const [head = "", ...lines] = Buffer.concat(pieces).toString().split("\r\n");
    expect(lines.pop()).toBe("");
    const columns = head.split(",");
    // No cell of these tests has a comma, so that the file is read without the code that wrote it.
    return lines.map((line) => Object.fromEntries(line.split(",").map((cell, index) => [columns[index], cell])));
  }

  it("sums to the same by list, file, model and day, key and ledger, for whatever filter", async () => {
    const accounts = await Promise.all([1, 2].map(() => setup.money.account(1_000_000_000n)));
    const keys = new Map<string, string[]>();
    for (const account of accounts) keys.set(account, [await setup.money.key(account), await setup.money.key(account)]);
    // Most around midnight, some on the very border, some hours off; the youngest are not rolled up.
    const moments = Array.from({ length: RECORDS }, () => {
      const off = one([0, -1, 1, whole(600_000) - 300_000, whole(HOUR_MS * 30) - HOUR_MS * 28]);
      return Math.min(setup.midnightMs + off, Date.now());
    }).toSorted((a, b) => a - b);
    for (const [made, atMs] of moments.entries()) {
      const account = one(accounts);
      const requestId = await setup.use(account, one(keys.get(account) ?? []), atMs);
      if (whole(2) === 0) await setup.chargeLate(account, requestId);
      if (made % (RECORDS / 4) === 0) await rollUpUsage(setup.money.pool);
    }
    let compared = 0;
    let chargedFailures = 0;
    const recounted: string[] = [];
    for (let tried = 0; tried < FILTERS; tried += 1) {
      // Until here the roll-ups have missed records: all of them came after their time. Now they are made again.
      if (tried === FILTERS / 2) {
        await setup.money.asOwner("UPDATE usage_rolled_up SET recounted_at = NULL");
        recounted.push(...(await rollUpUsage(setup.money.pool)).recounted);
      }
      const account = one(accounts);
      const client = setup.clientOf(account);
      const timeZone = one(ZONES);
      const border = () => setup.midnightMs + one([0, -1, 1, 900_000, whole(4 * HOUR_MS) - 2 * HOUR_MS, -27 * HOUR_MS]);
      const [fromMs, untilMs] = [border(), border()].toSorted((a, b) => a - b) as [number, number];
      const filter: Filter = {
        ...(whole(3) === 0 ? {} : { from: timestampFromMs(fromMs) }),
        ...(whole(3) === 0 ? {} : { until: timestampFromMs(untilMs) }),
        model: whole(2) === 0 ? "" : one(MODELS),
        keyId: whole(3) === 0 ? one(keys.get(account) ?? []) : "",
        bases: whole(3) === 0 ? [(1 + whole(5)) as UsageBasis] : [],
        failed: whole(3) === 0,
      };
      const about = `seed ${seed}, filter ${JSON.stringify({ ...filter, from: fromMs, until: untilMs })} in ${timeZone}`;

      const records = await listed(client, filter);
      compared += records.length;
      const all = await listed(client, { ...filter, failed: false });
      const failed = all.filter(({ failure, basis }) => failure !== undefined || basis === UsageBasis.FREE);
      expect(idsOf(records), about).toEqual(idsOf(filter.failed === true ? failed : all));
      if (filter.failed === true) chargedFailures += failed.filter(({ charge }) => micro(charge) > 0n).length;
      expect(new Set(records.map(({ requestId }) => requestId)).size, about).toBe(records.length);
      const sumOf = (some: typeof records) =>
        some
          .map((record) => ({
            requests: 1,
            tokens: BigInt(record.inputTokensUncached + record.inputTokensCached + record.outputTokens),
            others: othersOf(record.otherTokens),
            cost: micro(record.cost) + micro(record.lateCharge),
            charge: micro(record.charge) + micro(record.lateCharge),
            saved: micro(record.savedByCache),
          }))
          .reduce(add, NOTHING);
      const expected = sumOf(records);

      const lines = await exported(client, filter, timeZone);
      expect(
        lines.map((line) => line["request_id"]),
        about,
      ).toEqual(records.map(({ requestId }) => requestId).toReversed());
      expect(
        lines
          .map((line) => ({
            requests: 1,
            tokens:
              BigInt(line["input_tokens_uncached"] ?? "") +
              BigInt(line["input_tokens_cached"] ?? "") +
              BigInt(line["output_tokens"] ?? ""),
            others: KIND_COLUMNS.map((column) => line[column]).join(" "),
            cost: micro(line["cost_idr"] ?? "") + micro(line["late_charge_idr"] ?? ""),
            charge: micro(line["charge_idr"] ?? "") + micro(line["late_charge_idr"] ?? ""),
            saved: micro(line["saved_by_cache_idr"] ?? ""),
          }))
          .reduce(add, NOTHING),
        about,
      ).toEqual(expected);
      for (const line of lines) {
        expect(Date.parse(line["created_at"] ?? ""), about).toBe(timeOfUuidv7(line["request_id"] ?? ""));
      }

      const byDay = await client.summarizeUsage({ filter, timeZone });
      const toSum = (row: (typeof byDay.rows)[number] | NonNullable<typeof byDay.totals>): Sum => ({
        requests: Number(row.requests),
        tokens: row.inputTokensUncached + row.inputTokensCached + row.outputTokens,
        others: othersOf(row.otherTokens),
        cost: micro(row.cost),
        charge: micro(row.charge),
        saved: micro(row.savedByCache),
      });
      expect(byDay.totals && toSum(byDay.totals), about).toEqual(expected);
      expect(byDay.rows.map(toSum).reduce(add, NOTHING), about).toEqual(expected);
      // The day of each record by another reckoning than the database's.
      const clock = new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" });
      const cells = Map.groupBy(records, (r) => `${clock.format(timeOfUuidv7(r.requestId))} ${r.model}`);
      expect(
        byDay.rows.map((row) => [`${row.day} ${row.model}`, toSum(row)]),
        about,
      ).toEqual([...cells].map(([cell, some]) => [cell, sumOf(some)] as const).toSorted(newestFirst));
      const byKey = await client.summarizeUsage({ filter, timeZone, grouping: UsageGrouping.KEY });
      expect(byKey.totals, about).toEqual(byDay.totals);
      const byKeyAndDay = await client.summarizeUsage({ filter, timeZone, grouping: UsageGrouping.KEY_AND_DAY });
      expect(byKeyAndDay.totals, about).toEqual(byDay.totals);
      const keyCells = Map.groupBy(records, (r) => `${clock.format(timeOfUuidv7(r.requestId))} ${r.keyId}`);
      expect(
        byKeyAndDay.rows.map((row) => [`${row.day} ${row.model}${row.keyId}`, toSum(row)]),
        about,
      ).toEqual([...keyCells].map(([cell, some]) => [cell, sumOf(some)] as const).toSorted(newestFirst));
    }
    expect(recounted).toEqual(accounts.toSorted());
    expect(compared).toBeGreaterThan(RECORDS);
    expect(chargedFailures).toBeGreaterThan(0);
    const [rolled] = await setup.money.asOwner("SELECT sum(requests)::int AS requests FROM usage_roll_up");
    expect((rolled as { requests: number }).requests, "what was rolled up").toBeGreaterThan(RECORDS / 2);

    for (const account of accounts) {
      const client = setup.clientOf(account);
      const { totals } = await client.summarizeUsage({});
      const entries = await setup.ledgerOf(client);
      const used = entries
        .filter(({ reason }) => reason === "usage" || reason === "late_usage")
        .reduce((sum, { amount }) => sum - micro(amount), 0n);
      expect(used, `seed ${seed}`).toBe(micro(totals?.charge ?? ""));
      expect(micro((await client.getBalance({})).balance?.posted ?? "")).toBe(1_000_000_000n - used);
    }
    expect(await setup.money.audit()).toEqual(SOUND);
  });
});

const idsOf = (records: readonly { readonly requestId: string }[]): string[] =>
  records.map(({ requestId }) => requestId);

/** Rows of a summary as they come: the newest day first, then by model. */
function newestFirst([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  const [dayA, dayB] = [a.slice(0, 10), b.slice(0, 10)];
  if (dayA !== dayB) return dayA < dayB ? 1 : -1;
  return a < b ? -1 : 1;
}
