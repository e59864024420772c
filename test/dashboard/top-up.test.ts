// Somebody new tops up at the sandbox's page, and the page they left open shows the money without being touched: whether the
// provider tells us at once, late, twice or never.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Locator, Page } from "playwright-core";
import { type Dashboard, expectNoComplaints, openDashboard, type Visit } from "./open-dashboard.ts";
import { downloadCsv } from "./usage-shown.ts";

/** A notification that never comes is made up for by the reconciler. */
const CREDITED_WITHIN_MS = 90_000;

describe("topping up", () => {
  let dashboard: Dashboard;
  let visit: Visit;
  beforeAll(async () => {
    dashboard = await openDashboard();
    visit = await dashboard.signUp();
  });
  afterAll(() => dashboard.close());

  const available = (page: Page) => page.getByTestId("available").textContent();

  it.each([
    { told: "at once", button: "Bayar", after: "Rp\u00a025.000" },
    { told: "late", button: "Bayar, pemberitahuan terlambat", after: "Rp\u00a050.000" },
    { told: "twice", button: "Bayar, pemberitahuan ganda", after: "Rp\u00a075.000" },
    { told: "never", button: "Bayar, tanpa pemberitahuan", after: "Rp\u00a0100.000" },
  ])(
    "shows the new balance without a reload where the provider tells us $told",
    async ({ button, after }) => {
      const { page, context } = visit;
      await page.goto(`${dashboard.saldo.httpUrl}/billing`);
      await page.getByRole("button", { name: "Rp 25.000" }).click();
      await page.getByRole("button", { name: "Lanjut ke pembayaran" }).click();
      const loads = await loadsOf(page);
      const opening = context.waitForEvent("page");
      await page.getByRole("link", { name: "Buka halaman pembayaran" }).click();
      const payment = await opening;
      await payment.getByRole("button", { name: button, exact: true }).click();
      await payment.locator('[data-status="paid"]').waitFor();
      await payment.close();
      await page.getByText("Saldo bertambah").waitFor({ timeout: CREDITED_WITHIN_MS });
      await expect.poll(() => available(page), { timeout: 15_000 }).toBe(after);
      expect(await loadsOf(page)).toBe(loads);
      expectNoComplaints(dashboard);
    },
    CREDITED_WITHIN_MS + 30_000,
  );

  it("credited each of them once, and lists them all", async () => {
    const { page } = visit;
    await page.goto(`${dashboard.saldo.httpUrl}/billing`);
    await page.getByRole("table", { name: "Riwayat isi saldo" }).waitFor();
    // What narrow pages show of a row stands there too, unseen.
    const seen = (table: Locator, text: string) => table.getByText(text).filter({ visible: true }).count();
    expect(await seen(page.getByRole("table", { name: "Riwayat isi saldo" }), "Dibayar")).toBe(4);
    const ledger = page.getByRole("table", { name: "Buku besar" });
    await ledger.waitFor();
    expect(await seen(ledger, "Isi saldo")).toBe(4);
    expect(await seen(ledger, "Rp 100.000,00")).toBe(1);
    const file = await downloadCsv(page);
    expect(file.name).toMatch(/^saldo-ledger-\d{4}-\d\d-\d\d\.csv$/);
    expect(file.records.map((line) => [line["reason"], line["amount_idr"], line["running_balance_idr"]])).toEqual([
      ["top_up", "25000", "25000"],
      ["top_up", "25000", "50000"],
      ["top_up", "25000", "75000"],
      ["top_up", "25000", "100000"],
    ]);
  });

  it.each([
    ["9999", "Paling sedikit Rp 10.000."],
    ["10000.5", "Tulis rupiah bulat, tanpa sen."],
    ["-10000", "Tulis angka saja, misalnya 25000 atau 0,5."],
    ["9.999", "Paling sedikit Rp 10.000."],
    ["1000000001", "Paling banyak Rp 1.000.000.000."],
  ])("says why %s rupiah are not an amount, and opens no payment", async (amount, problem) => {
    const { page } = visit;
    await page.goto(`${dashboard.saldo.httpUrl}/billing`);
    await page.getByLabel("Jumlah lain").fill(amount);
    await page.getByRole("button", { name: "Lanjut ke pembayaran" }).click();
    await page.getByText(problem).last().waitFor();
    expect(new URL(page.url()).search).toBe("");
  });
});

/** When the document was loaded: it changes with every load of the page. */
function loadsOf(page: Page): Promise<number> {
  return page.evaluate(() => performance.timeOrigin);
}
