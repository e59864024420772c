// Signing up, in and out in a browser, against a service of its own with a mail server of the test.

import { readFile, stat } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import { Browser } from "./browser.ts";
import { servePeople, type ServedPeople } from "./served-people.ts";

const PASSWORD = "kuda benar baterai staples";
const OTHER_PASSWORD = "tepat empat kata acak";

let served: ServedPeople;
let { opened, mails, saldo, settings, newEmail, newBrowser } = {} as ServedPeople;
beforeAll(async () => {
  served = await servePeople();
  ({ opened, mails, saldo, settings, newEmail, newBrowser } = served);
});
afterAll(() => served.stop());

/** Signs up, opens the link in the mail, and is signed in by it. */
async function signedUp(email = newEmail(), password = PASSWORD): Promise<{ browser: Browser; email: string }> {
  const browser = newBrowser();
  expect((await browser.auth("/sign-up/email", { email, password })).status).toBe(200);
  await browser.open(await mails.linkTo(email, /verify-email/));
  return { browser, email };
}

describe("signing up", () => {
  test("ends with a session by the link in the mail, and an account of the person's own", async () => {
    const { browser, email } = await signedUp();
    const { person, isDemo } = await browser.rpc("accounts.v1.AccountsService/GetMe");
    expect(person).toMatchObject({ email, emailVerified: true, roles: ["ROLE_MEMBER"] });
    expect(isDemo).toBeUndefined();
    const { balance } = await browser.rpc("billing.v1.BillingService/GetBalance");
    expect(balance).toEqual({ currency: "IDR", available: "0", held: "0", posted: "0", owed: "0" });
  });

  test("answers alike for an address that is taken, and writes to its owner instead", async () => {
    const { email } = await signedUp();
    const taken = await newBrowser().auth("/sign-up/email", { email: email.toUpperCase(), password: OTHER_PASSWORD });
    const free = await newBrowser().auth("/sign-up/email", { email: newEmail(), password: OTHER_PASSWORD });
    const shape = ({ status, json }: typeof taken) => [status, Object.keys(json), Object.keys(json["user"] as object)];
    expect(shape(taken)).toEqual(shape(free));
    expect(await mails.to(email, /you have an account/)).not.toContain("verify-email");
    expect((await newBrowser().auth("/sign-in/email", { email, password: OTHER_PASSWORD })).status).toBe(401);
  });

  test("opens no session before the address is verified", async () => {
    const email = newEmail();
    const browser = newBrowser();
    await browser.auth("/sign-up/email", { email, password: PASSWORD });
    const { status, json } = await browser.auth("/sign-in/email", { email, password: PASSWORD });
    expect([status, json["error"]]).toEqual([401, "invalid_credentials"]);
    expect(browser.cookie("saldo_session")).toBeNull();
  });

  test.each([
    ["a short password", { password: "kurang12345" }, "password"],
    ["a common password", { password: "Password12345" }, "password"],
    ["a row of keys", { password: "qwertyuiopas" }, "password"],
    ["a password that is the address", { email: "pembeli@test.example", password: "pembeli12345" }, "password"],
    ["no password", { password: "" }, "password"],
    ["a password that is a number", { password: 123456789012 }, "password"],
    ["no address", { email: "somebody" }, "email"],
    ["an address that would begin another line of a mail", { email: "a@b.example\r\nBcc: c@d.example" }, "email"],
    ["an address of two people", { email: "a@b.example,c@d.example" }, "email"],
    ["a long name", { name: "n".repeat(101) }, "name"],
    ["a way back to another site", { callbackURL: "https://evil.example/" }, "callbackURL"],
  ])("refuses %s and names the field", async (_case, fields, field) => {
    const { status, json } = await newBrowser().auth("/sign-up/email", {
      email: newEmail(),
      password: PASSWORD,
      ...fields,
    });
    expect([status, json]).toMatchObject([400, { error: "validation_error", details: [{ field }] }]);
  });
});

