// A person's second factor, in a service that runs as in production: setting it up, signing in with it, confirming, and removing
// it.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { codeOf } from "./authenticators.ts";
import { factorSteps } from "./factor-steps.ts";
import { type ServedPeople, servePeople } from "./served-people.ts";

const PASSWORD = "a-long-quiet-river";
const TOKENS = "accounts.v1.AccountsService/CreateServiceToken";
const READ = "accounts.v1.AccountsService/ListServiceTokens";
const ME = "accounts.v1.AccountsService/GetMe";

let served: ServedPeople;
beforeAll(async () => {
  served = await servePeople();
});
afterAll(() => served.stop());

const steps = factorSteps(() => served);
const { newOperator, nextCode, setUpApp, proveLongAgo, errorOf, device, addPasskey, usePasskey } = steps;

describe("an operator", () => {
  test("reaches nothing but the own settings without a second factor", async () => {
    const { browser } = await newOperator();
    expect((await browser.rpc(ME))["secondFactor"]).toEqual({ isRequired: true, isMissing: true });
    expect(await errorOf(browser, READ, {})).toBe("second_factor_required");
    expect(await errorOf(browser, TOKENS)).toBe("second_factor_required");
    expect(await errorOf(browser, "billing.v1.BillingService/GetBalance", {})).toBe("second_factor_required");
    expect(await errorOf(browser, "accounts.v1.AccountsService/ListSessions", {})).toBe("done");
    await setUpApp(browser);
    expect((await browser.rpc(ME))["secondFactor"]).toEqual({ isRequired: true, isSetUp: true });
    expect(await errorOf(browser, TOKENS)).toBe("done");
  });

  test("confirms once more after five minutes, and reads without it", async () => {
    const { browser, email } = await newOperator();
    const secret = await setUpApp(browser);
    await proveLongAgo(email, "5 minutes 1 second");
    expect(await errorOf(browser, TOKENS)).toBe("fresh_authentication_required");
    expect(await errorOf(browser, READ, {})).toBe("done");
    expect((await browser.auth("/second-factor/verify-password", { password: PASSWORD })).status).toBe(403);
    expect((await browser.auth("/two-factor/verify-totp", { code: "000000" })).status).toBe(401);
    expect(await errorOf(browser, TOKENS)).toBe("fresh_authentication_required");
    expect((await browser.auth("/two-factor/verify-totp", { code: await nextCode(secret) })).status).toBe(200);
    expect(await errorOf(browser, TOKENS)).toBe("done");
  });

  test("is signed out an hour after the last call, and twelve hours after signing in", async () => {
    const age = async (email: string, column: string, interval: string) =>
      served.opened.database.pool.query(
        `UPDATE auth.session s SET ${column} = now() - $2::interval FROM auth.person p WHERE p.id = s.user_id AND p.email = $1`,
        [email, interval],
      );
    for (const [column, still, over] of [
      ["seen_at", "59 minutes", "61 minutes"],
      ["created_at", "11 hours 59 minutes", "12 hours 1 minute"],
    ] as const) {
      const { browser, email } = await newOperator();
      await age(email, column, still);
      await age(email, column === "seen_at" ? "created_at" : "seen_at", "1 second");
      expect((await browser.rpcStatus(ME)).status).toBe(200);
      await age(email, column, over);
      expect((await browser.rpcStatus(ME)).status).toBe(401);
      const change = { currentPassword: PASSWORD, newPassword: `${PASSWORD}-two` };
      expect((await browser.auth("/change-password", change)).status).toBe(401);
    }
  });
});

