// A new person tops up at the sandbox's page, and the page left open shows the money without a click: whether the
// provider's notification arrives at once, late, twice or never.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Locator, Page, Request } from "playwright-core";
import { type Dashboard, expectNoComplaints, openDashboard, type Visit } from "./open-dashboard.ts";
import { downloadCsv } from "./usage-shown.ts";

/** The reconciler replaces a notification that never arrives. */
const CREDITED_WITHIN_MS = 90_000;
/** The most that the page waits between two streams or polls. */
const LONGEST_WAIT_MS = 15_000;
const STREAM = /BillingService\/WatchTopUp/;

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
    { arrives: "at once", button: "Bayar", after: "Rp\u00a025.000" },
    { arrives: "late", button: "Bayar, pemberitahuan terlambat", after: "Rp\u00a050.000" },
    { arrives: "twice", button: "Bayar, pemberitahuan ganda", after: "Rp\u00a075.000" },
    { arrives: "never", button: "Bayar, tanpa pemberitahuan", after: "Rp\u00a0100.000" },
  ])(
    "shows the new balance without a reload where the notification arrives $arrives",
    async ({ button, after }) => {
      const { page } = visit;
      await begin(page, dashboard.saldo.httpUrl, "Rp 25.000");
      const loads = await loadsOf(page);
      await press(visit, button);
      await page.getByText("Saldo bertambah", { exact: true }).waitFor({ timeout: CREDITED_WITHIN_MS });
      await expect.poll(() => available(page)).toBe(after);
      expect(await loadsOf(page)).toBe(loads);
      expectNoComplaints(dashboard);
    },
    CREDITED_WITHIN_MS + 60_000,
  );

  it("credited each of them once, and lists them all", async () => {
    const { page } = visit;
    await page.goto(`${dashboard.saldo.httpUrl}/billing`);
    await page.getByRole("table", { name: "Riwayat pengisian saldo" }).waitFor();
    // The text of a row for narrow pages is there too, hidden.
    const seen = (table: Locator, text: string) => table.getByText(text).filter({ visible: true }).count();
    await expect.poll(() => seen(page.getByRole("table", { name: "Riwayat pengisian saldo" }), "Dibayar")).toBe(4);
    const ledger = page.getByRole("table", { name: "Mutasi saldo" });
    await expect.poll(() => seen(ledger, "Isi saldo")).toBe(4);
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

  it("shows each payment's own state where one is opened after the other", async () => {
    const { page, context } = visit;
    for (const amount of ["Rp 10.000", "Rp 50.000"]) await begin(page, dashboard.saldo.httpUrl, amount);
    await page.goto(`${dashboard.saldo.httpUrl}/billing`);
    const rows = page.getByRole("table", { name: "Riwayat pengisian saldo" }).getByRole("row");
    const open = async (amount: string) => {
      await rows.filter({ hasText: amount }).getByRole("button").click();
      await cardOf(page).getByText(amount).waitFor();
    };
    const streamed = page.waitForResponse(STREAM);
    await open("Rp 50.000");
    await streamed;
    // The stream's state of the one payment is not shown for the other, which has no stream.
    await context.route(STREAM, (route) => route.abort());
    await open("Rp 10.000");
    expect(await cardOf(page).getByText("Rp 50.000").count()).toBe(0);
    await context.unroute(STREAM);
  });

  it.each([
    { width: 1280, language: "id", link: "Lanjutkan pembayaran" },
    { width: 360, language: "en", link: "Continue payment" },
  ])(
    "leads from the list to the page of a pending payment: $width px, $language",
    async ({ width, language, link }) => {
      const { page, context } = await dashboard.signUp();
      await (await openPayment(page, dashboard.saldo.httpUrl, "Rp 100.000")).close();
      await page.evaluate(`localStorage.setItem("saldo.language", "${language}")`);
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${dashboard.saldo.httpUrl}/billing`);
      const opening = context.waitForEvent("page");
      await page.getByRole("link", { name: link }).click();
      await pressAt(await opening, "Bayar");
      expect(new URL(page.url()).search).toBe("");
      // A payment that is paid is not paid again. The service may learn of it a moment after the provider.
      const linksAfterLoad = async () => {
        await page.reload();
        await page.getByRole("table").first().waitFor();
        return page.getByRole("link", { name: link }).count();
      };
      await expect.poll(linksAfterLoad).toBe(0);
      await context.close();
      expectNoComplaints(dashboard);
    },
  );

  it("opens the payment by one press, and shows a link where the browser blocks tabs", async () => {
    const { page, context } = await dashboard.signUp();
    await pressAt(await openPayment(page, dashboard.saldo.httpUrl, "Rp 10.000"), "Bayar");
    await page.getByText("Saldo bertambah", { exact: true }).waitFor({ timeout: CREDITED_WITHIN_MS });
    await page.goto(`${dashboard.saldo.httpUrl}/billing`);
    await page.evaluate("window.open = () => null");
    await page.getByRole("button", { name: "Lanjut ke pembayaran" }).click();
    await page.getByRole("link", { name: "Buka halaman pembayaran" }).waitFor();
    expect(context.pages()).toHaveLength(1);
    await context.close();
    expectNoComplaints(dashboard);
  });

  it("leaves no empty tab where the payment could not be made", async () => {
    const { page, context } = await dashboard.visitDemo("/billing");
    await context.route(/BillingService\/CreateTopUp/, (route) => route.abort());
    await page.getByRole("button", { name: "Lanjut ke pembayaran" }).click();
    await page.getByText("Pembayaran tidak bisa dibuat").waitFor();
    await expect.poll(() => context.pages().length).toBe(1);
    await context.close();
  });

  it("shows how a payment ended without a stream, and stops polling", async () => {
    const demo = await dashboard.visitDemo("/billing");
    const { page, context } = demo;
    await page.clock.install();
    const streamed = page.waitForResponse(STREAM);
    await begin(page, dashboard.saldo.httpUrl, "Rp 25.000");
    await streamed;
    let [refused, asked, answered] = [0, 0, 0];
    await context.route(STREAM, (route) => {
      refused += 1;
      return route.abort();
    });
    page.on("request", (request) => {
      if (isQuestion(request)) asked += 1;
    });
    const close = (request: Request) => {
      if (isQuestion(request)) answered += 1;
    };
    // A query that was canceled, because money has changed, counts as ended, too.
    page.on("requestfinished", close).on("requestfailed", close);
    await leaveAndComeBack(page);
    for (let streams = 1; streams <= 3; streams += 1) {
      // The clock of the page also runs by itself, so there may be more.
      await expect.poll(() => refused).toBeGreaterThanOrEqual(streams);
      await page.clock.runFor(LONGEST_WAIT_MS);
    }
    await press(demo, "Biarkan kedaluwarsa");
    const hasEnded = async () => {
      await page.clock.runFor(LONGEST_WAIT_MS);
      return cardOf(page).textContent();
    };
    await expect.poll(hasEnded).toContain("Waktu membayar sudah habis");
    expect(await cardOf(page).getByText("Kedaluwarsa").count()).toBe(1);
    expect(await cardOf(page).getByText("Bayar di halaman penyedia").count()).toBe(0);
    // Polls sent before the end are answered; afterwards, in the time of many polls, it sends none.
    const asksInLongTime = async () => {
      if (answered < asked) return "it waits for an answer";
      const before = asked;
      for (let waits = 0; waits < 3; waits += 1) await page.clock.runFor(LONGEST_WAIT_MS);
      return asked - before;
    };
    await expect.poll(asksInLongTime).toBe(0);
    await context.close();
    expectNoComplaints(dashboard);
  });

  it.each([
    ["9999", "Minimal Rp 10.000."],
    ["10000.5", "Tulis rupiah bulat, tanpa sen."],
    ["-10000", "Tulis angka saja, misalnya 25000 atau 0,5."],
    ["9.999", "Minimal Rp 10.000."],
    ["1000000001", "Maksimal Rp 1.000.000.000."],
  ])("shows why %s rupiah are not an amount, and opens no payment", async (amount, problem) => {
    const { page } = visit;
    await page.goto(`${dashboard.saldo.httpUrl}/billing`);
    await page.getByLabel("Jumlah lain").fill(amount);
    await page.getByRole("button", { name: "Lanjut ke pembayaran" }).click();
    await page.getByText(problem).last().waitFor();
    expect(page.context().pages()).toHaveLength(1);
    expect(new URL(page.url()).search).toBe("");
  });
});

/** Begins a payment, whose page opens in another tab, and leaves that tab. */
async function begin(page: Page, base: string, amount: string): Promise<void> {
  const payment = await openPayment(page, base, amount);
  await payment.close();
  await page.getByRole("link", { name: "Buka halaman pembayaran" }).waitFor();
}

/** Begins a payment: one press opens the provider's page. */
async function openPayment(page: Page, base: string, amount: string): Promise<Page> {
  await page.goto(`${base}/billing`);
  await page.getByRole("button", { name: amount }).click();
  const opening = page.context().waitForEvent("page");
  await page.getByRole("button", { name: "Lanjut ke pembayaran" }).click();
  const payment = await opening;
  await payment.getByRole("button", { name: "Bayar", exact: true }).waitFor();
  return payment;
}

/** Presses a button on the provider's page of the open payment. */
async function press({ page, context }: Visit, button: string): Promise<void> {
  const opening = context.waitForEvent("page");
  await page.getByRole("link", { name: "Buka halaman pembayaran" }).click();
  await pressAt(await opening, button);
}

async function pressAt(payment: Page, button: string): Promise<void> {
  await payment.getByRole("button", { name: button, exact: true }).click();
  await payment.locator("[data-status]:not([data-status=pending])").waitFor();
  await payment.close();
}

/** When the document was loaded: it changes with every load of the page. */
function loadsOf(page: Page): Promise<number> {
  return page.evaluate(() => performance.timeOrigin);
}

/** Whether a request polls the state of a top-up. */
function isQuestion(request: Request): boolean {
  return request.url().includes("BillingService/GetTopUp");
}

/** The card that begins and follows a payment. */
function cardOf(page: Page): Locator {
  return page.locator("section", { has: page.getByRole("heading", { level: 2, name: "Isi saldo", exact: true }) });
}

/** Hides the tab for a moment: its streams end, and start again. */
async function leaveAndComeBack(page: Page): Promise<void> {
  for (const state of ["hidden", "visible"]) {
    await page.evaluate(`Object.defineProperty(document, "visibilityState", { configurable: true, value: "${state}" });
      document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))`);
  }
}