describe("signing in", () => {
  test("gives a cookie that scripts cannot read, and no token in the answer", async () => {
    const { email } = await signedUp();
    const browser = newBrowser();
    const { status, json, setCookies } = await browser.auth("/sign-in/email", { email, password: PASSWORD });
    expect(status).toBe(200);
    const cookie = setCookies.find((each) => each.startsWith("saldo_session="));
    expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(setCookies.filter((each) => (each.split(";")[0] ?? "").length > 4_096)).toEqual([]);
    const token = browser.cookie("saldo_session")?.split(".")[0] ?? "";
    expect(token).toHaveLength(32);
    const session = await browser.get("/auth/get-session");
    expect(JSON.stringify(json) + session.text).not.toContain(token);
    expect(session.json["user"]).toMatchObject({ email });
  });

  test("answers alike for a wrong password and for an unknown address", async () => {
    const { email } = await signedUp();
    const wrong = await newBrowser().auth("/sign-in/email", { email, password: OTHER_PASSWORD });
    const missing = await newBrowser().auth("/sign-in/email", { email: newEmail(), password: OTHER_PASSWORD });
    expect([wrong.status, wrong.json]).toEqual([missing.status, missing.json]);
    expect(wrong.status).toBe(401);
  });

  test("signing out ends the session everywhere at once", async () => {
    const { browser } = await signedUp();
    const kept = browser.cookies();
    expect((await browser.auth("/sign-out", {})).status).toBe(200);
    expect((await newBrowser().with(kept).rpcStatus("accounts.v1.AccountsService/GetMe")).status).toBe(401);
  });

  test("changing the password ends all other sessions and renews one's own", async () => {
    const { browser, email } = await signedUp();
    const other = newBrowser();
    await other.auth("/sign-in/email", { email, password: PASSWORD });
    const before = browser.cookies();
    const change = { currentPassword: PASSWORD, newPassword: OTHER_PASSWORD };
    expect((await browser.auth("/change-password", change)).status).toBe(200);
    for (const old of [other, newBrowser().with(before)]) {
      expect((await old.rpcStatus("accounts.v1.AccountsService/GetMe")).status).toBe(401);
    }
    expect((await browser.rpc("accounts.v1.AccountsService/GetMe")).person).toMatchObject({ email });
  });

  test("a person ends one session, and never one of another person", async () => {
    const { browser, email } = await signedUp();
    const other = newBrowser();
    await other.auth("/sign-in/email", { email, password: PASSWORD });
    const { sessions } = await browser.rpc<{ sessions: { id: string; isCurrent?: boolean }[] }>(
      "accounts.v1.AccountsService/ListSessions",
    );
    expect(sessions.map(({ isCurrent }) => isCurrent ?? false)).toEqual([false, true]);
    const sessionId = sessions[0]?.id;
    const { browser: stranger } = await signedUp();
    const revoke = "accounts.v1.AccountsService/RevokeSession";
    expect((await stranger.rpcStatus(revoke, { sessionId })).status).toBe(404);
    expect((await browser.rpcStatus(revoke, { sessionId })).status).toBe(200);
    expect((await other.rpcStatus("accounts.v1.AccountsService/GetMe")).status).toBe(401);
  });
});

describe("a forgotten password", () => {
  test("is replaced by a link that works once, and every session ends", async () => {
    const { browser, email } = await signedUp();
    await newBrowser().auth("/request-password-reset", { email, redirectTo: "/reset" });
    const link = await mails.linkTo(email, /reset-password/);
    const token = /reset-password\/([^?]+)/.exec(link)?.[1];
    const reset = () => newBrowser().auth("/reset-password", { token, newPassword: OTHER_PASSWORD });
    expect((await reset()).status).toBe(200);
    expect((await reset()).status).toBe(400);
    expect((await browser.rpcStatus("accounts.v1.AccountsService/GetMe")).status).toBe(401);
    expect((await newBrowser().auth("/sign-in/email", { email, password: PASSWORD })).status).toBe(401);
    expect((await newBrowser().auth("/sign-in/email", { email, password: OTHER_PASSWORD })).status).toBe(200);
  });

  test("is answered alike for known and unknown addresses, in even time", async () => {
    const { email } = await signedUp();
    const ask = async (address: string) => {
      const startedAtMs = performance.now();
      const { status, json } = await newBrowser().auth("/request-password-reset", { email: address });
      return { status, json, ms: performance.now() - startedAtMs };
    };
    const known = await ask(email);
    const missing = await ask(newEmail());
    expect([known.status, known.json]).toEqual([missing.status, missing.json]);
    expect(Math.min(known.ms, missing.ms)).toBeGreaterThan(450);
  });

  test("leads back to our own pages only", async () => {
    const { email } = await signedUp();
    const redirectTo = "https://evil.example/";
    expect((await newBrowser().auth("/request-password-reset", { email, redirectTo })).status).toBe(400);
  });
});