describe("a sign-in with an app", () => {
  test("takes the password and then a code, each code once", async () => {
    const { browser, email } = await newOperator();
    const secret = await setUpApp(browser);
    const halfWay = served.newBrowser();
    const first = await halfWay.auth("/sign-in/email", { email, password: PASSWORD });
    expect(first.json).toEqual({ twoFactorRedirect: true, twoFactorMethods: ["totp"] });
    expect(halfWay.cookie("saldo_session")).toBeNull();
    expect((await halfWay.rpcStatus(ME)).status).toBe(401);
    const code = await nextCode(secret);
    const other = served.newBrowser();
    await other.auth("/sign-in/email", { email, password: PASSWORD });
    expect((await halfWay.auth("/two-factor/verify-totp", { code })).status).toBe(200);
    expect(await errorOf(halfWay, TOKENS)).toBe("done");
    expect((await other.auth("/two-factor/verify-totp", { code })).status).toBe(401);
    expect((await other.rpcStatus(ME)).status).toBe(401);
  });

  test("takes a code only within its own thirty seconds", async () => {
    const { browser } = await newOperator();
    const secret = await setUpApp(browser);
    const code = await nextCode(secret);
    for (const stepMs of [-30_000, 30_000]) {
      const other = codeOf(secret, Date.now() + stepMs);
      expect((await browser.auth("/two-factor/verify-totp", { code: other })).status).toBe(401);
    }
    expect((await browser.auth("/two-factor/verify-totp", { code })).status).toBe(200);
  });

  test("bounds the tries of a person, wherever they come from", async () => {
    const { browser, email } = await newOperator();
    const secret = await setUpApp(browser);
    const statuses: number[] = [];
    for (let i = 0; i < 8; i += 1) {
      const guesser = served.newBrowser();
      await guesser.auth("/sign-in/email", { email, password: PASSWORD });
      statuses.push((await guesser.auth("/two-factor/verify-totp", { code: `00000${i}` })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 401, 429, 429]);
    expect((await browser.auth("/two-factor/verify-totp", { code: await nextCode(secret) })).status).toBe(429);
  });

  test("is asked for the code also behind a password that a link has replaced", async () => {
    const { browser, email } = await newOperator();
    const secret = await setUpApp(browser);
    await served.newBrowser().auth("/request-password-reset", { email, redirectTo: "/reset" });
    const token = /reset-password\/([^?]+)/.exec(await served.mails.linkTo(email, /reset-password/))?.[1];
    const newPassword = `${PASSWORD}-two`;
    const reset = await served.newBrowser().auth("/reset-password", { token, newPassword });
    expect(reset.status).toBe(200);
    expect(reset.setCookies.filter((line) => line.startsWith("saldo_session="))).toEqual([]);
    const again = served.newBrowser();
    const first = await again.auth("/sign-in/email", { email, password: newPassword });
    expect(first.json).toEqual({ twoFactorRedirect: true, twoFactorMethods: ["totp"] });
    expect((await again.rpcStatus(ME)).status).toBe(401);
    expect((await again.auth("/two-factor/verify-totp", { code: await nextCode(secret) })).status).toBe(200);
  });

  test("takes a recovery code once", async () => {
    const { browser, email } = await newOperator();
    await setUpApp(browser);
    const { json } = await browser.auth("/second-factor/recovery-codes", {});
    const [code = ""] = json["codes"] as string[];
    expect(json["codes"]).toHaveLength(10);
    // Ten of thirty-one letters and digits: some fifty bits.
    expect(code).toMatch(/^[a-hjkmnp-z2-9]{5}-[a-hjkmnp-z2-9]{5}$/);
    const { rows } = await served.opened.database.pool.query<{ codes: string }>(
      `SELECT backup_codes AS codes FROM auth.two_factor f
       JOIN auth.person p ON p.id = f.user_id WHERE email = $1`,
      [email],
    );
    const kept = JSON.parse(rows[0]?.codes ?? "") as string[];
    for (const hash of kept) expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$/);
    expect(new Set(kept.map((hash) => hash.split("$")[4])).size).toBe(10);
    // A reader of the table has no code.
    expect((await browser.auth("/two-factor/verify-backup-code", { code: kept[0] ?? "" })).status).toBe(401);
    const signIn = async () => {
      const again = served.newBrowser();
      await again.auth("/sign-in/email", { email, password: PASSWORD });
      return (await again.auth("/two-factor/verify-backup-code", { code: code.toUpperCase().replace("-", " ") }))
        .status;
    };
    expect([await signIn(), await signIn()]).toEqual([200, 401]);
    expect((await browser.get("/auth/second-factor/state")).json).toMatchObject({ recoveryCodesLeft: 9, hasApp: true });
  });
});

