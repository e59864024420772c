// An operator finds a person in the security log and ends that person's sessions, in the browser.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Dashboard, expectNoComplaints, openDashboard, type Visit } from "./open-dashboard.ts";

const PAGE_SIZE = 50;

describe("the security log and the sessions of a person", () => {
  let dashboard: Dashboard;
  let page: Page;
  let customer: Visit & { readonly email: string };
  beforeAll(async () => {
    dashboard = await openDashboard();
    customer = await dashboard.signUp();
    ({ page } = await dashboard.visitDemo("/operator/security"));
  });
  afterAll(async () => {
    expectNoComplaints(dashboard);
    await dashboard.close();
  });

  const open = (path: string, on = page) => on.goto(dashboard.saldo.httpUrl + path);
  const rows = () => page.getByRole("table", { name: "Kejadian keamanan" }).locator("tbody tr");
  /** Reloads the log until it has the expected event: it does not refresh by itself. */
  const untilShown = async (path: string, text: RegExp) => {
    await expect
      .poll(
        async () => {
          await open(path);
          await page.locator(".animate-pulse").first().waitFor({ state: "detached" });
          return page.getByRole("main").innerText();
        },
        { interval: 500 },
      )
      .toMatch(text);
  };

  it("shows which key was refused, from where, and finds it by its outcome", async () => {
    const headers = { authorization: "Bearer gw_Ab3xZZZZZZZZZZZZZZZZZZZZZZZZ" };
    expect((await fetch(`${dashboard.saldo.httpUrl}/v1/models`, { headers })).status).toBe(401);
    await untilShown("/operator/security", /gw_Ab3x/);
    await page.getByLabel("Hasil").selectOption("refused");
    await page.waitForURL(/\?outcome=refused$/);
    await page.getByLabel("Kejadian", { exact: true }).selectOption("key_authentication");
    await page.waitForURL(/kind=key_authentication/);
    await expect.poll(() => rows().count()).toBe(1);
    const text = await rows().innerText();
    for (const part of ["Kunci API", "Ditolak", "Tidak dikenal", "127.0.0.1", "gw_Ab3x"]) expect(text).toContain(part);
    expect(text).not.toContain("ZZZZ");
  });

  it("finds a person by e-mail address, and opens an event with a link to the account", async () => {
    await untilShown(`/operator/security?person=${encodeURIComponent(customer.email)}`, /Verifikasi e-mail/);
    expect(await page.getByLabel("Orang (e-mail atau id)").inputValue()).toBe(customer.email);
    await rows().getByRole("button", { name: /\d/ }).first().click();
    const sheet = page.getByRole("dialog", { name: "Kejadian keamanan" });
    await sheet.getByText("127.0.0.1").first().waitFor();
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "hidden" });
    await page.getByLabel("Orang (e-mail atau id)").fill("unknown@saldo.example");
    await page.keyboard.press("Enter");
    await page.getByText("Tidak ada peristiwa yang cocok").waitFor();
  });

  it("ends the sessions of the person, shows how many, and records both", async () => {
    await customer.page.getByRole("navigation", { name: "Navigasi utama" }).waitFor();
    await open(`/operator/accounts?q=${encodeURIComponent(customer.email)}`);
    await page.getByRole("button", { name: customer.email }).click();
    // Removing access requires no proof.
    await dashboard.changeRows("UPDATE auth.session SET proved_at = now() - interval '6 minutes'");
    await page.getByRole("button", { name: "Akhiri sesi…" }).click();
    const sheet = page.getByRole("dialog", { name: "Akhiri semua sesi" });
    await sheet.getByText(customer.email).waitFor();
    await sheet.getByLabel(/^Alasan/).fill("laptop hilang");
    await sheet.getByRole("button", { name: "Akhiri sesi", exact: true }).click();
    await page.getByText("Semua sesi diakhiri").waitFor();
    await page.getByText("Sesi yang berakhir: 1").waitFor();
    await sheet.waitFor({ state: "hidden" });
    await open("/settings", customer.page);
    await customer.page.waitForURL(({ pathname }) => pathname === "/sign-in");
    await customer.page.getByRole("button", { name: "Masuk", exact: true }).waitFor();
    expect(new URL(customer.page.url()).pathname).toBe("/sign-in");

    await page.getByRole("button", { name: "Akhiri sesi…" }).click();
    await sheet.getByRole("button", { name: "Akhiri sesi", exact: true }).click();
    await page.getByText("Tidak ada sesi yang terbuka").waitFor();
    const accountId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    await page.getByRole("link", { name: "Lihat log keamanan" }).click();
    await page.waitForURL(new RegExp(`account=${accountId}`));
    await untilShown(`/operator/security?account=${accountId}`, /Sesi diakhiri[^]*by_operator/);
  });

  it("shows that no person has signed up with the address of an account", async () => {
    await dashboard.changeRows("UPDATE auth.person SET email = 'gone-' || email WHERE email = $1", [customer.email]);
    await open(`/operator/accounts?q=${encodeURIComponent(customer.email)}`);
    await page.getByRole("button", { name: customer.email }).click();
    await page.getByRole("button", { name: "Akhiri sesi…" }).click();
    await page.getByRole("button", { name: "Akhiri sesi", exact: true }).click();
    const sheet = page.getByRole("dialog", { name: "Akhiri semua sesi" });
    await sheet.getByText("Belum ada orang yang mendaftar").waitFor();
    await expect.poll(() => sheet.getByRole("alert").innerText()).toContain("Tidak ditemukan.");
  });

  it("loads page by page, with every event once", async () => {
    await dashboard.database.database.pool.query(
      `INSERT INTO auth.security_event (id, kind, outcome, subject)
       SELECT ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'passkey', 'refused', 'line-' || n
       FROM generate_series(1, $1::int) n`,
      [PAGE_SIZE + 5],
    );
    await open("/operator/security?kind=passkey");
    await expect.poll(() => rows().count()).toBe(PAGE_SIZE);
    await page.getByRole("button", { name: "Muat lebih banyak" }).click();
    await expect.poll(() => rows().count()).toBe(PAGE_SIZE + 5);
    const subjects = await rows()
      .getByText(/^line-/)
      .allInnerTexts();
    expect(new Set(subjects).size).toBe(PAGE_SIZE + 5);
    expect(await page.getByRole("button", { name: "Muat lebih banyak" }).count()).toBe(0);
  });
});
