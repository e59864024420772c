// The limits of a key in the browser: set while it is made, shown in the list, changed and taken away.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";

const LIMITS = `SELECT budget::text AS budget, budget_period AS period, allowed_models AS models, expires_at AS "expiresAt", allowed_networks AS networks, rate_limit AS rate, token_limit AS tokens
  FROM api_key WHERE name = $1`;

describe("the limits of a key", () => {
  let dashboard: Dashboard;
  let page: Page;
  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ page } = await dashboard.visitDemo("/keys?create=true"));
  });
  afterAll(async () => {
    expectNoComplaints(dashboard);
    await dashboard.close();
  });

  const dialog = () => page.getByRole("dialog");
  const row = (name: string) => page.getByRole("row").filter({ hasText: name });
  const limitsOf = async (name: string): Promise<unknown> =>
    (await dashboard.database.database.pool.query(LIMITS, [name])).rows[0];

  it("are set while it is made, and shown with what is left", async () => {
    await dialog().getByLabel("Nama", { exact: true }).fill("proyek");
    await dialog().getByText("Batasi kunci ini").click();
    await dialog().getByLabel("Anggaran (Rp)").fill("50.000,5");
    await dialog().getByLabel("Periode").selectOption({ label: "Per hari" });
    await dialog().getByLabel("Berlaku sampai").fill("2099-12-31");
    await dialog().getByLabel("Model yang diizinkan").fill("demo/*, acme/large");
    await dialog().getByLabel("Permintaan per menit").fill("61");
    await dialog().getByLabel("Token per menit").fill("1,5");
    await dialog().getByLabel("Jaringan yang diizinkan").fill("kantor");
    await dialog().getByRole("button", { name: "Buat kunci" }).click();
    await dialog().getByText("Tulis angka bulat dari 1 sampai batas dari operator.").waitFor();
    await dialog().getByText("Tulis maksimal 100 alamat IPv4 atau IPv6").waitFor();
    await dialog().getByText("Tulis angka bulat dari 1 sampai 1000000000.").waitFor();
    await dialog().getByLabel("Permintaan per menit").fill("30");
    await dialog().getByLabel("Token per menit").fill("50000");
    await dialog().getByLabel("Jaringan yang diizinkan").fill("203.0.113.0/24, 2001:db8::7");
    await dialog().getByRole("button", { name: "Buat kunci" }).click();
    await page.getByRole("button", { name: "Sudah saya salin" }).click();
    await row("proyek").getByText("Rp 50.000,50/hari").last().waitFor();
    await row("proyek").getByText("sisa Rp 50.000,50").last().waitFor();
    await row("proyek").getByText("50.000 token/menit").last().waitFor();
    expect(await limitsOf("proyek")).toEqual({
      budget: "50000500000",
      period: "day",
      models: ["demo/*", "acme/large"],
      expiresAt: new Date("2099-12-31T17:00:00Z"),
      networks: ["203.0.113.0/24", "2001:db8::7"],
      rate: 30,
      tokens: 50_000,
    });
  });

  it("are changed, and taken away, without losing those that stay", async () => {
    await page.getByRole("button", { name: "Ubah: proyek" }).click();
    expect(await dialog().getByLabel("Berlaku sampai").inputValue()).toBe("2099-12-31");
    await dialog().getByLabel("Anggaran (Rp)").fill("");
    expect(await dialog().getByLabel("Permintaan per menit").inputValue()).toBe("30");
    await dialog().getByLabel("Permintaan per menit").fill("");
    await dialog().getByLabel("Nama", { exact: true }).fill("proyek baru");
    await dialog().getByRole("button", { name: "Simpan" }).click();
    await row("proyek baru").waitFor();
    expect(await limitsOf("proyek baru")).toMatchObject({
      budget: null,
      period: null,
      models: ["demo/*", "acme/large"],
      networks: ["203.0.113.0/24", "2001:db8::7"],
      rate: 60,
      tokens: 50_000,
    });
  });

  it("are named where they are wrong", async () => {
    await page.getByRole("button", { name: "Ubah: proyek baru" }).click();
    await dialog().getByLabel("Anggaran (Rp)").fill("banyak");
    await dialog().getByLabel("Berlaku sampai").fill("2020-01-01");
    await dialog().getByRole("button", { name: "Simpan" }).click();
    await dialog().getByText("Tulis angka saja").waitFor();
    await dialog().getByText("Pilih hari ini atau sesudahnya.").waitFor();
    expect(await limitsOf("proyek baru")).toMatchObject({ budget: null, expiresAt: new Date("2099-12-31T17:00:00Z") });
    await page.keyboard.press("Escape");
  });

  it("are set, changed and refused in English, in English notation", async () => {
    await page.evaluate(`localStorage.setItem("saldo.language", "en")`);
    await page.goto(`${dashboard.saldo.httpUrl}/keys?create=true`);
    await dialog().getByLabel("Name", { exact: true }).fill("project");
    await dialog().getByText("Limit this key").click();
    await dialog().getByLabel("Budget (Rp)").fill("50,000.5");
    await dialog().getByLabel("Period").selectOption({ label: "Per month" });
    await dialog().getByLabel("Allowed models").fill("demo/small");
    await dialog().getByLabel("Allowed networks").fill("office");
    await dialog().getByRole("button", { name: "Create key" }).click();
    await dialog().getByText("Enter at most 100 addresses of IPv4 or IPv6").waitFor();
    await dialog().getByLabel("Allowed networks").fill("203.0.113.0/24");
    await dialog().getByRole("button", { name: "Create key" }).click();
    await page.getByRole("button", { name: "I have copied it" }).click();
    await row("project").getByText("Rp 50,000.50/month").last().waitFor();
    await row("project").getByText("left Rp 50,000.50").last().waitFor();
    expect(await limitsOf("project")).toMatchObject({ budget: "50000500000", period: "month", models: ["demo/small"] });
    await page.getByRole("button", { name: "Edit: project" }).click();
    await dialog().getByLabel("Budget (Rp)").fill("");
    await dialog().getByLabel("Works until").fill("2020-01-01");
    await dialog().getByRole("button", { name: "Save" }).click();
    await dialog().getByText("Choose today or a later day.").waitFor();
    await dialog().getByLabel("Works until").fill("");
    await dialog().getByRole("button", { name: "Save" }).click();
    await dialog().waitFor({ state: "detached" });
    expect(await limitsOf("project")).toMatchObject({ budget: null, expiresAt: null, models: ["demo/small"] });
  });
});