describe("tries are counted", () => {
  test("so that guessing ends, on every node, while the owner's device gets in", async () => {
    const { browser: owner, email } = await signedUp();
    await owner.auth("/sign-in/email", { email, password: PASSWORD });
    const nodes = [saldo, await SaldoProcess.start(settings)];
    try {
      const guesses: number[] = [];
      for (let i = 0; i < 12; i += 1) {
        const guesser = new Browser(nodes[i % 2]?.httpUrl ?? "");
        guesses.push((await guesser.auth("/sign-in/email", { email, password: `tebakan nomor ${i}` })).status);
      }
      expect(guesses).toEqual([...Array<number>(10).fill(401), 429, 429]);
      const right = await newBrowser().auth("/sign-in/email", { email, password: PASSWORD });
      expect([right.status, right.json]).toMatchObject([429, { error: "rate_limit", retry_after: expect.any(Number) }]);
      expect((await owner.auth("/sign-in/email", { email, password: PASSWORD })).status).toBe(200);
    } finally {
      await nodes[1]?.stop();
    }
  });

  test("so that one network uses up no other network's tries, and many networks guess no faster", async () => {
    const { email } = await signedUp();
    const node = await SaldoHere.start({ ...settings, SALDO_TRUSTED_PROXIES: "1" });
    const tries = (path: string, body: object, network: number) =>
      new Browser(node.httpUrl).auth(path, body, { "x-forwarded-for": `198.51.${network}.1` });
    const signIn = async (password: string, network: number) =>
      (await tries("/sign-in/email", { email, password }, network)).status;
    try {
      for (let i = 0; i < 11; i += 1) await signIn(`tebakan nomor ${i}`, 1);
      expect([await signIn(PASSWORD, 1), await signIn(PASSWORD, 2)]).toEqual([429, 200]);
      const resets: number[] = [];
      for (let i = 0; i < 6; i += 1) resets.push((await tries("/request-password-reset", { email }, 1)).status);
      expect(resets).toEqual([200, 200, 200, 200, 200, 429]);
      expect((await tries("/request-password-reset", { email }, 2)).status).toBe(200);
      // Three from each network, but twenty from all, and the slots that become free each minute however long this takes.
      const networks = Array.from({ length: 30 }, (_, i) => 10 + i);
      const guesses = await Promise.all(networks.map((network) => signIn(OTHER_PASSWORD, network)));
      const guessed = guesses.filter((status) => status === 401).length;
      expect([guessed >= 20, guessed < 25]).toEqual([true, true]);
    } finally {
      await node.stop();
    }
  });

  test("for people who are not there as for others", async () => {
    const email = newEmail();
    const guess = () => newBrowser().auth("/sign-in/email", { email, password: OTHER_PASSWORD });
    const guesses = await Promise.all(Array.from({ length: 14 }, guess));
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(guesses.filter(({ status }) => status === 429)).toHaveLength(4);
  });
});

describe("the link that makes an operator", () => {
  test("is written by a start that finds no operator, asks before it is used, and works once", async () => {
    // Into a file of the owner: a journal keeps printed lines.
    const file = saldo.announced(/\S+\/operator-link/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(saldo.printed.join()).not.toContain("token=");
    const link = (await readFile(file, "utf8")).trim();
    const page = await newBrowser().get(link.slice(saldo.httpUrl.length));
    expect(page.text).toContain('<form method="post" action="/auth/operator/set-up">');
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    const token = new URL(link).searchParams.get("token");
    const email = newEmail();
    const browser = newBrowser();
    const { status } = await browser.auth("/operator/set-up", { token, email, password: PASSWORD });
    expect(status).toBe(200);
    expect((await browser.rpc("accounts.v1.AccountsService/GetMe")).person).toMatchObject({
      roles: ["ROLE_MEMBER", "ROLE_OPERATOR"],
    });
    const again = await newBrowser().auth("/operator/set-up", { token, email: newEmail(), password: PASSWORD });
    expect(again.status).toBe(404);
    const { rows } = await opened.database.pool.query(
      "SELECT operator FROM operator_action WHERE action = 'operator set-up'",
    );
    expect(rows).toEqual([{ operator: email }]);
  });

  test("is taken as the form of the page too, and makes an existing person an operator by the own password", async () => {
    const { email } = await signedUp();
    const { link = "" } = await saldoJson(["operator", "link"], settings);
    const token = new URL(link).searchParams.get("token") ?? "";
    const browser = newBrowser();
    expect((await browser.form("/operator/set-up", { token, email, password: OTHER_PASSWORD })).status).toBe(400);
    const done = await browser.form("/operator/set-up", { token, email, password: PASSWORD });
    expect([done.status, done.headers.get("location")]).toEqual([303, "/"]);
    const { operators } = await saldoJson(["operator", "list"], settings);
    expect(JSON.stringify(operators)).toContain(email);
    await saldoJson(["operator", "remove", "--email", email], settings);
    // Sessions that were an operator's end with the role.
    expect((await browser.rpcStatus("accounts.v1.AccountsService/ListServiceTokens")).status).toBe(401);
  });

  test("makes one operator, however many use it at the same time", async () => {
    const { link = "" } = await saldoJson(["operator", "link"], settings);
    const token = new URL(link).searchParams.get("token");
    const use = () => newBrowser().auth("/operator/set-up", { token, email: newEmail(), password: PASSWORD });
    const statuses = (await Promise.all([use(), use(), use()])).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 404, 404]);
  });
});

test("the one click of a demo does not exist in production", async () => {
  expect((await newBrowser().auth("/demo/sign-in", {})).status).toBe(404);
});
