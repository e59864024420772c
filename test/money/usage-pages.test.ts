// Pages while others write, other people's records, and what callers get wrong.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UsageBasis, type UsageFilterSchema } from "#gen/saldo/billing/v1/usage_pb.ts";
import { rollUpUsage } from "../../src/billing/roll-up.ts";
import { readCsv } from "../dashboard/csv-file.ts";
import { testBackends } from "../setup/test-database.ts";
import { chance, factsOf, HOUR_MS, micro, UsageWorld } from "./usage-world.ts";

type Filter = MessageInitShape<typeof UsageFilterSchema>;

describe.each(testBackends())("usage page by page on the %s database", (backend) => {
  const chosen = chance();
  const { seed, whole } = chosen;
  let world: UsageWorld;
  beforeAll(async () => {
    world = await UsageWorld.create(backend, chosen);
  });
  afterAll(() => world.money.close());

  it("pages neither skip nor repeat a record, and balances stay exact, while records and postings arrive", async () => {
    const account = await world.money.account(1_000_000_000n);
    const keyId = await world.money.key(account);
    const client = world.clientOf(account);
    const there = new Set<string>();
    for (let made = 0; made < 30; made += 1)
      there.add(await world.use(account, keyId, world.midnightMs + made * 60_000));
    await rollUpUsage(world.money.pool);
    const shown: string[] = [];
    const lines: string[] = [];
    for (let [usageToken, ledgerToken, pages] = ["", "", 0]; pages < 40; pages += 1) {
      const usage = await client.listUsage({ pageSize: 4, pageToken: usageToken });
      shown.push(...usage.records.map(({ requestId }) => requestId));
      const ledger = await client.listLedgerEntries({ pageSize: 4, pageToken: ledgerToken });
      lines.push(...ledger.entries.map(({ id }) => id));
      // The first line's balance is what it and the lines before it come to by the view of the whole ledger.
      const [first] = ledger.entries;
      const below = await world.money.pool.query<{ sum: string }>(
        "SELECT sum(amount)::text AS sum FROM ledger_entries WHERE account_id = $1 AND posting_id <= $2::uuid",
        [account, first?.id ?? null],
      );
      expect(micro(first?.runningBalance ?? "0"), `seed ${seed}`).toBe(BigInt(below.rows[0]?.sum ?? 0));
      // Requests before and behind what was shown, and money from elsewhere, while the page is being looked at.
      if (whole(2) === 0) await world.use(account, keyId, world.midnightMs + whole(HOUR_MS));
      if (whole(3) === 0) await world.money.credit(account, 1_000n);
      if (usage.nextPageToken === "" && ledger.nextPageToken === "") break;
      usageToken = usage.nextPageToken === "" ? "00000000-0000-7000-8000-000000000000" : usage.nextPageToken;
      ledgerToken = ledger.nextPageToken === "" ? "00000000-0000-7000-8000-000000000000" : ledger.nextPageToken;
    }
    expect(new Set(shown).size, `seed ${seed}`).toBe(shown.length);
    expect(
      [...there].filter((id) => !shown.includes(id)),
      `seed ${seed}`,
    ).toEqual([]);
    expect(new Set(lines).size, `seed ${seed}`).toBe(lines.length);
    await world.ledgerOf(client);
  });

  it("gives the ledger as a file, oldest line first, with the balance that the list shows", async () => {
    const account = await world.money.account(1_000_000_000n);
    const keyId = await world.money.key(account);
    const client = world.clientOf(account);
    // Not in the order of their time: a line stands where its request came.
    for (const minute of [7, 3, 5, 1]) await world.use(account, keyId, world.midnightMs + minute * 60_000);
    await world.money.credit(account, 1n);
    const theirs = await world.money.account(1_000_000_000n);
    await world.use(theirs, await world.money.key(theirs), world.midnightMs);
    const pieces = await Array.fromAsync(client.exportLedger({ timeZone: "Asia/Kathmandu" }), ({ csv }) => csv);
    const file = Buffer.concat(pieces).toString();
    expect(file).toMatch(/^id,posted_at,reason,amount_idr,running_balance_idr\r\n/);
    const lines = readCsv(file);
    const listed = await world.ledgerOf(client);
    expect(lines.map((line) => ({ ...line, posted_at: Date.parse(line["posted_at"] ?? "") }))).toEqual(
      listed.toReversed().map(({ id, postedAt, reason, amount, runningBalance }) => ({
        id,
        posted_at: postedAt === undefined ? null : timestampMs(postedAt),
        reason,
        amount_idr: amount,
        running_balance_idr: runningBalance,
      })),
    );
    for (const line of lines) expect(line["posted_at"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+05:45$/);
    expect(lines.at(-1)?.["running_balance_idr"]).toBe((await client.getBalance({})).balance?.posted);
  });

  it("shows nothing of another account", async () => {
    const [mine, theirs] = await Promise.all([1, 2].map(() => world.money.account(1_000_000_000n)));
    const requestId = await world.use(theirs ?? "", await world.money.key(theirs ?? ""), world.midnightMs);
    const client = world.clientOf(mine ?? "");
    expect((await client.listUsage({})).records).toEqual([]);
    expect((await client.summarizeUsage({})).totals).toMatchObject({ requests: 0n, charge: "0" });
    expect((await client.listLedgerEntries({})).entries).toHaveLength(1);
    await expect(client.getUsageRecord({ requestId })).rejects.toThrow("There is no such request.");
    expect(await world.clientOf(theirs ?? "").getUsageRecord({ requestId })).toMatchObject({
      record: { requestId },
      credited: "0",
    });
  });

  it.each([
    ["a time zone nobody knows", { timeZone: "Asia/Atlantis" }, "timeZone"],
    ["an offset for a time zone", { timeZone: "+07:00" }, "timeZone"],
    ["a zone of the database's own making", { timeZone: "FOO+5" }, "timeZone"],
    ["a range turned round", { filter: { from: timestampFromMs(2), until: timestampFromMs(1) } }, "filter.from"],
    ["a key that is none", { filter: { keyId: "laptop" } }, "filter.keyId"],
    ["a basis that is none", { filter: { bases: [UsageBasis.UNSPECIFIED] } }, "filter.bases[0]"],
  ])("refuses %s in sums and files", async (_name, request: { timeZone?: string; filter?: Filter }, field) => {
    const client = world.clientOf(await world.money.account(0n));
    expect(await factsOf(client.summarizeUsage(request))).toMatchObject(wrong(field));
    expect(await factsOf(Array.fromAsync(client.exportUsage(request)))).toMatchObject(wrong(field));
  });

  it("refuses a ledger in a time zone nobody knows", async () => {
    const client = world.clientOf(await world.money.account(0n));
    const call = Array.fromAsync(client.exportLedger({ timeZone: "Asia/Atlantis" }));
    expect(await factsOf(call)).toMatchObject(wrong("timeZone"));
  });

  it("refuses a page token that is none", async () => {
    const client = world.clientOf(await world.money.account(0n));
    for (const call of [client.listUsage({ pageToken: "2" }), client.listLedgerEntries({ pageToken: "2" })]) {
      expect(await factsOf(call)).toMatchObject(wrong("pageToken"));
    }
  });
});

const wrong = (field: string) => ({ code: "validation_error", details: [{ field }] });
