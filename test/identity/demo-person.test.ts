// A demo's sign-in by one click, its visitors and its address; and a real service without a mail server, over https.

import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { expect, test } from "vitest";
import { DEMO_EMAIL } from "../../src/identity/demo-person.ts";
import { hashPassword } from "../../src/identity/passwords/passwords.ts";
import { writePassword } from "../../src/identity/people-store.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import { createTestDatabase } from "../setup/test-database.ts";
import { Browser } from "./browser.ts";

const PERSON = "01a00000-0000-7000-8000-000000000001";
const PASSWORD = "kuda benar baterai staples";

let people = 0;
const newEmail = (): string => `person-${(people += 1)}@test.example`;
const newBrowserOf = (of: SaldoHere | SaldoProcess): Browser => new Browser(of.httpUrl);

test("a demo signs in by one click, as an operator with the demo's account", async () => {
  const own = await createTestDatabase();
  // A process, because what it prints is looked at too.
  const demo = await SaldoProcess.start({ DATABASE_URL: own.url });
  const browser = new Browser(demo.httpUrl);
  try {
    expect((await browser.auth("/demo/sign-in", {})).status).toBe(200);
    const { person, isDemo } = await browser.rpc<{ person: { accountId: string; roles: string[] }; isDemo: boolean }>(
      "accounts.v1.AccountsService/GetMe",
    );
    expect([isDemo, person.roles]).toEqual([true, ["ROLE_MEMBER", "ROLE_OPERATOR"]]);
    expect(demo.announced(/demo account +\S+/)).toContain(person.accountId);
    // A demo without a mail server prints its mails where it announces itself, and not in the log.
    const email = newEmail();
    await newBrowserOf(demo).auth("/sign-up/email", { email, password: PASSWORD });
    await expect.poll(() => demo.printed.join("\n"), { timeout: 10_000 }).toContain(`Mail to ${email}`);
    expect(JSON.stringify(demo.log)).not.toContain("verify-email?token");
  } finally {
    await demo.stop();
    await own.drop();
  }
});

test("the one click is only for a browser on the same machine, by connection and address bar", async () => {
  const own = await createTestDatabase();
  const demo = await SaldoHere.start({ DATABASE_URL: own.url });
  const { port } = new URL(demo.httpUrl);
  const click = (headers: Record<string, string>) => newBrowserOf(demo).auth("/demo/sign-in", {}, headers);
  try {
    // An address is a site of our own, so that a demo can be shown; its visitors get no session without a password.
    const elsewhere = await clickAt(demo.httpUrl, `10.1.2.3:${port}`);
    expect(elsewhere).toEqual({ status: 403, cookies: [] });
    expect((await clickAt(demo.httpUrl, `localhost:${port}`)).status).toBe(200);
    for (const passedOn of [{ "x-forwarded-for": "127.0.0.1" }, { forwarded: "for=127.0.0.1" }]) {
      const answer = await click(passedOn);
      expect([answer.status, answer.json["error"], answer.setCookies]).toEqual([403, "permission_denied", []]);
    }
    // Logged once, however many requests a proxy passes on.
    const warnings = () => demo.log.filter(({ event }) => event === "auth.proxy.untrusted").length;
    await expect.poll(warnings, { timeout: 10_000 }).toBe(1);
  } finally {
    await demo.stop();
    await own.drop();
  }
});

test("no sign-up uses the demo's address, no mail goes there, and a password from before opens nothing", async () => {
  const own = await createTestDatabase();
  const { pool } = own.database;
  await pool.query(`INSERT INTO auth.person (id, email, name) VALUES ($1::uuid, $2, 'X')`, [PERSON, DEMO_EMAIL]);
  await writePassword(pool, { personId: PERSON, hash: await hashPassword(PASSWORD) });
  const demo = await SaldoHere.start({ DATABASE_URL: own.url });
  const ask = (path: string, body: object) => newBrowserOf(demo).auth(path, { email: DEMO_EMAIL, ...body });
  try {
    for (const path of ["/sign-up/email", "/send-verification-email", "/request-password-reset"]) {
      const refused = await ask(path, { password: PASSWORD, redirectTo: "/", email: "Demo@Saldo.Example " });
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("email.reserved")]);
    }
    expect((await newBrowserOf(demo).auth("/demo/sign-in", {})).status).toBe(200);
    expect((await ask("/sign-in/email", { password: PASSWORD })).status).toBe(401);
  } finally {
    await demo.stop();
    await own.drop();
  }
});

test("a real service without a mail server answers that it has none, and its operator's cookie over https belongs to its host alone", async () => {
  const own = await createTestDatabase();
  const settings = { DATABASE_URL: own.url, SALDO_DEMO: "0", SALDO_PUBLIC_URL: "https://saldo.example" };
  const real = await SaldoHere.start(settings);
  try {
    const origin = { origin: "https://saldo.example" };
    const signUp = await newBrowserOf(real).auth("/sign-up/email", { email: newEmail(), password: PASSWORD }, origin);
    expect([signUp.status, signUp.json["error"]]).toEqual([503, "upstream_busy"]);
    expect(real.log.map(({ event }) => event)).toContain("identity.mail.unset");
    const { link = "" } = await saldoJson(["operator", "link"], settings);
    expect(link).toMatch(/^https:\/\/saldo\.example\/auth\/operator\/set-up\?token=/);
    const token = new URL(link).searchParams.get("token");
    const order = { token, email: newEmail(), password: PASSWORD };
    const made = await newBrowserOf(real).auth("/operator/set-up", order, origin);
    expect(made.setCookies.find((line) => line.startsWith("__Host-saldo_session="))).toMatch(
      /; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
  } finally {
    await real.stop();
    await own.drop();
  }
});

/** Clicks like a page of this host; fetch does not send a Host of ours. */
async function clickAt(
  base: string,
  host: string,
): Promise<{ status: number | undefined; cookies: readonly string[] }> {
  const headers = { host, origin: `http://${host}`, "content-type": "application/json" };
  const asked = request(`${base}/auth/demo/sign-in`, { method: "POST", headers }).end("{}");
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  answer.resume();
  return { status: answer.statusCode, cookies: answer.headers["set-cookie"] ?? [] };
}
