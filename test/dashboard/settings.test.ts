// A person's own settings, and ending sessions.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Dashboard, expectNoComplaints, openDashboard, type Visit } from "./open-dashboard.ts";

describe("settings", () => {
  let dashboard: Dashboard;
  let visit: Visit;
  beforeAll(async () => {
    dashboard = await openDashboard();
    visit = await dashboard.signUp();
    await visit.page.goto(`${dashboard.saldo.httpUrl}/settings`);
  });
  afterAll(() => dashboard.close());

  it("saves the threshold of the alert, and removes it again", async () => {
    const { page } = visit;
    const threshold = page.getByLabel("Batas dalam rupiah");
    const save = page.locator("form", { has: threshold }).getByRole("button", { name: "Simpan" });
    await threshold.fill("50.000,5");
    await save.click();
    await page.getByText("Tulis rupiah bulat, tanpa sen.").waitFor();
    await threshold.fill("50.000");
    await page.getByText("= Rp 50.000").waitFor();
    await save.click();
    // A new account has nothing, which is below the threshold.
    await page.getByText(/^(Aktif|Saldo di bawah batas)$/).waitFor();
    await page.reload();
    await expect.poll(() => threshold.inputValue()).toBe("50000");
    await threshold.fill("");
    await save.click();
    const alert = page.locator("section", { hasText: "Peringatan saldo" });
    await alert.getByText("Nonaktif", { exact: true }).waitFor();
  });

  it("saves the time zone of budgets", async () => {
    const { page } = visit;
    const zone = page.getByLabel("Zona waktu", { exact: true });
    const save = page.locator("form", { has: zone }).getByRole("button", { name: "Simpan" });
    await expect.poll(() => zone.inputValue()).toBe("Asia/Jakarta");
    expect(await save.isDisabled()).toBe(true);
    await zone.selectOption("Asia/Makassar");
    await page.getByText("tidak lebih awal dari semula").waitFor();
    await save.click();
    await page.getByText("Pengaturan disimpan").first().waitFor();
    await expect.poll(() => save.isDisabled()).toBe(true);
    await page.reload();
    await expect.poll(() => zone.inputValue()).toBe("Asia/Makassar");
  });

  it("is shown in the saved language", async () => {
    const { page } = visit;
    const formOf = (label: string) => page.locator("form", { has: page.getByLabel(label) });
    await page.getByLabel("Bahasa dasbor dan e-mail").selectOption("en");
    await formOf("Bahasa dasbor dan e-mail").getByRole("button", { name: "Simpan" }).click();
    await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
    await page.getByLabel("Language of the dashboard and of mails").selectOption("id");
    await formOf("Language of the dashboard and of mails").getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Pengaturan", level: 1 }).waitFor();
    await expect.poll(() => page.evaluate("document.documentElement.lang")).toBe("id");
  });

  it("follows the language that is chosen at the top, and shows that mails do not yet", async () => {
    const { page } = visit;
    const corner = (name: string) => page.getByRole("group", { name }).getByText("EN", { exact: true });
    await corner("Bahasa").click();
    const chosen = page.getByLabel("Language of the dashboard and of mails");
    await expect.poll(() => chosen.inputValue()).toBe("en");
    await page.getByText("Mails are still sent in the other language").waitFor();
    await chosen.selectOption("id");
    await page.locator("form", { has: chosen }).getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Pengaturan", level: 1 }).waitFor();
  });

  it("refuses a wrong current password, and changes it with the right one", async () => {
    const { page } = visit;
    await page.getByLabel("Kata sandi sekarang").fill("bukan yang ini sama sekali");
    await page.getByLabel("Kata sandi baru").fill("penyu hijau berenang pelan");
    const change = page.getByRole("button", { name: "Ganti kata sandi" });
    await change.click();
    await page.getByText("Kata sandi sekarang salah.").waitFor();
    await page.getByLabel("Kata sandi sekarang").fill("kuda laut menari di pagi hari");
    await change.click();
    await page.getByText("Kata sandi diganti").waitFor();
    await page.reload();
    const here = page.getByRole("table", { name: "Sesi aktif" }).getByText("Perangkat ini");
    await here.first().waitFor();
    expect(await here.count()).toBe(1);
  });

  it("sends the mail of a sign-up again, and shows where a demo's mails are", async () => {
    const { page, context } = await dashboard.visit("/sign-up");
    const { email } = await dashboard.fillSignUp(page);
    await page.getByRole("button", { name: "Daftar" }).click();
    await page.getByText("Ini demo: tanpa server e-mail").waitFor();
    await page.getByRole("button", { name: "Kirim lagi" }).click();
    await page.getByText("Dikirim lagi.").waitFor();
    await expect.poll(() => dashboard.mails.mails.filter(({ to }) => to === email).length).toBe(2);
    await context.close();
  });

  it("signs out everywhere, including here", async () => {
    const { page } = visit;
    await page.getByRole("button", { name: "Keluar dari semua tempat" }).click();
    const question = page.getByRole("dialog", { name: "Keluar dari semua tempat?" });
    await question.getByRole("button", { name: "Keluar dari semua tempat" }).click();
    await page.waitForURL(/\/sign-in/);
    await page.goto(`${dashboard.saldo.httpUrl}/settings`);
    await page.waitForURL(/\/sign-in/);
    await page.getByRole("button", { name: "Masuk", exact: true }).waitFor();
    expect(await page.getByRole("table", { name: "Sesi aktif" }).count()).toBe(0);
    expectNoComplaints(dashboard);
  });
});
