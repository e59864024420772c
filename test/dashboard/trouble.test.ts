// Failures around an open page: the network, the session, the files of another build, an answer.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cutOff } from "./cut-off.ts";
import { signInToDemo } from "./demo-pages.ts";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";

/** Longer than any answer is cached. */
const LATER_MS = 60_000;
const CALLS = /\/saldo\.[^/]+\//;
const ME = /AccountsService\/GetMe/;

describe("errors around a page", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await openDashboard();
  });
  afterAll(() => dashboard.close());

  const navigation = (page: Page) => page.getByRole("navigation", { name: "Navigasi utama" });

  /** A reader returns to a tab in the background. */
  const comeBack = (page: Page) =>
    page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");

  it("keeps a key that is shown once while the network is away", async () => {
    const { page, context } = await dashboard.visitDemo("/keys?create=true");
    await page.clock.install();
    await page.getByLabel("Nama", { exact: true }).fill("di kereta");
    await page.keyboard.press("Enter");
    const secret = (await page.getByTestId("secret").textContent()) ?? "";
    const network = await cutOff(context, CALLS);
    await page.clock.fastForward(LATER_MS);
    await comeBack(page);
    // It was fetched, retried, and given up.
    for (let waits = 0; waits < 4; waits += 1) {
      await expect.poll(network.refused).toBeGreaterThan(waits);
      await page.clock.runFor(10_000);
    }
    expect(await page.getByTestId("secret").textContent()).toBe(secret);
    await network.mend();
    await comeBack(page);
    await page.getByRole("button", { name: "Sudah saya salin" }).click();
    await page.getByRole("cell", { name: /^di kereta/ }).waitFor();
    await navigation(page).waitFor();
    await context.close();
  });

  it.each([
    {
      language: "id",
      away: "Tidak ada sambungan ke server.",
      asOf: /Data di halaman ini per .*\d WIB/,
      again: "Coba lagi",
    },
    { language: "en", away: "There is no connection to the server.", asOf: /from .*\d WIB/, again: "Try again" },
  ])("shows that data is old, and as of when, while the network is away: $language", async (each) => {
    const { page, context } = await dashboard.visitDemo("/billing");
    await page.evaluate(`localStorage.setItem("saldo.language", "${each.language}")`);
    await page.reload();
    await page.getByRole("table").first().waitFor();
    const banner = page.getByRole("status").filter({ hasText: each.away });
    expect(await banner.count()).toBe(0);
    await context.setOffline(true);
    await banner.waitFor();
    expect(await banner.innerText()).toMatch(each.asOf);
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    await context.setOffline(false);
    await banner.waitFor({ state: "detached" });
    await context.close();
  });

  it("shows that data is old while calls fail, until one more try succeeds", async () => {
    const { page, context } = await dashboard.visitDemo("/billing");
    await page.getByRole("table").first().waitFor();
    await page.clock.install();
    const network = await cutOff(context, CALLS);
    await page.clock.fastForward(LATER_MS);
    await comeBack(page);
    await expect.poll(network.refused).toBeGreaterThan(0);
    const banner = page.getByRole("status").filter({ hasText: "Tidak ada sambungan ke server." });
    await banner.waitFor();
    expect(await banner.innerText()).toMatch(/per .*\d WIB/);
    await network.mend();
    await banner.getByRole("button", { name: "Coba lagi" }).click();
    await page.clock.runFor(10_000);
    await banner.waitFor({ state: "detached" });
    expect(await page.getByTestId("available").textContent()).toMatch(/Rp/);
    await context.close();
  });

  it("keeps the links to other pages and to signing out when the person cannot be loaded", async () => {
    const { page, context } = await dashboard.visitDemo("/settings");
    const network = await cutOff(context, ME);
    await page.goto(`${dashboard.saldo.httpUrl}/usage`);
    const failed = page.getByRole("alert").filter({ hasText: "Bagian ini gagal dimuat" });
    await failed.waitFor();
    // The server was not reached, so there is no request id for support.
    await failed.getByText("Periksa sambungan Anda").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Keluar" }).count()).toBe(1);
    await page.getByTestId("total-cost").waitFor();
    await network.mend();
    await failed.getByRole("button", { name: "Coba lagi" }).click();
    await failed.waitFor({ state: "detached" });
    await context.close();
  });

  it("does not treat an operator as a customer while the person cannot be loaded", async () => {
    const { page, context } = await dashboard.visitDemo("/settings");
    const refused = page.getByText("Halaman ini hanya untuk operator");
    let lose = (): void => {};
    const isLost = new Promise<void>((resolve) => {
      lose = resolve;
    });
    await context.route(ME, async (route) => {
      await isLost;
      await route.abort();
    });
    await page.goto(`${dashboard.saldo.httpUrl}/operator/catalog`);
    await page.getByRole("main").getByRole("status").filter({ hasText: "Memuat…" }).waitFor();
    expect(await refused.count()).toBe(0);
    lose();
    const failed = page.getByRole("alert").filter({ hasText: "Bagian ini gagal dimuat" });
    await failed.waitFor();
    expect(await refused.count()).toBe(0);
    await context.unroute(ME);
    await failed.getByRole("button", { name: "Coba lagi" }).click();
    await page.getByRole("heading", { level: 1, name: "Katalog" }).waitFor();
    await context.close();
  });

  it.each(["/", "/usage?tab=requests&days=7", "/operator/ledger?view=trial"])(
    "comes back to %s when the session has ended and a new one began",
    async (path) => {
      const { page, context } = await dashboard.visitDemo(path);
      await navigation(page).waitFor();
      await context.clearCookies();
      await page.reload();
      // Without the cookie "/" is the page that welcomes strangers.
      if (path === "/") await page.getByRole("banner").getByRole("link", { name: "Masuk" }).click();
      await page.waitForURL(({ pathname }) => pathname === "/sign-in");
      await page.waitForLoadState("networkidle");
      const here = new URL(page.url());
      expect(here.searchParams.get("next") ?? "/").toBe(path);
      await page.getByRole("button", { name: /demo/i }).click();
      await page.waitForURL(dashboard.saldo.httpUrl + path);
      await navigation(page).waitFor();
      await context.close();
    },
  );

  it("redirects a signed-in person from the page for signing in", async () => {
    const { page, context } = await dashboard.visitDemo("/models");
    await page.goto(`${dashboard.saldo.httpUrl}/sign-in?next=%2Fsign-in%3Fnext%3D%252Fusage`);
    await page.waitForURL(`${dashboard.saldo.httpUrl}/`);
    await navigation(page).waitFor();
    expect(await page.getByLabel("Kata sandi").count()).toBe(0);
    await page.goto(`${dashboard.saldo.httpUrl}/sign-in?next=%2Fusage%3Fdays%3D7`);
    await page.waitForURL(`${dashboard.saldo.httpUrl}/usage?days=7`);
    await context.close();
  });

  it("reloads a page once when its file belongs to another build", async () => {
    const { page, context } = await dashboard.visitDemo("/models");
    const files = /\/assets\/settings-page-[^/]*\.js/;
    let missing = 0;
    await context.route(
      files,
      (route) => {
        missing += 1;
        return route.fulfill({ status: 404, body: "" });
      },
      { times: 1 },
    );
    await navigation(page).getByRole("link", { name: "Pengaturan" }).click();
    await page.getByRole("heading", { level: 1, name: "Pengaturan" }).waitFor();
    expect(missing).toBe(1);
    await context.close();
  });

  it.each([
    { language: "id", link: "Pengaturan", title: "Halaman ini tidak bisa ditampilkan", reload: "Muat ulang halaman" },
    { language: "en", link: "Settings", title: "This page cannot be shown", reload: "Reload the page" },
  ])("shows within the frame that a page failed to render: $language", async ({ language, link, title, reload }) => {
    const { page, context } = await dashboard.visitDemo("/models");
    await page.evaluate(`localStorage.setItem("saldo.language", "${language}")`);
    await page.reload();
    const files = /\/assets\/settings-page-[^/]*\.js/;
    await context.route(files, (route) => route.fulfill({ status: 404, body: "" }));
    await page.getByRole("link", { name: link, exact: true }).click();
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    await expect.poll(() => page.title()).toContain(title);
    expect(await page.getByRole("navigation").count()).toBeGreaterThan(0);
    await context.unroute(files);
    await page.getByRole("button", { name: reload }).click();
    await page.getByRole("heading", { level: 1, name: link }).waitFor();
    await context.close();
  });

  it("offers another try for a dialog whose file failed to load", async () => {
    const { page, context } = await dashboard.visit("/sign-in");
    await signInToDemo(page);
    const file = await cutOff(context, /\/assets\/set-fee-dialog-/);
    await page.goto(`${dashboard.saldo.httpUrl}/operator/fees`);
    const opens = page.getByRole("button", { name: "Tetapkan biaya…" });
    await opens.click();
    const failed = page.getByRole("alert").filter({ hasText: "Bagian ini gagal dimuat" });
    await failed.waitFor();
    expect(file.refused()).toBe(1);
    await file.mend();
    // Browsers remember a file that failed to load: the page is reloaded for it.
    const reloaded = page.waitForEvent("load");
    await failed.getByRole("button", { name: "Coba lagi" }).click();
    await reloaded;
    await opens.click();
    await page.getByRole("dialog").waitFor();
    await context.close();
  });

  it("keeps the overview in place while its first steps cannot be loaded", async () => {
    const { page, context } = await dashboard.visitDemo("/keys");
    await page.clock.install();
    const usage = await cutOff(context, /BillingService\/ListUsage/);
    await page.goto(dashboard.saldo.httpUrl);
    const balance = await page.locator("main p.digits").first().elementHandle();
    for (let asked = 0; asked < 8; asked += 1) {
      await expect.poll(usage.refused).toBeGreaterThan(asked);
      await page.clock.runFor(5_000);
    }
    expect(await balance?.evaluate((element) => element.isConnected)).toBe(true);
    await context.close();
  });

  it("does not end on the browser's error page when a page is opened without a network", async () => {
    const { page, context } = await dashboard.visitDemo("/models");
    await page.getByRole("row").nth(2).waitFor();
    await page.waitForLoadState("networkidle");
    await context.setOffline(true);
    await page.getByRole("link", { name: "Pengaturan", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Halaman ini tidak bisa ditampilkan" }).waitFor();
    await context.setOffline(false);
    await navigation(page).getByRole("link", { name: "Model", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Model" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/models");
    await context.close();
    expectNoComplaints(dashboard);
  });
});
