// Operators' lists in the order of a column: over all pages, also while rows arrive, and with tokens of that order only.

import { afterAll, beforeAll, expect, test } from "vitest";
import { findSortedTopUps } from "../../src/billing/top-ups/find-top-ups.ts";
import { insertTopUp } from "../../src/billing/top-ups/store.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { requireSortable } from "../../src/kernel/list-order.ts";
import { IDR, parseMoney } from "../../src/kernel/money.ts";
import { refusal, serveOperator, type ServedOperator } from "./operator-calls.ts";

const HOUR_MS = 3_600_000;
const PAGE_SIZE = 2;

let served: ServedOperator;
beforeAll(async () => {
  served = await serveOperator();
});
afterAll(() => served.stop());

/** All items of a list, page by page. */
async function everyPage<Item>(
  read: (pageToken: string) => Promise<{ readonly items: readonly Item[]; readonly nextPageToken: string }>,
): Promise<Item[]> {
  const all: Item[] = [];
  let pageToken = "";
  do {
    const page = await read(pageToken);
    all.push(...page.items);
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && all.length < 100);
  return all;
}

test("accounts are sorted by address, in any case of its letters, and by their opening", async () => {
  const names = ["Dewi", "ani", "citra", "Budi", "eka_1", "eka%"];
  const opened: string[] = [];
  for (const name of names) {
    await served.newCustomer(`${name}@Order.example`);
    opened.push(`${name}@Order.example`);
  }
  const emailsBy = (orderBy: string, pageSize = PAGE_SIZE) =>
    everyPage(async (pageToken) => {
      const page = await served.operator.listAccounts({ query: "@order.EXAMPLE", pageSize, pageToken, orderBy });
      return { items: page.accounts.map(({ email }) => email), nextPageToken: page.nextPageToken };
    });
  // The database compares addresses by its own collation: the pages come to what one page has.
  const whole = await emailsBy("email", 50);
  expect(new Set(whole)).toEqual(new Set(opened));
  expect(whole.slice(0, 4).map((email) => email.toLowerCase().split("@")[0])).toEqual(["ani", "budi", "citra", "dewi"]);
  expect(await emailsBy("email")).toEqual(whole);
  expect(await emailsBy("-email")).toEqual(whole.toReversed());
  const newest = await emailsBy("");
  expect(new Set(newest)).toEqual(new Set(opened));
  expect(await emailsBy("-opened")).toEqual(newest);
  expect(await emailsBy("opened")).toEqual(newest.toReversed());
  expect((await refusal(served.operator.listAccounts({ orderBy: "balance" }))).code).toBe("validation_error");
});

test("top-ups are sorted by amount and time over all pages, while more arrive", async () => {
  const { operator, database } = served;
  const accountId = await served.newCustomer();
  const order = async (rupiah: string): Promise<string> => {
    const topUpId = uuidv7();
    const at = new Date(Date.now() + HOUR_MS);
    const made = { topUpId, accountId, provider: "sandbox", idempotencyKey: topUpId, expiresAt: at, nextCheckAt: at };
    await insertTopUp(database.pool, { ...made, amount: parseMoney(rupiah, IDR).units });
    return topUpId;
  };
  const amounts = ["50000", "10000", "25000", "25000", "1000000", "25000", "30000"];
  const ids: string[] = [];
  for (const amount of amounts) ids.push(await order(amount));
  const read = (orderBy: string, between?: () => Promise<unknown>) =>
    everyPage(async (pageToken) => {
      const page = await operator.listTopUps({ accountId, orderBy, pageSize: PAGE_SIZE, pageToken });
      await between?.();
      return { items: page.topUps.map(({ topUp }) => topUp), nextPageToken: page.nextPageToken };
    });
  const least = await read("amount");
  expect(least.map((topUp) => Number(topUp?.amount))).toEqual([
    10_000, 25_000, 25_000, 25_000, 30_000, 50_000, 1_000_000,
  ]);
  expect(new Set(least.map((topUp) => topUp?.id))).toEqual(new Set(ids));
  expect(await read("-amount")).toEqual(least.toReversed());
  expect(await read("time")).toEqual((await read("")).toReversed());

  // Rows that arrive between two pages neither repeat nor hide one.
  const seen = (await read("-amount", () => order("20000"))).map((topUp) => topUp?.id);
  expect(new Set(seen).size).toBe(seen.length);
  expect(ids.every((id) => seen.includes(id))).toBe(true);

  // A filter and an order hold together, and a token is of its order.
  const problems = await operator.listTopUps({ accountId, orderBy: "amount", onlyProblems: true });
  expect(problems.topUps).toEqual([]);
  const { nextPageToken } = await operator.listTopUps({ accountId, orderBy: "amount", pageSize: PAGE_SIZE });
  for (const orderBy of ["-amount", "time", ""]) {
    expect(await refusal(operator.listTopUps({ accountId, orderBy, pageToken: nextPageToken }))).toMatchObject({
      rules: ["pageToken page_token"],
    });
  }
  for (const pageToken of ["amount:x:y", `amount:1:${uuidv7()}:1`, `amount:${"9".repeat(30)}:${uuidv7()}`]) {
    expect((await refusal(operator.listTopUps({ orderBy: "amount", pageToken }))).code).toBe("validation_error");
  }
  expect((await refusal(operator.listTopUps({ orderBy: "provider" }))).code).toBe("validation_error");
});

test("a list that is too long to be sorted is refused by its order", async () => {
  expect(() => requireSortable(100_000)).not.toThrow();
  expect(() => requireSortable(100_001)).toThrow("orderBy");
  const filter = { accountId: null, provider: null, state: null, needsAttention: false };
  const order = { column: "amount", isDown: false } as const;
  const some = { filter, order, place: null, limit: 1 };
  expect(await findSortedTopUps(served.database.pool, some)).toHaveLength(1);
  await expect(findSortedTopUps(served.database.pool, some, 2)).rejects.toMatchObject({
    details: [{ field: "orderBy", rule: "order_by.too_many" }],
  });
});
