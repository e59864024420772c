// The usage page while its filter changes: the old data stays until the new data has loaded, and is marked as old.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findDemo } from "../../src/app/demo/demo.ts";
import { billingDay, startOfBillingDay } from "../../src/kernel/clock.ts";
import { cutOff } from "./cut-off.ts";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";
import { DAY_MS, makeHistory } from "./usage-history.ts";

/** A midnight in Jakarta in the past. */
const MIDNIGHT_MS = startOfBillingDay(billingDay(Date.now() - DAY_MS));

describe("the usage page, when its filter changes", () => {
  let dashboard: Dashboard;
  let page: Page;
  beforeAll(async () => {
    dashboard = await openDashboard();
    const { database } = dashboard.database;
    const { accountId } = await findDemo(database);
    await makeHistory(dashboard.database, { accountId, midnightMs: MIDNIGHT_MS });
    ({ page } = await dashboard.visitDemo("/usage"));
  });
  afterAll(async () => {
    expectNoComplaints(dashboard);
    await dashboard.close();
  });

  const open = async (path: string) => {
    await page.goto(dashboard.saldo.httpUrl + path);
    await page.getByTestId("total-cost").waitFor();
  };

  it("shows that loading more failed, keeps the loaded ones, and tries again", async () => {
    await open("/usage?tab=requests&days=90");
    const table = page.getByRole("table", { name: "Permintaan" });
    const rows = table.locator("tbody tr");
    await rows.first().waitFor();
    const before = await rows.count();
    const { mend } = await cutOff(page, /BillingService\/ListUsage/);
    await page.getByRole("button", { name: "Muat lebih banyak" }).click();
    const failed = page.getByRole("alert").filter({ hasText: "Bagian ini gagal dimuat" });
    await failed.waitFor();
    expect(await rows.count()).toBe(before);
    await mend();
    await failed.getByRole("button", { name: "Coba lagi" }).click();
    await rows.nth(before).waitFor();
    await failed.waitFor({ state: "detached" });
  });

  it("keeps the previous range while the typed dates are no range yet", async () => {
    await open("/usage?from=2026-01-01&to=2026-06-06");
    const days = () => Object.fromEntries(new URL(page.url()).searchParams);
    const [from, to] = [page.getByLabel("Dari"), page.getByLabel("Sampai")];
    // The day equals the number of its month: which of them is typed first depends on the browser.
    const type = async (field: typeof from, typed: string) => {
      await field.blur();
      await field.focus();
      await page.keyboard.type(typed);
      const isFocused = () => field.evaluate((element) => element === element.ownerDocument.activeElement);
      await expect.poll(isFocused).toBe(true);
    };
    await type(from, "03032026");
    await expect.poll(days).toEqual({ from: "2026-03-03", to: "2026-06-06" });
    await type(to, "02022026");
    await page.getByText("Tidak boleh sebelum tanggal awal.").waitFor();
    expect(days()["from"]).toBe("2026-03-03");
    expect(days()["to"]?.localeCompare("2026-03-03")).toBe(1);
    await from.focus();
    const typed = async () => [await from.inputValue(), await to.inputValue()];
    await expect.poll(typed).toEqual(["2026-03-03", "2026-02-02"]);
    await type(to, "04042026");
    await expect.poll(days).toEqual({ from: "2026-03-03", to: "2026-04-04" });
    await page.getByText("Tidak boleh sebelum tanggal awal.").waitFor({ state: "detached" });
    await from.focus();
    await page.keyboard.press("Backspace");
    await to.focus();
    await page.getByText("Isi tanggal lengkap.").waitFor();
    expect(days()).toEqual({ from: "2026-03-03", to: "2026-04-04" });
    await page.goBack();
    await expect.poll(() => from.inputValue()).toBe("2026-03-03");
  });

  it("shows the days of its numbers until the new numbers are loaded", async () => {
    await open("/usage?days=7");
    const range = page.getByText(/ – .* · WIB/);
    const before = await range.textContent();
    const { refused, mend } = await cutOff(page, /BillingService\/SummarizeUsage/);
    await page.getByRole("group", { name: "Rentang" }).getByText("90 hari", { exact: true }).click();
    await expect.poll(refused).toBeGreaterThan(0);
    await page.locator("[aria-busy=true]").first().waitFor();
    expect(await range.textContent()).toBe(before);
    await mend();
    await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
    await expect.poll(() => range.textContent()).not.toBe(before);
  });
});
