// The frame around the pages of a signed-in person: signing out, and the navigation of a narrow page.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
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
});
