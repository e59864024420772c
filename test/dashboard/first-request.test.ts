// The first two minutes: somebody new signs up, makes a key, runs what the dialog shows, and sees the request arrive.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";

/** From the page that signing up ends on; what is typed is no click. */
const MOST_CLICKS = 3;
const SHOWN = { timeout: 15_000 };

describe("the first request", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await openDashboard();
  });
  afterAll(() => dashboard.close());

  it("is a few clicks away from signing up, and is seen as soon as it is done", async () => {
    const { page } = await dashboard.signUp();
    await page.goto(dashboard.saldo.httpUrl);
    let clicks = 0;
    const click = async (name: string) => {
      clicks += 1;
      await page.getByRole("main").or(page.getByRole("dialog")).getByRole("button", { name }).first().click();
    };
    clicks += 1;
    await page.getByRole("main").getByRole("link", { name: "Buat kunci" }).click();
    await page.getByLabel("Nama").fill("laptop <b>satu</b>");
    await click("Buat kunci");
    const secret = await page.getByTestId("secret").textContent();
    expect(secret).toMatch(/^gw_/);

    // It is not lost by what closes other dialogs.
    await page.keyboard.press("Escape");
    await page.mouse.click(3, 3);
    expect(await page.getByTestId("secret").textContent()).toBe(secret);
    await page.getByText("Menunggu permintaan pertama…").waitFor();

    const dialog = page.getByRole("dialog");
    const command = (await dialog.getByLabel("curl", { exact: true }).textContent()) ?? "";
    const { stdout } = await promisify(execFile)("sh", ["-c", `${command} --silent`]);
    expect(JSON.parse(stdout)).toMatchObject({ object: "chat.completion" });
    await dialog.getByText("Permintaan pertama berhasil").waitFor();
    clicks += 1;
    await dialog.getByRole("link", { name: "Lihat di pemakaian" }).click();
    await page.getByRole("dialog", { name: "Permintaan" }).getByText("laptop <b>satu</b>").waitFor();
    expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);
    expectNoComplaints(dashboard);
  });

  it("says which field signing up refuses, and that a link is spent", async () => {
    const { page } = await dashboard.visit("/sign-up");
    const signUp = page.getByRole("button", { name: "Daftar" });
    await page.getByLabel("Nama").fill("Siti");
    // A browser takes it for an address.
    await page.getByLabel("E-mail").fill("siti@saldo");
    await page.getByLabel("Kata sandi").fill("kuda laut menari di pagi hari");
    await signUp.click();
    const problem = page.locator("form [aria-live]");
    await expect.poll(() => problem.textContent(), SHOWN).toBe("Alamat e-mail itu tidak lengkap atau salah tulis.");
    await page.getByLabel("E-mail").fill("siti@saldo.example");
    await page.getByLabel("Kata sandi").fill("siti@saldo.example");
    await signUp.click();
    await expect.poll(() => problem.textContent(), SHOWN).toBe("Kata sandi terlalu pendek atau terlalu mudah ditebak.");
    await page.goto(`${dashboard.saldo.httpUrl}/reset-password?token=spent`);
    await page.getByLabel("Kata sandi baru").fill("penyu hijau berenang pelan");
    await page.getByRole("button", { name: "Simpan kata sandi" }).click();
    await expect
      .poll(() => problem.textContent(), SHOWN)
      .toBe("Tautan ini sudah terpakai atau kedaluwarsa. Minta yang baru.");
  });

  it("stops with a key that was revoked by its name", async () => {
    const { page } = await dashboard.signUp();
    await page.goto(`${dashboard.saldo.httpUrl}/keys?create=true`);
    await page.getByLabel("Nama").fill("ci");
    await page.keyboard.press("Enter");
    const secret = (await page.getByTestId("secret").textContent()) ?? "";
    await page.getByRole("button", { name: "Sudah saya salin" }).click();
    await page.getByRole("button", { name: "Cabut: ci" }).click();
    const revoke = page.getByRole("dialog").getByRole("button", { name: "Cabut" });
    expect(await revoke.isDisabled()).toBe(true);
    await page.getByRole("dialog").getByRole("textbox").fill("ci");
    await revoke.click();
    await page.getByRole("cell", { name: "Dicabut" }).waitFor();
    expect(await page.content()).not.toContain(secret);
    const refused = await fetch(`${dashboard.saldo.httpUrl}/v1/models`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    expect(refused.status).toBe(401);
  });
});
