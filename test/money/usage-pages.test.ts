// Pages during writes, records of other accounts, and wrong arguments.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UsageBasis, type UsageFilterSchema, UsageGrouping, type UsageRecord } from "#gen/saldo/billing/v1/usage_pb.ts";
import { BEFORE_ALL_LINES, tokenOf } from "../../src/billing/usage/line-place.ts";
import { recountUsage, rollUpUsage } from "../../src/billing/usage/roll-up.ts";
import { listUsage } from "../../src/billing/usage/usage.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { postLateUsage } from "../../src/ledger/late-usage.ts";
import { readCsv } from "../dashboard/csv-file.ts";
import { testBackends } from "../setup/test-database.ts";
import { chance, factsOf, HOUR_MS, micro, UsageSetup } from "./usage-setup.ts";
import { admission, settlement, SOUND } from "./money-setup.ts";

type Filter = MessageInitShape<typeof UsageFilterSchema>;
const BEFORE_ALL = tokenOf(BEFORE_ALL_LINES);

describe.each(testBackends())("usage page by page on the %s database", (backend) => {
  const chosen = chance();
  const { seed, whole } = chosen;
  let setup: UsageSetup;
  beforeAll(async () => {
    setup = await UsageSetup.create(backend, chosen);
  });
  afterAll(() => setup.money.close());

  it("pages neither skip nor repeat a record, and balances stay exact, while records and postings arrive", async () => {
    const account = await setup.money.account(1_000_000_000n);
    const keyId = await setup.money.key(account);
    const client = setup.clientOf(account);
    const there = new Set<string>();
    for (let made = 0; made < 30; made += 1)
      there.add(await setup.use(account, keyId, setup.midnightMs + made * 60_000));
    await rollUpUsage(setup.money.pool);
    const shown: string[] = [];
    const lines: string[] = [];
    for (let [usageToken, ledgerToken, pages] = ["", "", 0]; pages < 40; pages += 1) {
      const usage = await client.listUsage({ pageSize: 4, pageToken: usageToken });
      shown.push(...usage.records.map(({ requestId }) => requestId));
      const ledger = await client.listLedgerEntries({ pageSize: 4, pageToken: ledgerToken });
      lines.push(...ledger.entries.map(({ id }) => id));
      // The first line's balance is the sum of it and the lines before it in the view of the whole ledger.
      const [first] = ledger.entries;
      const below = await setup.money.pool.query<{ sum: string }>(
        `SELECT sum(amount)::text AS sum FROM ledger_entries
         WHERE account_id = $1 AND posted_at <= (SELECT posted_at FROM ledger_entries WHERE account_id = $1 AND posting_id = $2)`,
        [account, first?.id ?? null],
      );
      expect(micro(first?.runningBalance ?? "0"), `seed ${seed}`).toBe(BigInt(below.rows[0]?.sum ?? 0));
      // Requests before and after the shown ones, and other money, between two pages.
      if (whole(2) === 0) await setup.use(account, keyId, setup.midnightMs + whole(HOUR_MS));
      if (whole(3) === 0) await setup.money.credit(account, 1_000n);
      if (usage.nextPageToken === "" && ledger.nextPageToken === "") break;
      usageToken = usage.nextPageToken === "" ? "00000000-0000-7000-8000-000000000000" : usage.nextPageToken;
      ledgerToken = ledger.nextPageToken === "" ? BEFORE_ALL : ledger.nextPageToken;
    }
    expect(new Set(shown).size, `seed ${seed}`).toBe(shown.length);
    expect(
      [...there].filter((id) => !shown.includes(id)),
      `seed ${seed}`,
    ).toEqual([]);
    expect(new Set(lines).size, `seed ${seed}`).toBe(lines.length);
    await setup.ledgerOf(client);
    // Records came behind the roll-ups. The worker sees that by the balance, so not where all of them were free.
    await recountUsage(setup.money.pool, account);
  });

  it("pages in the order of a column neither skip nor repeat a record, while others arrive", async () => {
    const account = await setup.money.account(1_000_000_000n);
    const keys = [await setup.money.key(account), await setup.money.key(account)] as const;
    const client = setup.clientOf(account);
    for (let made = 0; made < 20; made += 1)
      await setup.use(account, keys[made % 2] ?? "", setup.midnightMs + made * 60_000);
    const read = async (orderBy: string, filter: Filter = {}, between?: () => Promise<unknown>) => {
      const shown: UsageRecord[] = [];
      for (let [pageToken, pages] = ["", 0]; pages < 30; pages += 1) {
        const page = await client.listUsage({ filter, orderBy, pageSize: 3, pageToken });
        shown.push(...page.records);
        await between?.();
        if (page.nextPageToken === "") break;
        pageToken = page.nextPageToken;
      }
      return shown;
    };
    const newest = await read("");
    expect(newest).toHaveLength(20);
    expect(await read("-time")).toEqual(newest);
    expect(await read("time")).toEqual(newest.toReversed());
    const valueOf = {
      cost: ({ charge }: UsageRecord) => micro(charge),
      duration: ({ durationMs }: UsageRecord) => BigInt(durationMs),
    };
    for (const [column, value] of Object.entries(valueOf)) {
      const byValue = (one: UsageRecord, other: UsageRecord): number =>
        Number(value(one) - value(other)) || (one.requestId < other.requestId ? -1 : 1);
      const least = newest.toSorted(byValue);
      expect(await read(column), `seed ${seed}`).toEqual(least);
      expect(await read(`-${column}`), `seed ${seed}`).toEqual(least.toReversed());
      const filter = { keyId: keys[0] };
      expect(await read(column, filter), `seed ${seed}`).toEqual(least.filter(({ keyId }) => keyId === keys[0]));
    }
    const more = () => setup.use(account, keys[0], setup.midnightMs + whole(HOUR_MS));
    const shown = (await read("-cost", {}, more)).map(({ requestId }) => requestId);
    expect(new Set(shown).size, `seed ${seed}`).toBe(shown.length);
    expect(
      newest.every(({ requestId }) => shown.includes(requestId)),
      `seed ${seed}`,
    ).toBe(true);
    const query = { accountId: account, filter: {}, pageSize: 3, pageToken: "", orderBy: "cost" };
    await expect(listUsage(setup.money.pool, query, 2)).rejects.toMatchObject({
      details: [{ field: "orderBy", rule: "order_by.too_many" }],
    });
  });

  it("gives the ledger as a file, oldest line first, with the balance that the list shows", async () => {
    const account = await setup.money.account(1_000_000_000n);
    const keyId = await setup.money.key(account);
    const client = setup.clientOf(account);
    // Not in the order of their time: a line has the place of its commit.
    for (const minute of [7, 3, 5, 1]) await setup.use(account, keyId, setup.midnightMs + minute * 60_000);
    await setup.money.credit(account, 1n);
    const theirs = await setup.money.account(1_000_000_000n);
    await setup.use(theirs, await setup.money.key(theirs), setup.midnightMs);
    const pieces = await Array.fromAsync(client.exportLedger({ timeZone: "Asia/Kathmandu" }), ({ csv }) => csv);
    const file = Buffer.concat(pieces).toString();
    expect(file).toMatch(/^id,posted_at,reason,amount_idr,running_balance_idr,request_id,top_up_id,automatic\r\n/);
    const lines = readCsv(file);
    const listed = await setup.ledgerOf(client);
    expect(lines.map((line) => ({ ...line, posted_at: Date.parse(line["posted_at"] ?? "") }))).toEqual(
      listed.toReversed().map(({ id, postedAt, reason, amount, runningBalance, requestId, topUpId }) => ({
        id,
        posted_at: postedAt === undefined ? null : timestampMs(postedAt),
        reason,
        amount_idr: amount,
        running_balance_idr: runningBalance,
        request_id: requestId,
        top_up_id: topUpId,
        automatic: "",
      })),
    );
    for (const line of lines) expect(line["posted_at"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+05:45$/);
    expect(lines.at(-1)?.["running_balance_idr"]).toBe((await client.getBalance({})).balance?.posted);
  });

  it("counts a late charge with its request, in sums, on its record and in the file", async () => {
    const account = await setup.money.account(1_000_000_000n);
    const keyId = await setup.money.key(account);
    const { ledger, database } = await setup.money.process();
    const request = { ...admission(account, keyId, 1_000_000n), requestId: uuidv7(setup.midnightMs), model: "late" };
    await ledger.admit(request);
    await ledger.settle({ ...settlement(account, request.requestId, 2), basis: "recovered" });
    await rollUpUsage(setup.money.pool);
    await postLateUsage(database, settlement(account, request.requestId, 5));

    const client = setup.clientOf(account);
    const { record } = await client.getUsageRecord({ requestId: request.requestId });
    expect(record).toMatchObject({ inputTokensUncached: 5, cost: "0.01", charge: "0.01", lateCharge: "0.015" });
    const sums = await client.summarizeUsage({ filter: { model: "late" } });
    expect(sums.rows).toMatchObject([{ requests: 1, inputTokensUncached: 5n, cost: "0.025", charge: "0.025" }]);
    expect(sums.totals).toMatchObject({ charge: "0.025" });
    const byKey = await client.summarizeUsage({ filter: { model: "late" }, grouping: UsageGrouping.KEY });
    expect(byKey.rows).toMatchObject([{ requests: 1, inputTokensUncached: 5n, charge: "0.025" }]);
    expect((await client.summarizeUsage({ filter: { model: "other" } })).rows).toEqual([]);
    const pieces = await Array.fromAsync(client.exportUsage({}), ({ csv }) => csv);
    expect(readCsv(Buffer.concat(pieces).toString())).toMatchObject([
      { input_tokens_uncached: "5", input_tokens_total: "5", charge_idr: "0.01", late_charge_idr: "0.015" },
    ]);
    const { entries } = await client.listLedgerEntries({});
    expect(entries.map(({ reason, requestId }) => [reason, requestId])).toEqual([
      ["late_usage", request.requestId],
      ["usage", request.requestId],
      ["operator_credit", ""],
    ]);
    expect(await setup.money.audit()).toEqual(SOUND);
  });

  it("shows nothing of another account", async () => {
    const [mine, theirs] = await Promise.all([1, 2].map(() => setup.money.account(1_000_000_000n)));
    const requestId = await setup.use(theirs ?? "", await setup.money.key(theirs ?? ""), setup.midnightMs);
    const client = setup.clientOf(mine ?? "");
    expect((await client.listUsage({})).records).toEqual([]);
    expect((await client.summarizeUsage({})).totals).toMatchObject({ requests: 0n, charge: "0" });
    expect((await client.listLedgerEntries({})).entries).toHaveLength(1);
    await expect(client.getUsageRecord({ requestId })).rejects.toThrow("There is no such request.");
    expect(await setup.clientOf(theirs ?? "").getUsageRecord({ requestId })).toMatchObject({
      record: { requestId },
      credited: "0",
    });
  });

  it.each([
    ["an unknown time zone", { timeZone: "Asia/Atlantis" }, "timeZone"],
    ["an offset for a time zone", { timeZone: "+07:00" }, "timeZone"],
    ["a zone of the database's own making", { timeZone: "FOO+5" }, "timeZone"],
    ["a range turned round", { filter: { from: timestampFromMs(2), until: timestampFromMs(1) } }, "filter.from"],
    ["a key that is none", { filter: { keyId: "laptop" } }, "filter.keyId"],
    ["a basis that is none", { filter: { bases: [UsageBasis.UNSPECIFIED] } }, "filter.bases[0]"],
  ])("refuses %s in sums and files", async (_name, request: { timeZone?: string; filter?: Filter }, field) => {
    const client = setup.clientOf(await setup.money.account(0n));
    expect(await factsOf(client.summarizeUsage(request))).toMatchObject(wrong(field));
    expect(await factsOf(Array.fromAsync(client.exportUsage(request)))).toMatchObject(wrong(field));
  });

  it("refuses a ledger in an unknown time zone", async () => {
    const client = setup.clientOf(await setup.money.account(0n));
    const call = Array.fromAsync(client.exportLedger({ timeZone: "Asia/Atlantis" }));
    expect(await factsOf(call)).toMatchObject(wrong("timeZone"));
  });

  it("refuses an invalid page token", async () => {
    const client = setup.clientOf(await setup.money.account(0n));
    for (const call of [client.listUsage({ pageToken: "2" }), client.listLedgerEntries({ pageToken: "2" })]) {
      expect(await factsOf(call)).toMatchObject(wrong("pageToken"));
    }
  });
});

const wrong = (field: string) => ({ code: "validation_error", details: [{ field }] });
