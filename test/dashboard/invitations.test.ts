// The way of a new person from the link of an invitation to the account, in both languages: with sign-up on the same or another device,
// and without the link. And the language of a sign-up, which is that of the new account alone.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";

const PASSWORD = "kuda laut menari di pagi hari";
const TEXTS = {
  id: {
    locale: "id-ID",
    members: "Anggota",
    inviteMember: "Undang anggota",
    address: "Alamat e-mail",
    role: "Peran",
    developer: "Pengembang",
    send: "Kirim undangan",
    open: "Undangan terbuka",
    invited: "Anda diundang menjadi anggota sebuah akun.",
    name: "Nama",
    email: "E-mail",
    password: "Kata sandi",
    newPassword: "Kata sandi baru",
    signUp: "Daftar",
    signIn: "Masuk",
    save: "Simpan kata sandi",
    checkMail: "Periksa e-mail Anda",
    accept: "Terima undangan",
    account: "Akun",
    received: "Undangan untuk Anda",
    overview: "Ringkasan",
  },
  en: {
    locale: "en-GB",
    members: "Members",
    inviteMember: "Invite a member",
    address: "E-mail address",
    role: "Role",
    developer: "Developer",
    send: "Send the invitation",
    open: "Open invitations",
    invited: "You are invited to become a member of an account.",
    name: "Name",
    email: "E-mail",
    password: "Password",
    newPassword: "New password",
    signUp: "Sign up",
    signIn: "Sign in",
    save: "Save password",
    checkMail: "Check your mail",
    accept: "Accept the invitation",
    account: "Account",
    received: "Invitations to you",
    overview: "Overview",
  },
} as const;

describe.each(["id", "en"] as const)("an invited person without an account (%s)", (language) => {
  const texts = TEXTS[language];
  const options = { locale: texts.locale };
  let dashboard: Dashboard;
  let owner: Page;
  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ page: owner } = await dashboard.visitDemo("/members", options));
  });
  afterAll(async () => {
    expectNoComplaints(dashboard);
    await dashboard.close();
  });

  /** Invites a new address as the demo's person, and gives the address. */
  async function invite(): Promise<string> {
    const email = `${uuidv7()}@test.example`;
    await owner.getByRole("button", { name: texts.inviteMember }).click();
    const dialog = owner.getByRole("dialog");
    await dialog.getByLabel(texts.address).fill(email);
    await dialog.getByLabel(texts.role).selectOption({ label: texts.developer });
    await dialog.getByRole("button", { name: texts.send }).click();
    await owner.getByRole("table", { name: texts.open }).getByText(email).waitFor();
    return email;
  }

  async function signUp(page: Page, email: string): Promise<string> {
    await page.getByLabel(texts.name).fill("Siti");
    await page.getByLabel(texts.email).fill(email);
    await page.getByLabel(texts.password).fill(PASSWORD);
    await page.getByRole("button", { name: texts.signUp }).click();
    await page.getByRole("heading", { name: texts.checkMail }).waitFor();
    return dashboard.mails.linkTo(email, /verify-email/);
  }

  /** Opens the link of an invitation without a session, up to the page for signing up. */
  async function openInvite(email: string) {
    const link = await dashboard.mails.linkTo(email, /\/invite\?token=/);
    const visit = await dashboard.visit(link.slice(new URL(link).origin.length), options);
    await visit.page.getByText(texts.invited).waitFor();
    await visit.page.getByRole("link", { name: texts.signUp }).click();
    await visit.page.getByRole("heading", { level: 1, name: texts.signUp }).waitFor();
    await visit.page.getByText(texts.invited).waitFor();
    return visit;
  }

  /** Accepts the shown invitation; returns what names the account that the page then shows. */
  async function accept(page: Page): Promise<() => Promise<string | null>> {
    await page.getByText("demo@saldo.example").first().waitFor();
    await page.getByRole("button", { name: texts.accept }).click();
    return () => page.getByLabel(texts.account, { exact: true }).locator("option:checked").textContent();
  }

  it("signs up from its link, and is led to it by the mail", async () => {
    const email = await invite();
    const { page, context } = await openInvite(email);
    await page.goto(await signUp(page, email));
    await page.waitForURL(/\/invite\?token=/);
    await expect.poll(await accept(page)).toBe("demo@saldo.example");
    await context.close();
  });

  it("is led to it on another device, after choosing a password and signing in there", async () => {
    const email = await invite();
    const { page, context } = await openInvite(email);
    const link = await signUp(page, email);
    await context.close();
    const phone = await dashboard.visit(link.slice(new URL(link).origin.length), options);
    await phone.page.getByLabel(texts.newPassword).fill(PASSWORD);
    await phone.page.getByRole("button", { name: texts.save }).click();
    await phone.page.getByRole("link", { name: texts.signIn }).click();
    await phone.page.getByText(texts.invited).waitFor();
    await phone.page.getByLabel(texts.email).fill(email);
    await phone.page.getByLabel(texts.password).fill(PASSWORD);
    await phone.page.getByRole("button", { name: texts.signIn, exact: true }).click();
    await phone.page.waitForURL(/\/invite\?token=/);
    await expect.poll(await accept(phone.page)).toBe("demo@saldo.example");
    await phone.context.close();
  });

  it("finds it on the first page after a sign-up without the link", async () => {
    const email = await invite();
    const { page, context } = await dashboard.visit("/sign-up", options);
    expect(await page.getByText(texts.invited).count()).toBe(0);
    await page.goto(await signUp(page, email));
    await page.getByRole("heading", { level: 1, name: texts.overview }).waitFor();
    await page.getByRole("heading", { name: texts.received }).waitFor();
    await expect.poll(await accept(page)).toBe("demo@saldo.example");
    await expect.poll(() => page.getByRole("heading", { name: texts.received }).count()).toBe(0);
    await context.close();
  });

  it("keeps the language of the sign-up, and changes that of no other account in the same browser", async () => {
    const other = language === "en" ? "id" : "en";
    const { pool } = dashboard.database.database;
    const languageOf = async (email: string): Promise<unknown> =>
      (await pool.query<{ language: string }>("SELECT language FROM customer WHERE email = $1", [email])).rows[0]
        ?.language;
    const email = `${uuidv7()}@test.example`;
    const { page, context } = await dashboard.visit("/sign-up", options);
    const link = await signUp(page, email);
    // The demo's person signs in meanwhile, in the same browser.
    await dashboard.changeRows("UPDATE customer SET language = $1 WHERE email = 'demo@saldo.example'", [other]);
    await page.goto(`${dashboard.saldo.httpUrl}/sign-in`);
    await page.getByRole("button", { name: /demo/i }).click();
    await page.getByRole("heading", { level: 1, name: texts.overview }).waitFor();
    await page.getByText("demo@saldo.example").first().waitFor({ state: "attached" });
    // A change of settings would be a call of this page before its next load.
    await page.reload();
    await page.getByText("demo@saldo.example").first().waitFor({ state: "attached" });
    expect(await languageOf("demo@saldo.example")).toBe(other);
    await page.goto(link);
    await page.getByText(email).first().waitFor({ state: "attached" });
    expect(await languageOf(email)).toBe(language);
    await context.close();
  });
});
