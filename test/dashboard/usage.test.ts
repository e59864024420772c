// One filter, one total: the filter of the usage page is in its address. The numbers at the top, the legend, the table
// below the chart, both tables below and the file equal the database's rows for it, to the last digit.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findDemo } from "../../src/app/demo/demo.ts";
import { billingDay, startOfBillingDay } from "../../src/kernel/clock.ts";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";
import {
  DAY_MS,
  FINE_MODEL,
  type KeptRecord,
  KEY_NAMES,
  makeHistory,
  MODELS,
  type UsageHistory,
} from "./usage-history.ts";
import * as shown from "./usage-shown.ts";

const LEAST_WIDTH_OF_IDS = 112;
const HUNDREDTH = 10_000n;
/** A midnight in Jakarta, 17:00 UTC, in the past. */
const MIDNIGHT_MS = startOfBillingDay(billingDay(Date.now() - DAY_MS));
const JAKARTA_DAY = new Intl.DateTimeFormat("en-CA", { timeZone: "Asia/Jakarta" });
/** The day in Jakarta so many days after the midnight; -1 is the day that ends with it. */
const day = (after: number): string => JAKARTA_DAY.format(MIDNIGHT_MS + after * DAY_MS);

/** The filter of an address, parsed without any code of the page. */
type Meant = { readonly first: string; readonly last: string; readonly fits: (record: KeptRecord) => boolean };