describe("a passkey", () => {
  test("is a second factor, signs in alone, and confirms", async () => {
    const { browser, email } = await newOperator();
    const phone = device(served.saldo.httpUrl);
    expect(await addPasskey(browser, phone)).toBe(200);
    expect(await errorOf(browser, TOKENS)).toBe("done");
    const elsewhere = served.newBrowser();
    const challenges = await Promise.all(
      [1, 2].map(async () => (await elsewhere.get("/auth/passkey/generate-authenticate-options")).json["challenge"]),
    );
    expect(new Set(challenges).size).toBe(2);
    for (const each of challenges) expect(Buffer.from(String(each), "base64url").length).toBeGreaterThanOrEqual(32);
    expect((await usePasskey(elsewhere, phone)).status).toBe(200);
    expect((await elsewhere.rpc(ME))["person"]).toMatchObject({ email });
    const byPassword = await served.newBrowser().auth("/sign-in/email", { email, password: PASSWORD });
    expect(byPassword.json).toEqual({ twoFactorRedirect: true, twoFactorMethods: ["passkey"] });
    await proveLongAgo(email, "6 minutes");
    expect(await errorOf(elsewhere, TOKENS)).toBe("fresh_authentication_required");
    expect(await addPasskey(elsewhere, device(served.saldo.httpUrl))).toBe(403);
    expect((await usePasskey(elsewhere, phone)).status).toBe(200);
    expect(await errorOf(elsewhere, TOKENS)).toBe("done");
  });

  test("that asks for no finger or PIN is taken by neither path", async () => {
    const { browser } = await newOperator();
    const key = device(served.saldo.httpUrl, { asks: false });
    expect(await addPasskey(browser, key)).toBe(401);
    expect(await errorOf(browser, TOKENS)).toBe("second_factor_required");
  });

  test("of another person does not confirm", async () => {
    const [first, second] = await Promise.all([newOperator(), newOperator()]);
    const [own, theirs] = [device(served.saldo.httpUrl), device(served.saldo.httpUrl)];
    await addPasskey(first.browser, own);
    await addPasskey(second.browser, theirs);
    await proveLongAgo(first.email, "6 minutes");
    expect((await usePasskey(first.browser, theirs)).status).toBe(401);
    expect((await first.browser.rpc(ME))["person"]).toMatchObject({ email: first.email });
    expect(await errorOf(first.browser, TOKENS)).toBe("fresh_authentication_required");
  });
});

describe("removing a second factor", () => {
  test("needs a fresh proof, leaves an operator one, and is reported by mail", async () => {
    const { browser, email } = await newOperator();
    const secret = await setUpApp(browser);
    expect(await served.mails.to(email, /second factor added/)).toContain(served.saldo.httpUrl);
    expect((await browser.auth("/second-factor/remove-app", {})).json["error"]).toBe("second_factor_required");
    await addPasskey(browser, device(served.saldo.httpUrl));
    await proveLongAgo(email, "6 minutes");
    expect((await browser.auth("/second-factor/remove-app", {})).json["error"]).toBe("fresh_authentication_required");
    await browser.auth("/two-factor/verify-totp", { code: await nextCode(secret) });
    expect((await browser.auth("/second-factor/remove-app", {})).status).toBe(200);
    expect(await served.mails.to(email, /second factor removed/)).toContain(served.saldo.httpUrl);
    const { passkeys = [] } = (await browser.get("/auth/second-factor/state")).json as { passkeys?: { id: string }[] };
    const last = await browser.auth("/second-factor/remove-passkey", { id: passkeys[0]?.id });
    expect([last.status, last.json["error"]]).toEqual([403, "second_factor_required"]);
  });

  test("of a person is done by a command, which asks how the person was verified, ends the sessions and leaves a line", async () => {
    const { browser, email } = await newOperator();
    await setUpApp(browser);
    const words = ["person", "reset-second-factor", "--email", email];
    const missing = await runSaldo(words, served.settings);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("--verified")]);
    expect((await runSaldo([...words, "--verified", " "], served.settings)).code).toBe(1);
    expect((await browser.rpcStatus(ME)).status).toBe(200);
    const how = "video call, identity card 3174-x, knew the last two top-ups";
    const { personId } = await saldoJson([...words, "--verified", how], served.settings);
    expect((await browser.rpcStatus(ME)).status).toBe(401);
    const again = served.newBrowser();
    expect(
      (await again.auth("/sign-in/email", { email, password: PASSWORD })).json["twoFactorRedirect"],
    ).toBeUndefined();
    expect(await errorOf(again, TOKENS)).toBe("second_factor_required");
    const { rows } = await served.opened.database.pool.query(
      "SELECT subject, reason FROM operator_action WHERE action = 'person reset-second-factor'",
    );
    expect(rows).toEqual([{ subject: personId, reason: how }]);
  });
});

test("other sessions end when the first second factor is set up", async () => {
  const { browser, email } = await newOperator();
  const other = served.newBrowser();
  await other.auth("/sign-in/email", { email, password: PASSWORD });
  expect((await other.rpcStatus(ME)).status).toBe(200);
  await setUpApp(browser);
  expect((await other.rpcStatus(ME)).status).toBe(401);
});

test("changing the password keeps what the session has shown, and needs it fresh", async () => {
  const { browser, email } = await newOperator();
  await setUpApp(browser);
  const change = { currentPassword: PASSWORD, newPassword: `${PASSWORD}-two` };
  await proveLongAgo(email, "6 minutes");
  expect((await browser.auth("/change-password", change)).json["error"]).toBe("fresh_authentication_required");
  await proveLongAgo(email, "1 minute");
  expect((await browser.auth("/change-password", change)).status).toBe(200);
  expect(await errorOf(browser, TOKENS)).toBe("done");
});
