// A second factor in the dashboard: set up, used to sign in, requested for important actions, and required of
// operators.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeOfNow } from "../identity/authenticators.ts";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";

const PASSWORD = "kuda laut menari di pagi hari";

describe("a second factor", () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await openDashboard();
  });
  afterAll(async () => {
    expectNoComplaints(dashboard);
    await dashboard.close();
  });

  /** Passkeys work for host names only. */
  const byName = (path: string) => dashboard.saldo.httpUrl.replace("127.0.0.1", "localhost") + path;

  /** Sets up an app on the open page; returns its secret and the recovery codes. */
  async function setUpApp(page: Page): Promise<{ secret: string; codes: string[] }> {
    await page.getByRole("button", { name: "Pasang aplikasi" }).click();
    await page.getByRole("img", { name: "Kode QR untuk aplikasi autentikator" }).waitFor();
    const secret = (await page.getByLabel("Kunci", { exact: true }).innerText()).replaceAll(" ", "");
    await page.getByLabel("Kode 6 angka dari aplikasi").fill(await codeOfNow(dashboard.database.database.pool, secret));
    await page.getByRole("button", { name: "Konfirmasi" }).click();
    await page.getByRole("heading", { name: "Simpan kode pemulihan Anda" }).waitFor();
    const codes = await page.getByRole("list", { name: "Kode pemulihan" }).getByRole("listitem").allInnerTexts();
    await page.getByRole("button", { name: "Sudah saya simpan" }).click();
    await page.getByText("10 kode tersisa.").waitFor();
    return { secret, codes };
  }

  it("is set up in the settings, and is then a second step of signing in", async () => {
    const { page, email } = await dashboard.signUp();
    await page.goto(`${dashboard.saldo.httpUrl}/settings`);
    const { secret, codes } = await setUpApp(page);
    expect(codes).toHaveLength(10);
    const other = await dashboard.visit("/sign-in");
    const signIn = async () => {
      await other.page.getByLabel("E-mail").fill(email);
      await other.page.getByLabel("Kata sandi").fill(PASSWORD);
      await other.page.getByRole("button", { name: "Masuk", exact: true }).click();
      await other.page.getByRole("heading", { name: "Langkah kedua" }).waitFor();
    };
    await signIn();
    const code = other.page.getByLabel("Kode 6 angka dari aplikasi");
    await code.fill("000000");
    await other.page.getByRole("button", { name: "Konfirmasi" }).click();
    await other.page.getByText("Salah, kedaluwarsa, atau sudah dipakai.").waitFor();
    await code.fill(await codeOfNow(dashboard.database.database.pool, secret));
    await other.page.getByRole("button", { name: "Konfirmasi" }).click();
    await other.page.getByRole("navigation", { name: "Navigasi utama" }).waitFor();
    await other.context.clearCookies();
    await other.page.goto(`${dashboard.saldo.httpUrl}/sign-in`);
    await signIn();
    await other.page.getByRole("button", { name: "Pakai kode pemulihan" }).click();
    await other.page.getByLabel("Kode pemulihan").fill(codes[0] ?? "");
    await other.page.getByRole("button", { name: "Konfirmasi" }).click();
    await other.page.getByRole("navigation", { name: "Navigasi utama" }).waitFor();
  });

  it("is required of an operator, who is redirected to set it up", async () => {
    const { page, email } = await dashboard.signUp();
    await dashboard.changeRows("UPDATE auth.person SET is_operator = true WHERE email = $1", [email]);
    await page.goto(`${dashboard.saldo.httpUrl}/operator/accounts`);
    await page.getByRole("heading", { name: "Aktifkan verifikasi dua langkah" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/second-factor");
    await setUpApp(page);
    await page.getByRole("link", { name: "Lanjutkan" }).click();
    await page.goto(`${dashboard.saldo.httpUrl}/operator/accounts`);
    await page.getByRole("heading", { name: "Akun", level: 2 }).or(page.getByRole("table")).first().waitFor();
  });

  it("can be a passkey, which confirms an important action", async () => {
    const { page, context, email } = await dashboard.signUp();
    const devices = await context.newCDPSession(page);
    await devices.send("WebAuthn.enable");
    await devices.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    const [session] = (await context.cookies()).filter(({ name }) => name === "saldo_session");
    await context.addCookies([{ ...session, name: "saldo_session", value: session?.value ?? "", domain: "localhost" }]);
    await page.goto(byName("/settings"));
    await page.getByRole("button", { name: "Tambah passkey" }).click();
    await page.getByLabel("Nama passkey").fill("Ponsel");
    await page.getByRole("dialog").getByRole("button", { name: "Tambah passkey" }).click();
    await page.getByRole("button", { name: "Sudah saya simpan" }).click();
    await page.getByRole("list", { name: "Passkey" }).getByText("Ponsel").waitFor();
    await dashboard.changeRows(
      "UPDATE auth.session s SET proved_at = now() - interval '6 minutes' FROM auth.person p WHERE p.id = s.user_id AND p.email = $1",
      [email],
    );
    await page.goto(byName("/transfers/sandbox"));
    await page.getByRole("button", { name: "Buat merchant sandbox" }).click();
    await page.getByRole("heading", { name: "Konfirmasi bahwa ini Anda" }).waitFor();
    await page.getByRole("button", { name: "Pakai passkey" }).click();
    await page.getByRole("button", { name: "Sudah saya simpan" }).click();
    await context.clearCookies();
    await page.goto(byName("/sign-in"));
    await page.getByRole("button", { name: "Masuk dengan passkey" }).click();
    await page.getByRole("navigation", { name: "Navigasi utama" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/");
  });
});
