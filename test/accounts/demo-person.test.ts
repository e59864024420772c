// A demo's one click, and what is left of it when the same database serves in earnest: over https, and without a mail server.

import { expect, test } from "vitest";
import { SaldoProcess, saldoJson } from "../setup/saldo-process.ts";
import { createTestDatabase } from "../setup/test-database.ts";
import { Browser } from "./browser.ts";

const PASSWORD = "kuda benar baterai staples";

let people = 0;
const newEmail = (): string => `person-${(people += 1)}@test.example`;
const newBrowserOf = (of: SaldoProcess): Browser => new Browser(of.httpUrl);

test("a demo signs in by one click, as an operator with the demo's account", async () => {
  const own = await createTestDatabase();
  const demo = await SaldoProcess.start({ DATABASE_URL: own.url });
  const browser = new Browser(demo.httpUrl);
  try {
    expect((await browser.auth("/demo/sign-in", {})).status).toBe(200);
    const { person, isDemo } = await browser.rpc<{ person: { accountId: string; roles: string[] }; isDemo: boolean }>(
      "accounts.v1.AccountsService/GetMe",
    );
    expect([isDemo, person.roles]).toEqual([true, ["ROLE_MEMBER", "ROLE_OPERATOR"]]);
    expect(demo.announced(/demo account +\S+/)).toContain(person.accountId);
    // A demo without a mail server shows its mails where it announces itself, and not in the log.
    const email = newEmail();
    await newBrowserOf(demo).auth("/sign-up/email", { email, password: PASSWORD });
    await expect.poll(() => demo.printed.join("\n"), { timeout: 10_000 }).toContain(`Mail to ${email}`);
    expect(JSON.stringify(demo.log)).not.toContain("verify-email?token");
  } finally {
    await demo.stop();
  }
  // The same database without the demo: whoever clicked is signed out, and nobody is an operator by it.
  const withoutDemo = { DATABASE_URL: own.url, SALDO_DEMO: "0", SALDO_PUBLIC_URL: "https://saldo.example" };
  const real = await SaldoProcess.start(withoutDemo);
  try {
    const cookies = { cookie: `__Host-${browser.cookies()}`, origin: "https://saldo.example" };
    const me = await newBrowserOf(real).rpcStatus("accounts.v1.AccountsService/GetMe", {}, cookies);
    expect(me.status).toBe(401);
    // Without a mail server nobody can sign up, and the start says so.
    const origin = { origin: "https://saldo.example" };
    const signUp = await newBrowserOf(real).auth("/sign-up/email", { email: newEmail(), password: PASSWORD }, origin);
    expect([signUp.status, signUp.json["error"]]).toEqual([503, "upstream_busy"]);
    expect(real.log.map(({ msg }) => msg)).toContain("SMTP_URL is not set, so nobody can sign up or reset a password");
    // Cookies over https belong to this host alone.
    const { link = "" } = await saldoJson(["operator", "link"], withoutDemo);
    expect(link).toMatch(/^https:\/\/saldo\.example\/auth\/operator\/set-up\?token=/);
    const token = new URL(link).searchParams.get("token");
    const made = await newBrowserOf(real).auth(
      "/operator/set-up",
      { token, email: newEmail(), password: PASSWORD },
      origin,
    );
    expect(made.setCookies.find((line) => line.startsWith("__Host-saldo_session="))).toMatch(
      /; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
  } finally {
    await real.stop();
    await own.drop();
  }
});
