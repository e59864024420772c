// A proof gives the session another token: an owner of the former token does not have the proof.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Browser } from "./browser.ts";
import { factorSteps } from "./factor-steps.ts";
import { type ServedPeople, servePeople } from "./served-people.ts";

const PASSWORD = "a-long-quiet-river";
const TOKENS = "accounts.v1.AccountsService/CreateServiceToken";

let served: ServedPeople;
beforeAll(async () => {
  served = await servePeople();
});
afterAll(() => served.stop());

const steps = factorSteps(() => served);
const { newOperator, nextCode, setUpApp, proveLongAgo, errorOf, device, addPasskey, usePasskey } = steps;

describe("a fresh proof", () => {
  const cookieOf = (browser: Browser) => browser.cookie("saldo_session");

  test.each(["a code", "a recovery code", "a passkey"])("by %s gives the session another token", async (kind) => {
    const { browser, email } = await newOperator();
    const secret = await setUpApp(browser);
    const { json } = await browser.auth("/second-factor/recovery-codes", {});
    const phone = device(served.saldo.httpUrl);
    expect(await addPasskey(browser, phone)).toBe(200);
    await proveLongAgo(email, "6 minutes");
    const before = browser.cookies();
    if (kind === "a passkey") await usePasskey(browser, phone);
    else if (kind === "a code") await browser.auth("/two-factor/verify-totp", { code: await nextCode(secret) });
    else await browser.auth("/two-factor/verify-backup-code", { code: (json["codes"] as string[])[0] });
    expect(cookieOf(browser)).not.toBe(cookieOf(served.newBrowser().with(before)));
    expect(await errorOf(browser, TOKENS)).toBe("done");
    // better-auth takes the new one for its own.
    expect((await browser.get("/auth/get-session")).json["user"]).toMatchObject({ email });
    const former = served.newBrowser().with(before);
    expect(["fresh_authentication_required", "invalid_api_key"]).toContain(await errorOf(former, TOKENS));
    const { rows } = await served.opened.database.pool.query<{ lasting: boolean }>(
      `SELECT s.expires_at > now() + interval '1 minute' AS lasting FROM auth.session s JOIN auth.person p ON p.id = s.user_id
       WHERE p.email = $1`,
      [email],
    );
    expect(rows.filter(({ lasting }) => lasting)).toHaveLength(1);
  });

  test("by password gives it too, ends when the session would have, and with the browser where that was asked for", async () => {
    const [email, browser] = [served.newEmail(), served.newBrowser()];
    await browser.auth("/sign-up/email", { email, password: PASSWORD });
    await browser.open(await served.mails.linkTo(email, /verify-email/));
    const [lasting, brief] = [served.newBrowser(), served.newBrowser()];
    await lasting.auth("/sign-in/email", { email, password: PASSWORD });
    await brief.auth("/sign-in/email", { email, password: PASSWORD, rememberMe: false });
    const { rows } = await served.opened.database.pool.query<{ at: Date }>(
      `UPDATE auth.session s SET created_at = now() - interval '5 days' FROM auth.person p
       WHERE p.id = s.user_id AND p.email = $1 RETURNING s.created_at AS at`,
      [email],
    );
    const prove = async (at: Browser) =>
      (await at.auth("/second-factor/verify-password", { password: PASSWORD })).setCookies.find((line) =>
        line.startsWith("saldo_session="),
      );
    expect(await prove(lasting)).toMatch(/; Max-Age=60\d{4}; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(await prove(brief)).toMatch(/^[^;]+; Path=\/; HttpOnly; SameSite=Lax$/);
    const { rows: now } = await served.opened.database.pool.query<{ at: Date }>(
      `SELECT s.created_at AS at FROM auth.session s JOIN auth.person p ON p.id = s.user_id WHERE p.email = $1`,
      [email],
    );
    expect(now.length).toBeGreaterThan(rows.length);
    expect(new Set(now.map(({ at }) => at.getTime()))).toEqual(new Set(rows.map(({ at }) => at.getTime())));
  });
});
