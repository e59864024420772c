// The frame around the pages of a signed-in person: signing out, and the navigation of a narrow page.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser } from "./chromium.ts";
import { signInToDemo } from "./demo-pages.ts";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";

const PHONE = { viewport: { width: 390, height: 844 } };

describe("the frame of the pages", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await openDashboard();
  });
  afterAll(async () => {
    expectNoComplaints(dashboard);
    await dashboard.close();
  });

  it("stays, shows the error and offers another try where signing out failed", async () => {
    const { page, context } = await dashboard.visitDemo("/models");
    const way = /\/auth\/sign-out/;
    await context.route(way, (route) => route.abort());
    await page.getByRole("button", { name: "Keluar", exact: true }).click();
    await page.getByText("Anda belum keluar").waitFor();
    expect(new URL(page.url()).pathname).toBe("/models");
    // Both the browser and the server still have the session.
    await page.goto(`${dashboard.saldo.httpUrl}/sign-in`);
    await page.waitForURL(({ pathname }) => pathname === "/");
    await page.getByRole("button", { name: "Keluar", exact: true }).click();
    const again = page.getByRole("button", { name: "Coba keluar lagi" });
    await again.waitFor();
    await context.unroute(way);
    await again.click();
    await page.waitForURL(/\/sign-in/);
    await page.getByLabel("Kata sandi").waitFor();
    await context.close();
  });

  it.each([360, 1280])("names the demo once, and its header is one line, at %d px", async (width) => {
    const { page, context } = await dashboard.visitDemo("/usage", { viewport: { width, height: 800 } });
    await page.getByRole("link", { name: /^Saldo tersedia/ }).waitFor();
    await page.getByText("Demo", { exact: true }).filter({ visible: true }).first().waitFor();
    expect(await page.getByText("Demo", { exact: true }).filter({ visible: true }).count()).toBe(1);
    // The language's two choices stay beside each other, in the header.
    await expect
      .poll(() => page.getByRole("group", { name: "Bahasa" }).evaluate((box) => box.getBoundingClientRect().bottom))
      .toBeLessThanOrEqual(56);
    await context.close();
  });

  it("names the demo before the person is loaded, so that nothing moves then", async () => {
    const { page, context } = await dashboard.visitDemo("/models", PHONE);
    const top = () => page.getByRole("main").evaluate((main) => main.getBoundingClientRect().top);
    const answer = Promise.withResolvers<void>();
    await context.route(/AccountsService\/GetMe/, async (route) => {
      await answer.promise;
      await route.continue();
    });
    await page.reload();
    await page.getByText("Demo", { exact: true }).filter({ visible: true }).waitFor();
    const early = await top();
    const loaded = page.waitForResponse(/AccountsService\/GetMe/);
    answer.resolve();
    await loaded;
    await page.getByRole("link", { name: /^Saldo tersedia/ }).waitFor();
    expect(await top()).toBe(early);
    await context.close();
  });

  it("leaves where the session had already ended", async () => {
    const { page, context } = await dashboard.visitDemo("/models");
    await context.route(/\/auth\/sign-out/, (route) => route.fulfill({ status: 401, json: {} }));
    await page.getByRole("button", { name: "Keluar", exact: true }).click();
    await page.waitForURL(/\/sign-in/);
    expect(await page.evaluate("localStorage.getItem('saldo.was-signed-in')")).toBe("no");
    await context.close();
  });

  it("asks for a sign-in when the password is changed in an ended session, and does not call the password wrong", async () => {
    const { page, context } = await dashboard.visitDemo("/settings");
    await page.getByLabel("Kata sandi sekarang").fill("kuda laut menari di pagi hari");
    await page.getByLabel("Kata sandi baru").fill("penyu hijau berenang pelan");
    await context.clearCookies();
    await page.getByRole("button", { name: "Ganti kata sandi" }).click();
    await page.waitForURL(
      ({ pathname, searchParams }) => pathname === "/sign-in" && searchParams.get("next") === "/settings",
    );
    await page.getByRole("button", { name: "Masuk", exact: true }).waitFor();
    expect(await page.getByText("salah").count()).toBe(0);
    await context.close();
  });

  it("closes the navigation of a narrow page by Escape and by choosing the open page", async () => {
    const { page, context } = await dashboard.visitDemo("/models", PHONE);
    const navigation = page.getByRole("navigation", { name: "Navigasi utama" });
    const button = page.getByRole("button", { name: "Buka navigasi" });
    await button.click();
    await navigation.waitFor();
    await page.keyboard.press("Escape");
    await navigation.waitFor({ state: "hidden" });
    await expect.poll(() => button.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    await button.click();
    await navigation.getByRole("link", { name: "Model", exact: true }).click();
    await navigation.waitFor({ state: "hidden" });
    expect(new URL(page.url()).pathname).toBe("/models");
    await context.close();
  });

  it("keeps the header in place from page to page and below a dialog, and leaves no light strip beside it", async () => {
    await using stack = new AsyncDisposableStack();
    const browser = await startBrowser({ hasScrollbars: true });
    stack.defer(() => browser.close());
    const context = await browser.newContext({ locale: "id-ID", viewport: { width: 1280, height: 500 } });
    const page = await context.newPage();
    await page.goto(`${dashboard.saldo.httpUrl}/sign-in?next=%2Fmodels`);
    await signInToDemo(page);
    const rows = page.getByRole("table").getByRole("button");
    await rows.first().waitFor();
    const widthOfHeader = () => page.evaluate<number>("document.querySelector('header').clientWidth");
    const width = await widthOfHeader();
    // Without scrollbars that take width, this test would show nothing.
    expect(width).toBeLessThan(1280 - 224);
    await rows.first().click();
    await page.getByRole("dialog").waitFor();
    await expect.poll(() => page.evaluate("getComputedStyle(document.body).overflowY")).toBe("hidden");
    expect(await widthOfHeader()).toBe(width);
    // The sheet reaches to the edge: its colour goes on in the gutter.
    expect(await brightnessAt(page, 1278)).toBe(255);
    await page.goto(`${dashboard.saldo.httpUrl}/keys?create=true`);
    await page.getByRole("dialog").waitFor();
    await expect.poll(() => page.evaluate("getComputedStyle(document.body).overflowY")).toBe("hidden");
    expect(await widthOfHeader()).toBe(width);
    expect(await brightnessAt(page, 1278)).toBeLessThan(150);
    await page.setViewportSize({ width: 1280, height: 4_000 });
    await page.goto(`${dashboard.saldo.httpUrl}/keys`);
    await page.getByRole("table").waitFor();
    expect(await page.evaluate("document.documentElement.scrollHeight <= innerHeight")).toBe(true);
    expect(await widthOfHeader()).toBe(width);
  });
});

/** The brightness that a reader sees in the middle of a column of the window, from 0 to 255. */
async function brightnessAt(page: Page, x: number): Promise<number> {
  const height = page.viewportSize()?.height ?? 0;
  const picture = await page.screenshot({ clip: { x, y: height / 2, width: 1, height: 1 } });
  // Another page decodes the picture: the policy of the dashboard's pages allows no pictures in addresses.
  const reader = await page.context().newPage();
  const address = `data:image/png;base64,${picture.toString("base64")}`;
  const brightness = await reader.evaluate<number>(`(async () => {
    const picture = new Image();
    picture.src = "${address}";
    await picture.decode();
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    canvas.drawImage(picture, 0, 0);
    return canvas.getImageData(0, 0, 1, 1).data[0];
  })()`);
  await reader.close();
  return brightness;
}
