import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MarginGroup, reportMargin } from "../../src/billing/usage/margin.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { startOfBillingDay } from "../../src/kernel/clock.ts";
import { timeOfUuidv7, uuidv7 } from "../../src/kernel/ids.ts";
import { postLateUsage } from "../../src/ledger/late-usage.ts";
import type { Settlement } from "../../src/ledger/ledger.ts";
import { testBackends } from "../setup/test-database.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "./money-setup.ts";
import { creditUsageByOperator } from "../setup/operator-credit.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const PER_TOKEN = 5_000n;

describe.each(testBackends())("the margin on the %s database", (backend) => {
  let setup: MoneySetup;
  let process: TestProcess;
  let accounts: string[];
  const keys = new Map<string, string>();
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    process = await setup.process();
    accounts = await Promise.all([1, 2].map(() => setup.account(10_000_000n)));
    for (const account of accounts) keys.set(account, await setup.key(account));
  });
  afterAll(() => setup.close());

  async function use(
    account: string,
    model: string,
    { at, tokens, ...facts }: Partial<Settlement> & { at: number; tokens: number },
  ) {
    const requestId = uuidv7(at);
    const request = { ...admission(account, keys.get(account) ?? "", 1_000_000n), requestId, model };
    expect(await process.ledger.admit(request)).toMatchObject({ outcome: "granted" });
    await process.ledger.settle({ ...settlement(account, requestId, tokens), ...facts });
    return requestId;
  }
  const report = (from: string, to: string, by: MarginGroup) => reportMargin(setup.pool, { from, to, by });

  it("sums charges, credit notes, upstream costs and losses exactly, by billing day", async () => {
    const [first = "", second = ""] = accounts;
    // The partitions there are begin a month ago.
    const today = new Date(Date.now() - 2 * DAY_MS).toISOString().slice(0, 10);
    const next = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
    const [dayMs, nextMs] = [startOfBillingDay(today), startOfBillingDay(next)];
    await use(first, "a", { at: dayMs, tokens: 10, upstreamCost: 30_001n });
    const credited = await use(first, "b", { at: nextMs - 1, tokens: 20, upstreamCost: 120_000n });
    await use(second, "a", { at: dayMs + DAY_MS / 2, tokens: 30, upstreamCost: null });
    await use(second, "b", { at: dayMs, tokens: 0, basis: "free", upstream: null, upstreamCost: null });
    // One unit before the first day, and the first of the next.
    await use(second, "a", { at: dayMs - 1, tokens: 7, upstreamCost: 1n });
    await use(second, "c", { at: nextMs, tokens: 8, upstreamCost: 1n, upstream: "other" });
    await withTransaction(process.database, (client) =>
      creditUsageByOperator(client, { requestId: credited, amount: 40_000n, note: "test", name: null }),
    );

    const byModel = await report(today, today, "model");
    const a = { requests: 2, revenue: 40n * PER_TOKEN, credited: 0n, upstreamCost: 30_001n, margin: 169_999n };
    const b = { requests: 2, revenue: 100_000n, credited: 40_000n, upstreamCost: 120_000n, margin: -60_000n };
    expect([...byModel.lines]).toEqual([
      ["b", { ...b, uncollected: 0n, unbilled: 0n, withoutCost: 0 }],
      ["a", { ...a, uncollected: 0n, unbilled: 0n, withoutCost: 1 }],
    ]);
    expect(byModel.total).toEqual({
      requests: 4,
      revenue: 300_000n,
      credited: 40_000n,
      upstreamCost: 150_001n,
      margin: 109_999n,
      uncollected: 0n,
      unbilled: 0n,
      withoutCost: 1,
    });
    const byAccount = await report(today, today, "account");
    expect([...byAccount.lines.keys()].toSorted()).toEqual([...accounts].toSorted());
    expect(byAccount.lines.get(first)).toMatchObject({ credited: 40_000n, margin: -40_001n });
    expect(byAccount.total).toEqual(byModel.total);
    const byUpstream = await report(today, next, "upstream");
    expect([...byUpstream.lines.keys()].toSorted()).toEqual(["", "other", "test"]);
    expect(byUpstream.total).toMatchObject({ requests: 5, revenue: 340_000n, margin: 149_998n });
    expect(await setup.audit()).toEqual(SOUND);
  });

  it("reads a busy day after quiet ones by the hour, and the quiet ones faster", async () => {
    const dayOf = (daysAgo: number): string => new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
    const busyMs = startOfBillingDay(dayOf(8));
    const mostAtOnce = 2;
    const times = [0, 1, 1.5, 5, 13, 20].map((hour) => busyMs + hour * HOUR_MS);
    for (const at of times) await use(accounts[0] ?? "", "busy", { at, tokens: 1, upstreamCost: 1n });
    const spans: [number, number][] = [];
    const connect = async () => {
      const client = await setup.pool.connect();
      const query = (asked: string | { text: string; values: string[] }) => {
        if (typeof asked !== "string" && asked.text.includes("sum(u.charge)")) {
          spans.push([timeOfUuidv7(asked.values[0] ?? ""), timeOfUuidv7(asked.values[1] ?? "")]);
        }
        return client.query(asked);
      };
      return { query, release: (broken?: Error) => client.release(broken) };
    };
    const watched = { connect } as unknown as typeof setup.pool;
    const { total } = await reportMargin(watched, { from: dayOf(10), to: dayOf(7), by: "model" }, mostAtOnce);
    expect(total.requests).toBe(times.length);
    // All that is asked for, once, in order.
    expect(spans.map(([from]) => from)).toEqual([
      startOfBillingDay(dayOf(10)),
      ...spans.slice(0, -1).map(([, to]) => to),
    ]);
    expect(spans.at(-1)?.[1]).toBe(busyMs + 2 * DAY_MS);
    const crowded = spans.filter(([from, to]) => times.filter((at) => at >= from && at < to).length > mostAtOnce);
    expect(crowded.filter(([from, to]) => to - from > HOUR_MS)).toEqual([]);
    expect(spans.length).toBeLessThan(40);
    expect(Math.max(...spans.map(([from, to]) => to - from))).toBeGreaterThan(4 * HOUR_MS);
  });

  it("shows the cost that balances did not cover", async () => {
    const poor = await setup.account(20_000n);
    keys.set(poor, await setup.key(poor));
    const at = startOfBillingDay(new Date(Date.now() - 4 * DAY_MS).toISOString().slice(0, 10));
    const requestId = uuidv7(at);
    await process.ledger.admit({ ...admission(poor, keys.get(poor) ?? "", 20_000n), requestId });
    await process.ledger.settle({ ...settlement(poor, requestId, 5), upstreamCost: 9_000n });
    const day = new Date(Date.now() - 4 * DAY_MS).toISOString().slice(0, 10);
    expect((await report(day, day, "model")).total).toMatchObject({
      revenue: 20_000n,
      uncollected: 5_000n,
      unbilled: 0n,
      margin: 11_000n,
    });
  });

  it("separates unbilled cost from uncollected cost, and adds late charges", async () => {
    const account = await setup.account(2_000_000n);
    keys.set(account, await setup.key(account));
    const day = new Date(Date.now() - 6 * DAY_MS).toISOString().slice(0, 10);
    const at = startOfBillingDay(day);
    const requestId = await use(account, "cut", { at, tokens: 6, basis: "recovered", upstreamCost: null });
    const late = { ...settlement(account, requestId, 9), upstreamCost: 50_000n, unbilledCost: 7_000n };
    await postLateUsage(process.database, late);
    const { lines, total } = await report(day, day, "model");
    const line = {
      requests: 1,
      revenue: 45_000n,
      credited: 0n,
      upstreamCost: 50_000n,
      margin: -5_000n,
      uncollected: 0n,
      unbilled: 7_000n,
      withoutCost: 0,
    };
    expect([...lines]).toEqual([["cut", line]]);
    expect(total).toEqual(line);
  });
});
