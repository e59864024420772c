// An operator makes a service token in the browser, after a proof, sees it once, and revokes it.

import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findDemo } from "../../src/app/demo/demo.ts";
import { codeOfNow } from "../identity/authenticators.ts";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";

describe("the page of service tokens", () => {
  let dashboard: Dashboard;
  let page: Page;
  let accountId: string;
  let appSecret: string;
  let token: string;
  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ accountId } = await findDemo(dashboard.database.database));
    // A person with a second factor: the demo's person has no factor to prove with.
    const operator = await dashboard.signUp();
    ({ page } = operator);
    await dashboard.changeRows("UPDATE auth.person SET is_operator = true WHERE email = $1", [operator.email]);
    await page.goto(`${dashboard.saldo.httpUrl}/second-factor`);
    await page.getByRole("button", { name: "Pasang aplikasi" }).click();
    await page.getByRole("img", { name: "Kode QR untuk aplikasi autentikator" }).waitFor();
    appSecret = (await page.getByLabel("Kunci", { exact: true }).innerText()).replaceAll(" ", "");
    await page
      .getByLabel("Kode 6 angka dari aplikasi")
      .fill(await codeOfNow(dashboard.database.database.pool, appSecret));
    await page.getByRole("button", { name: "Konfirmasi" }).click();
    await page.getByRole("button", { name: "Sudah saya simpan" }).click();
    await page.goto(`${dashboard.saldo.httpUrl}/operator/service-tokens`);
  });
  afterAll(async () => {
    expectNoComplaints(dashboard);
    await dashboard.close();
  });

  const list = () => page.getByRole("table", { name: "Token layanan" });
  const dialog = (name: string) => page.getByRole("dialog", { name });

  it("is empty at first, and refuses a token without a scope or an account", async () => {
    await page.getByText("Belum ada token layanan").waitFor();
    await page.getByRole("button", { name: "Buat token…" }).click();
    const form = dialog("Buat token layanan");
    const review = form.getByRole("button", { name: "Periksa dulu" });
    const [name, account] = [form.getByRole("textbox", { name: "Nama" }), form.getByLabel("ID akun")];
    const reading = form.getByRole("checkbox", { name: "Membaca" });
    /** The browser's validation message of the field that it focuses. */
    const complaintOf = (field: Locator) =>
      field.evaluate((element) =>
        element === element.ownerDocument.activeElement ? Reflect.get(element, "validationMessage") : null,
      );
    await review.click();
    await expect.poll(() => complaintOf(name)).toBe("Isi kolom ini.");
    await name.fill("laporan-harian");
    await review.click();
    await expect.poll(() => complaintOf(account)).toBe("Isi kolom ini.");
    await account.fill(accountId);
    await reading.uncheck();
    await review.click();
    await expect.poll(() => complaintOf(reading)).toBe("Pilih minimal satu hak.");
    await reading.check();
  });

  it("asks for a fresh proof, then shows the token once, which works for its scopes", async () => {
    const form = dialog("Buat token layanan");
    await form.getByRole("checkbox", { name: "Kunci API" }).check();
    await form.getByLabel("Masa berlaku").selectOption("30");
    await form.getByRole("button", { name: "Periksa dulu" }).click();
    await form.getByText("Membaca, Kunci API").waitFor();
    await dashboard.changeRows("UPDATE auth.session SET proved_at = now() - interval '6 minutes'");
    await form.getByRole("button", { name: "Buat token", exact: true }).click();
    const proof = dialog("Konfirmasi bahwa ini Anda");
    await proof
      .getByLabel("Kode 6 angka dari aplikasi")
      .fill(await codeOfNow(dashboard.database.database.pool, appSecret));
    await proof.getByRole("button", { name: "Konfirmasi" }).click();
    const shown = dialog("Simpan token ini sekarang");
    token = await shown.getByText(/^st_\w+$/).innerText();
    await page.keyboard.press("Escape");
    expect(await shown.count()).toBe(1);
    await shown.getByRole("button", { name: "Sudah saya simpan" }).click();
    await shown.waitFor({ state: "hidden" });
    expect(await page.content()).not.toContain(token);
    const row = await list()
      .getByRole("row", { name: /laporan-harian/ })
      .innerText();
    for (const part of ["Membaca, Kunci API", "demo@saldo.example", "belum pernah", "Aktif"])
      expect(row).toContain(part);
    expect((await balanceWith(token)).status).toBe(200);
    const { rows } = await dashboard.database.database.pool.query(
      "SELECT expires_at::date - current_date AS days FROM service_token",
    );
    expect(rows).toEqual([{ days: 30 }]);
  });

  it("revokes it at once, without another proof, and lists it as revoked", async () => {
    await dashboard.changeRows("UPDATE auth.session SET proved_at = now() - interval '6 minutes'");
    await page.getByRole("button", { name: "Cabut: laporan-harian" }).click();
    await dialog("Cabut token ini").getByRole("button", { name: "Cabut token" }).click();
    await page.getByText("Token dicabut").waitFor();
    await list().getByText("Dicabut", { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Cabut: laporan-harian" }).count()).toBe(0);
    expect((await balanceWith(token)).status).toBe(401);
  });

  /** A call as an internal service sends it. */
  const balanceWith = (secret: string) =>
    fetch(`${dashboard.saldo.httpUrl}/saldo.billing.v1.BillingService/GetBalance`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: "{}",
    });
});