describe("the usage page", () => {
  let dashboard: Dashboard;
  let page: Page;
  let history: UsageHistory;
  beforeAll(async () => {
    dashboard = await openDashboard();
    const { database } = dashboard.database;
    const { accountId } = await findDemo(database);
    history = await makeHistory(dashboard.database, { accountId, midnightMs: MIDNIGHT_MS });
    ({ page } = await dashboard.visitDemo("/usage"));
  });
  afterAll(() => dashboard.close());

  /** Opens the page at so many milliseconds past the midnight. */
  async function open(path: string, afterMidnightMs = 3_600_000): Promise<void> {
    await page.clock.setFixedTime(MIDNIGHT_MS + afterMidnightMs);
    await page.goto(dashboard.saldo.httpUrl + path);
    await page.getByTestId("total-cost").waitFor();
  }

  const choose = (group: string, choice: string) =>
    page.getByRole("group", { name: group }).getByText(choice, { exact: true }).click();
  const select = (field: string, option: string) => page.getByLabel(field, { exact: true }).selectOption(option);

  function meant(afterMidnightMs: number): Meant {
    const { searchParams: at } = new URL(page.url());
    const today = JAKARTA_DAY.format(MIDNIGHT_MS + afterMidnightMs);
    const back = Number(at.get("days") ?? "30");
    const first = at.get("from") ?? JAKARTA_DAY.format(MIDNIGHT_MS + afterMidnightMs - (back - 1) * DAY_MS);
    const last = at.get("to") ?? today;
    const [model, keyId, status] = ["model", "key", "status"].map((name) => at.get(name));
    return {
      first,
      last,
      fits: (record) => {
        const recordDay = JAKARTA_DAY.format(record.atMs);
        return (
          recordDay >= first &&
          recordDay <= last &&
          (model === null || record.model === model) &&
          (keyId === null || record.keyId === keyId) &&
          (status === null || (record.basis === "free") === (status === "free"))
        );
      },
    };
  }

  /** Everything on the page equals the database's rows for the filter in the address. */
  async function expectOneTotal(afterMidnightMs = 3_600_000): Promise<void> {
    const { first, last, fits } = meant(afterMidnightMs);
    const records = history.records.filter(fits);
    expect(records.length, "a filter that finds nothing shows nothing").toBeGreaterThan(0);
    const cost = shown.sum(records.map(({ charge }) => charge)) / HUNDREDTH;
    const count = BigInt(records.length);
    await expect
      .poll(async () => {
        const totals = await shown.readTotals(page);
        return { cost: shown.hundredths(totals.cost), requests: shown.whole(totals.requests) };
      })
      .toEqual({ cost, requests: count });
    const days = await shown.readDays(page);
    expect(shown.sum(days.map((row) => row.cost))).toBe(cost);
    expect(shown.sum(days.map((row) => row.requests))).toBe(count);
    expect(new Set(days.map((row) => row.model))).toEqual(new Set(records.map((record) => record.model)));
    const tokens = shown.sum(records.map((record) => record.tokens));
    await expect
      .poll(() => shown.readChart(page))
      .toEqual([
        { unit: "Rp", legend: cost, table: cost },
        { unit: "Token", legend: tokens, table: tokens },
        { unit: "Permintaan", legend: count, table: count },
      ]);
    const file = await shown.downloadCsv(page);
    expect(file.name).toBe(`saldo-${first}-${last}.csv`);
    expect(shown.sum(file.records.map((line) => shown.millionths(line["charge_idr"] ?? "")))).toBe(cost * HUNDREDTH);
    expect(file.records.map((line) => line["request_id"] ?? "").toSorted()).toEqual(idsOf(records));
    expect(file.records.map((line) => JAKARTA_DAY.format(Date.parse(line["created_at"] ?? ""))).toSorted()).toEqual(
      records.map(({ atMs }) => JAKARTA_DAY.format(atMs)).toSorted(),
    );
  }

  const FILTERS: readonly {
    readonly name: string;
    readonly act: () => Promise<unknown>;
    readonly address: () => Record<string, string>;
  }[] = [
    { name: "a preset", act: () => choose("Rentang", "7 hari"), address: () => ({ days: "7" }) },
    {
      name: "a model whose id is markup",
      act: () => select("Model", MODELS[3]),
      address: () => ({ model: MODELS[3] }),
    },
    {
      name: "a model whose id is an address",
      act: () => select("Model", MODELS[2]),
      address: () => ({ model: MODELS[2] }),
    },
    { name: "a key", act: () => select("Kunci", KEY_NAMES[1]), address: () => ({ key: history.keyIds[1] ?? "" }) },
    { name: "what was billed", act: () => select("Status", "Ditagih"), address: () => ({ status: "billed" }) },
    { name: "what was free", act: () => select("Status", "Gratis"), address: () => ({ status: "free" }) },
    {
      name: "dates, a key and a status at once",
      act: async () => {
        await choose("Rentang", "Pilih tanggal");
        await page.getByLabel("Dari").fill(day(-40));
        await page.getByLabel("Sampai").fill(day(-2));
        await select("Kunci", KEY_NAMES[2]);
        await select("Status", "Ditagih");
      },
      address: () => ({ from: day(-40), to: day(-2), key: history.keyIds[2] ?? "", status: "billed" }),
    },
  ];

  it.each(FILTERS)("has one total for $name, and after a reload", async ({ act, address }) => {
    await open("/usage");
    await act();
    const has = () => Object.fromEntries(new URL(page.url()).searchParams);
    await expect.poll(has).toEqual(address());
    await expectOneTotal();
    await page.reload();
    await expect.poll(has).toEqual({ ...address(), unit: "requests" });
    await expectOneTotal();
  });

  it.each([
    { status: undefined, fits: () => true },
    { status: "billed", fits: ({ basis }: KeptRecord) => basis !== "free" },
  ])("stacks the same sums by key, named: status $status", async ({ status, fits }) => {
    await open(`/usage?days=60${status === undefined ? "" : `&status=${status}`}`);
    const before = await shown.readChart(page);
    await choose("Susun menurut", "Per kunci");
    await expect.poll(() => new URL(page.url()).searchParams.get("by")).toBe("key");
    await expect.poll(() => shown.readChart(page, "Per kunci per hari")).toEqual(before);
    const legend = page.locator("section", { hasText: "Per kunci per hari" }).locator("ul > li");
    const requestsOf = (keyId: string | undefined) =>
      history.records.filter((record) => record.keyId === keyId && record.model !== FINE_MODEL && fits(record)).length;
    const expected = KEY_NAMES.map((name, index) => `${name}${requestsOf(history.keyIds[index])}`);
    await expect.poll(async () => (await legend.allTextContents()).toSorted()).toEqual(expected.toSorted());
  });

  it("stacks the same sums by the member who made the key, and names keys without a maker", async () => {
    const { email } = await dashboard.signUp();
    const { accountId } = await findDemo(dashboard.database.database);
    const personOf = async (condition: string, value: string): Promise<string> => {
      const found = await dashboard.database.database.pool.query<{ id: string }>(
        `SELECT id FROM auth.person WHERE ${condition} = $1`,
        [value],
      );
      return found.rows[0]?.id ?? "";
    };
    const people = [await personOf("email", email), await personOf("account_id", accountId)];
    await dashboard.changeRows(
      "INSERT INTO account_member (account_id, person_id, role) VALUES ($1, $2, 'developer')",
      [accountId, people[0]],
    );
    for (const [index, personId] of people.entries())
      await dashboard.changeRows("UPDATE api_key SET person_id = $2 WHERE id = $1", [history.keyIds[index], personId]);
    await open("/usage?days=60");
    const before = await shown.readChart(page);
    await choose("Susun menurut", "Per anggota");
    await expect.poll(() => new URL(page.url()).searchParams.get("by")).toBe("member");
    await expect.poll(() => shown.readChart(page, "Per anggota per hari")).toEqual(before);
    const legend = page.locator("section", { hasText: "Per anggota per hari" }).locator("ul > li");
    const requestsOf = (keyId: string | undefined) =>
      history.records.filter((record) => record.keyId === keyId && record.model !== FINE_MODEL).length;
    const expected = [email, "demo@saldo.example", "Tanpa anggota"].map(
      (name, index) => `${name}${requestsOf(history.keyIds[index])}`,
    );
    await expect.poll(async () => (await legend.allTextContents()).toSorted()).toEqual(expected.toSorted());
  });

  it("sorts requests over all pages by the server, from the address too", async () => {
    await open("/usage?days=60&tab=requests");
    const table = page.getByRole("table", { name: "Permintaan" });
    const costs = async () => (await table.locator("tbody td:nth-child(6)").allTextContents()).map(shown.hundredths);
    const inHundredths = history.records
      .filter(({ model }) => model !== FINE_MODEL)
      .map(({ charge }) => charge / HUNDREDTH);
    const most = inHundredths.toSorted((a, b) => Number(b - a));
    await expect.poll(async () => (await costs()).length).toBe(50);
    const head = table.getByRole("columnheader", { name: "Biaya" });
    await head.getByRole("button").click();
    await expect.poll(() => new URL(page.url()).searchParams.get("order")).toBe("-cost");
    await expect.poll(costs).toEqual(most.slice(0, 50));
    expect(await head.getAttribute("aria-sort")).toBe("descending");
    await page.getByRole("button", { name: "Muat lebih banyak" }).click();
    await expect.poll(costs).toEqual(most.slice(0, 100));
    await page.reload();
    await expect.poll(costs).toEqual(most.slice(0, 50));
    await head.getByRole("button").click();
    await expect.poll(costs).toEqual(most.toReversed().slice(0, 50));
    await head.getByRole("button").click();
    await expect.poll(() => new URL(page.url()).searchParams.get("order")).toBe(null);
  });

  it("sorts the days by a column, from the address too, by keyboard, and back", async () => {
    await open("/usage?days=60");
    const charges = async () => (await shown.readDays(page)).map((row) => row.cost);
    await expect.poll(async () => (await charges()).length).toBeGreaterThan(0);
    const asTheyCame = await charges();
    const head = page.getByRole("columnheader", { name: "Biaya" });
    await head.getByRole("button").focus();
    const orders = [
      { sort: "-cost", aria: "descending", rows: asTheyCame.toSorted((a, b) => Number(b - a)) },
      { sort: "cost", aria: "ascending", rows: asTheyCame.toSorted((a, b) => Number(a - b)) },
    ];
    for (const { sort, aria, rows } of orders) {
      await page.keyboard.press("Enter");
      await expect.poll(() => new URL(page.url()).searchParams.get("sort")).toBe(sort);
      await expect.poll(() => head.getAttribute("aria-sort")).toBe(aria);
      await expect.poll(charges).toEqual(rows);
      expect(rows).not.toEqual(asTheyCame);
    }
    await page.reload();
    await expect.poll(charges).toEqual(orders[1]?.rows);
    await head.getByRole("button").click();
    await expect.poll(() => new URL(page.url()).searchParams.get("sort")).toBeNull();
    await expect.poll(charges).toEqual(asTheyCame);
  });

  it("lists every request of the filter, each once", async () => {
    await open(`/usage?from=${day(-20)}&to=${day(0)}`);
    const { fits } = meant(0);
    const listed = await shown.readRequests(page);
    expect(listed.toSorted()).toEqual(idsOf(history.records.filter(fits)));
    expect(listed.length).toBeGreaterThan(50);
    // The list is as wide as its card, and its columns as wide as their content.
    const table = page.getByRole("table", { name: "Permintaan" });
    expect(await table.evaluate((element) => element.scrollWidth - (element.parentElement?.clientWidth ?? 0))).toBe(0);
    const narrowest = await table
      .locator("tbody td:nth-child(2)")
      .evaluateAll((cells) => Math.min(...cells.map((cell) => cell.clientWidth)));
    expect(narrowest).toBeGreaterThanOrEqual(LEAST_WIDTH_OF_IDS);
  });

  it.each([
    { name: "ends", after: -1, times: [-60_000, -1] },
    { name: "begins", after: 0, times: [0, 60_000] },
  ])("puts requests of 16:59 UTC and 17:01 UTC on different days: one day $name", async ({ after, times }) => {
    await open(`/usage?from=${day(after)}&to=${day(after)}`);
    await expectOneTotal();
    const file = await shown.downloadCsv(page);
    const meantToBe = times.map((off) => new Date(MIDNIGHT_MS + off).toISOString());
    const moments = file.records.map((line) => new Date(line["created_at"] ?? "").toISOString());
    expect(moments.filter((moment) => meantToBe.includes(moment))).toEqual(meantToBe);
    const written = new Set((await shown.readDays(page)).map((row) => row.day));
    expect([...written]).toEqual([
      new Intl.DateTimeFormat("id-ID", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" }).format(
        new Date(`${day(after)}T00:00:00Z`),
      ),
    ]);
  });

  it.each([
    { side: "before", afterMidnightMs: -30_000, last: day(-1) },
    { side: "after", afterMidnightMs: 30_000, last: day(0) },
  ])("moves a preset by a day at midnight in Jakarta: half a minute $side it", async ({ afterMidnightMs, last }) => {
    await open("/usage?days=7", afterMidnightMs);
    expect(meant(afterMidnightMs).last).toBe(last);
    await expectOneTotal(afterMidnightMs);
  });

  it("moves to the next day while it is open, in everything that it shows", async () => {
    await page.clock.install({ time: MIDNIGHT_MS - 30_000 });
    await page.goto(`${dashboard.saldo.httpUrl}/usage?days=7&status=billed`);
    const records = (first: string, last: string) =>
      history.records.filter(
        ({ atMs, basis }) => basis !== "free" && JAKARTA_DAY.format(atMs) >= first && JAKARTA_DAY.format(atMs) <= last,
      );
    const count = () => page.getByTestId("total-requests").textContent().then(Number);
    const before = records(day(-7), day(-1));
    await expect.poll(count).toBe(before.length);
    await page.clock.runFor(60_000);
    const now = records(day(-6), day(0));
    expect(idsOf(now)).not.toEqual(idsOf(before));
    await expect.poll(count).toBe(now.length);
    const file = await shown.downloadCsv(page);
    expect(file.name).toBe(`saldo-${day(-6)}-${day(0)}.csv`);
    expect(file.records.map((line) => line["request_id"] ?? "").toSorted()).toEqual(idsOf(now));
  });

  it("offers every model with usage, also when one is chosen", async () => {
    await open("/usage");
    const options = () => page.getByLabel("Model", { exact: true }).locator("option").allTextContents();
    await expect.poll(async () => (await options()).length).toBeGreaterThan(MODELS.length);
    const all = await options();
    await select("Model", MODELS[0]);
    await expect.poll(() => new URL(page.url()).searchParams.get("model")).toBe(MODELS[0]);
    await page.waitForLoadState("networkidle");
    expect(await options()).toEqual(all);
    await page.reload();
    await expect.poll(options).toEqual(all);
  });

  it("rounds displayed numbers only", async () => {
    await open(`/usage?from=${day(-101)}&to=${day(-99)}`);
    const records = history.records.filter(({ model }) => model === FINE_MODEL);
    const exact = shown.sum(records.map(({ charge }) => charge));
    expect(exact % HUNDREDTH).not.toBe(0n);
    const { records: lines } = await shown.downloadCsv(page);
    expect(shown.sum(lines.map((line) => shown.millionths(line["charge_idr"] ?? "")))).toBe(exact);
    const text = await page.getByTestId("total-cost").textContent();
    const decimals = exact
      .toString()
      .padStart(7, "0")
      .replace(/(\d{6})$/, ",$1")
      .replace(/0+$/, "");
    expect(text).toBe(`Rp\u00a0${decimals}`);
    expectNoComplaints(dashboard);
  });
});

function idsOf(records: readonly KeptRecord[]): string[] {
  return records.map(({ requestId }) => requestId).toSorted();
}
