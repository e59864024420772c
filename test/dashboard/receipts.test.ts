// A new person sets the company data, tops up, and downloads the receipt from the page of billing.

import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { extractText, getDocumentProxy } from "unpdf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { saldoJson } from "../setup/saldo-command.ts";
import { type Dashboard, expectNoComplaints, openDashboard, type Visit } from "./open-dashboard.ts";

/** The payment is verified by a job, and the receipt written by another. */
const ISSUED_WITHIN_MS = 90_000;

describe("the receipt of a top-up", () => {
  let dashboard: Dashboard;
  let visit: Visit;
  beforeAll(async () => {
    dashboard = await openDashboard();
    visit = await dashboard.signUp();
  });
  afterAll(() => dashboard.close());

  it(
    "names the company that was set before, and appears beside the payment without a reload",
    async () => {
      const { page } = visit;
      await page.goto(`${dashboard.saldo.httpUrl}/billing`);
      await page.getByLabel("Nama", { exact: true }).fill("PT Maju Bersama");
      await page.getByLabel("Alamat").fill("Jl. Braga 10\nBandung");
      await page.getByLabel("NPWP").fill("01.234.567.8-901.000");
      await page.getByRole("button", { name: "Simpan", exact: true }).click();
      await page.getByText("Data perusahaan disimpan").waitFor();
      const loaded = await page.evaluate(() => performance.timeOrigin);
      await pay(page, "Rp 50.000");
      await page
        .getByRole("button", { name: /^Unduh DEMO-KW-\d{4}-000001 \(PDF\)$/ })
        .waitFor({ timeout: ISSUED_WITHIN_MS });
      expect(await page.evaluate(() => performance.timeOrigin)).toBe(loaded);
      expectNoComplaints(dashboard);
    },
    ISSUED_WITHIN_MS + 60_000,
  );

  it.each([
    { language: "id", width: 1280, button: /^Unduh /, texts: ["Kuitansi", "Rp 50.000,00", "lima puluh ribu rupiah"] },
    { language: "en", width: 360, button: /^Download /, texts: ["Receipt", "Rp 50,000.00", "fifty thousand rupiah"] },
  ])("is downloaded in the language of the page: $language, $width px", async ({ language, width, button, texts }) => {
    const { page } = visit;
    await page.evaluate(`localStorage.setItem("saldo.language", "${language}")`);
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${dashboard.saldo.httpUrl}/billing`);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: button }).first().click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^DEMO-KW-\d{4}-000001\.pdf$/);
    const file = await getDocumentProxy(new Uint8Array(await readFile(await download.path())));
    const { text } = await extractText(file, { mergePages: true });
    for (const part of [...texts, "PT Maju Bersama", "01.234.567.8-901.000"])
      expect(text.replaceAll(/\s+/g, " ")).toContain(part);
    expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
    expectNoComplaints(dashboard);
  });

  it.each([
    { language: "id", format: "PDF", button: /^PDF laporan /, texts: ["Laporan bulanan", "Rp 50.000,00"] },
    { language: "en", format: "CSV", button: /^CSV statement of /, texts: ["closing_balance,,,,,,,,"] },
  ])("is on the statement of the month, downloaded as $format", async ({ language, format, button, texts }) => {
    const { page } = visit;
    await page.evaluate(`localStorage.setItem("saldo.language", "${language}")`);
    await page.goto(`${dashboard.saldo.httpUrl}/billing`);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: button }).first().click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^saldo-\d{4}-\d{2}\.(pdf|csv)$/);
    const file = await readFile(await download.path());
    const text =
      format === "CSV"
        ? file.toString()
        : (await extractText(await getDocumentProxy(new Uint8Array(file)), { mergePages: true })).text;
    for (const part of texts) expect(text.replaceAll(/\s+/g, " ")).toContain(part);
    expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
    expectNoComplaints(dashboard);
  });

  it("is not given an NPWP of another length", async () => {
    const { page } = visit;
    await page.getByLabel("NPWP").fill("12345");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("The data was not saved.").waitFor();
    await page.reload();
    await expect.poll(() => page.getByLabel("NPWP").inputValue()).toBe("012345678901000");
  });

  it.each([
    { language: "id", save: "Simpan", name: "Nama", text: "memuat karakter yang tidak bisa dicetak pada kuitansi" },
    { language: "en", save: "Save", name: "Name", text: "has characters that receipts cannot print" },
  ])("is not given a name that it cannot print: $language", async ({ language, save, name, text }) => {
    const { page } = visit;
    await page.evaluate(`localStorage.setItem("saldo.language", "${language}")`);
    await page.goto(`${dashboard.saldo.httpUrl}/billing`);
    await page.getByLabel(name, { exact: true }).fill("株式 🎉");
    await page.getByRole("button", { name: save, exact: true }).click();
    await page.getByText(`${text}: 株 (U+682A), 式 (U+5F0F), 🎉 (U+1F389)`, { exact: true }).waitFor();
    await page.reload();
    await expect.poll(() => page.getByLabel(name, { exact: true }).inputValue()).toBe("PT Maju Bersama");
  });

  it.each([
    {
      language: "id",
      width: 1280,
      presets: ["Rp 11.100", "Rp 25.000"],
      refusal: "Minimal Rp 11.100.",
      rises: "Saldo bertambah Rp 10.000.",
    },
    {
      language: "en",
      width: 360,
      presets: ["Rp 11,100", "Rp 25,000"],
      refusal: "At least Rp 11,100.",
      rises: "The balance rises by Rp 10,000.",
    },
  ])(
    "begins at the least amount where prices include tax: $language",
    async ({ language, width, presets, refusal, rises }) => {
      const settings = { DATABASE_URL: dashboard.database.url };
      const npwp = ["--npwp", "0012345678901000", "--reason", "test"];
      await saldoJson(["settings", "seller", "--name", "PT Penjual", ...npwp], settings);
      await saldoJson(["settings", "tax", "--percent", "11", "--included", "--reason", "test"], settings);
      const { page } = visit;
      await page.evaluate(`localStorage.setItem("saldo.language", "${language}")`);
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${dashboard.saldo.httpUrl}/billing`);
      const group = page.getByRole("group", { name: language === "id" ? "Jumlah" : "Amount" });
      await group.getByRole("button", { name: presets[0] ?? "" }).waitFor();
      const shown = (await group.getByRole("button").allTextContents()).map((text) => text.replaceAll("\u00a0", " "));
      expect(shown.slice(0, 2)).toEqual(presets);
      const field = page.getByLabel(language === "id" ? "Jumlah lain" : "Other amount");
      await field.fill("11099");
      await page.getByRole("button", { name: language === "id" ? "Lanjut ke pembayaran" : "Go to payment" }).click();
      await page.getByText(refusal, { exact: true }).waitFor();
      await group.getByRole("button", { name: presets[0] ?? "" }).click();
      await page.getByText(rises, { exact: true }).waitFor();
      const [popup] = await Promise.all([
        page.waitForEvent("popup"),
        page.getByRole("button", { name: language === "id" ? "Lanjut ke pembayaran" : "Go to payment" }).click(),
      ]);
      await page.waitForURL(/topUp=/);
      await popup.close();
      expectNoComplaints(dashboard);
    },
  );

  it("is followed by a credit note whose tax is of whole rupiah, in both languages", async () => {
    const { page } = visit;
    await page.evaluate('localStorage.setItem("saldo.language", "id")');
    await page.goto(`${dashboard.saldo.httpUrl}/billing`);
    await pay(page, "Rp 25.000");
    const receipt = page.getByRole("button", { name: /^Unduh DEMO-KW-\d{4}-000002 \(PDF\)$/ });
    await receipt.waitFor({ timeout: ISSUED_WITHIN_MS });
    const text = "SELECT id FROM top_up WHERE paid_at IS NOT NULL ORDER BY paid_at DESC LIMIT 1";
    const { rows } = await dashboard.database.database.pool.query<{ id: string }>(text);
    const refund = ["top-up", "refund", "--top-up", rows[0]?.id ?? "", "--amount", "10812"];
    await saldoJson(refund, { DATABASE_URL: dashboard.database.url });
    const note = page.getByRole("row", { name: /DEMO-NK-\d{4}-000001/ });
    const noted = async () => {
      await page.reload();
      await receipt.waitFor();
      return note.count();
    };
    await expect.poll(noted, { timeout: ISSUED_WITHIN_MS, interval: 1_000 }).toBe(1);
    for (const { language, shown } of [
      { language: "id", shown: ["Rp 10.812", "termasuk PPN Rp 1.071"] },
      { language: "en", shown: ["Rp 10,812", "of which VAT Rp 1,071"] },
    ]) {
      await page.evaluate(`localStorage.setItem("saldo.language", "${language}")`);
      await page.reload();
      for (const each of shown) await note.getByText(each).first().waitFor();
    }
    expectNoComplaints(dashboard);
  }, 180_000);
});

/** Pays on the provider's page, which opens in a tab of its own. */
async function pay(page: Page, amount: string): Promise<void> {
  await page.getByRole("button", { name: amount }).click();
  const opening = page.context().waitForEvent("page");
  await page.getByRole("button", { name: "Lanjut ke pembayaran" }).click();
  const payment = await opening;
  await payment.getByRole("button", { name: "Bayar", exact: true }).click();
  await payment.locator("[data-status]:not([data-status=pending])").waitFor();
  await payment.close();
}
