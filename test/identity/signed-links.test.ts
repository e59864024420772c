// The link that verifies an address contains its own facts, signed. Only our own links are accepted, for that purpose, within ten
// minutes.

import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PRODUCTION } from "../setup/saldo-process.ts";
import { type ServedPeople, servePeople } from "./served-people.ts";

const PASSWORD = "kuda benar baterai staples";

let served: ServedPeople;
beforeAll(async () => {
  served = await servePeople();
});
afterAll(() => served.stop());

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const decode = (part: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;

/** A token that an attacker signs with another secret. */
function signed(header: object, payload: object, secret: string, hash = "sha256"): string {
  const text = `${encode(header)}.${encode(payload)}`;
  return `${text}.${createHmac(hash, secret).update(text).digest("base64url")}`;
}

async function signUp() {
  const [email, browser] = [served.newEmail(), served.newBrowser()];
  await browser.auth("/sign-up/email", { email, password: PASSWORD });
  const link = await served.mails.linkTo(email, /verify-email/);
  return { email, browser, token: new URL(link).searchParams.get("token") ?? "" };
}

/** Whether a token verified the address of the sign-up in this browser. */
async function opens({ email, browser }: Awaited<ReturnType<typeof signUp>>, token: string): Promise<boolean> {
  const answer = await browser.get(`/auth/verify-email?token=${encodeURIComponent(token)}&callbackURL=%2F`);
  expect(answer.status).toBeLessThan(500);
  const { rows } = await served.opened.database.pool.query<{ verified: boolean }>(
    "SELECT email_verified AS verified FROM auth.person WHERE email = $1",
    [email],
  );
  return rows[0]?.verified ?? false;
}

test("accepts no link with a foreign signature, or without one", async () => {
  const person = await signUp();
  const { token } = person;
  const [head = "", body = "", signature = ""] = token.split(".");
  const facts = decode(body);
  expect(decode(head)).toMatchObject({ alg: "HS256" });
  const other = encode({ ...facts, email: served.newEmail() });
  const forged = [
    `${head}.${other}.${signature}`,
    `${encode({ alg: "none" })}.${body}.`,
    `${encode({ alg: "none" })}.${body}.${signature}`,
    signed({ alg: "HS256" }, facts, "another secret of thirty-two letters"),
    signed({ alg: "HS512" }, facts, PRODUCTION.SALDO_AUTH_SECRET, "sha512"),
    signed({ alg: "HS256", jwk: { kty: "oct", k: encode("own") } }, facts, "own"),
    signed({ alg: "HS256", jku: "https://evil.example/keys" }, facts, "own"),
  ];
  for (const each of forged) expect([each, await opens(person, each)]).toEqual([each, false]);
});

test("takes no link after its time, or one that was made for something else", async () => {
  const person = await signUp();
  const { email } = person;
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const secret = PRODUCTION.SALDO_AUTH_SECRET;
  const over = signed({ alg: "HS256" }, { email, iat: nowSeconds - 3_700, exp: nowSeconds - 60 }, secret);
  const early = signed({ alg: "HS256" }, { email, nbf: nowSeconds + 600, exp: nowSeconds + 3_600 }, secret);
  await served.newBrowser().auth("/request-password-reset", { email, redirectTo: "/reset-password" });
  const reset = /reset-password\/([^?]+)/.exec(await served.mails.linkTo(email, /reset-password/))?.[1] ?? "";
  expect(reset).not.toBe("");
  for (const each of [over, early, reset]) expect([each, await opens(person, each)]).toEqual([each, false]);
});

test("end ten minutes after they were sent", async () => {
  const person = await signUp();
  const { iat, exp } = decode(person.token.split(".")[1] ?? "") as { iat: number; exp: number };
  expect(exp - iat).toBe(600);
  expect(await opens(person, person.token)).toBe(true);
  const { pool } = served.opened.database;
  const { email } = person;
  const askedAt = Date.now();
  await served.newBrowser().auth("/request-password-reset", { email, redirectTo: "/reset-password" });
  const token = /reset-password\/([^?]+)/.exec(await served.mails.linkTo(email, /reset-password/))?.[1];
  const { rows } = await pool.query<{ expiresAt: Date }>(
    `SELECT expires_at AS "expiresAt" FROM auth.verification v JOIN auth.person p ON v.value = p.id::text
     WHERE email = $1`,
    [email],
  );
  expect(rows).toHaveLength(1);
  const endsAt = rows[0]?.expiresAt.getTime() ?? 0;
  expect(endsAt).toBeGreaterThan(askedAt);
  expect(endsAt).toBeLessThanOrEqual(Date.now() + 600_000);
  await pool.query("UPDATE auth.verification SET expires_at = now() - interval '1 second'");
  const late = await served.newBrowser().auth("/reset-password", { token, newPassword: "tepat empat kata acak" });
  expect(late.status).toBe(400);
});

test("takes its own link, and does not take it for a password's", async () => {
  const person = await signUp();
  const { token } = person;
  const reset = await served.newBrowser().auth("/reset-password", { token, newPassword: "tepat empat kata acak" });
  expect(reset.status).toBe(400);
  expect(await opens(person, token)).toBe(true);
});
