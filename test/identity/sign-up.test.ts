// The account of several sign-ups with one address, in browsers.

import { afterAll, beforeAll, expect, test } from "vitest";
import { servePeople, type ServedPeople } from "./served-people.ts";

const PASSWORD = "kuda benar baterai staples";
const OTHER_PASSWORD = "tepat empat kata acak";

let served: ServedPeople;
let { mails, newEmail, newBrowser } = {} as ServedPeople;
beforeAll(async () => {
  served = await servePeople();
  ({ mails, newEmail, newBrowser } = served);
});
afterAll(() => served.stop());

test("a sign-up with an owner's address before the owner shares no account", async () => {
  const email = newEmail();
  const [thief, owner] = [newBrowser(), newBrowser()];
  await thief.auth("/sign-up/email", { email, password: OTHER_PASSWORD, name: "Thief" });
  const first = await mails.linkTo(email, /verify-email/);
  await owner.auth("/sign-up/email", { email, password: PASSWORD, name: "Owner" });
  // For each of the mails, the password is that of the person who opens it.
  expect((await owner.open(first)).status).toBe(302);
  expect((await owner.rpc("accounts.v1.AccountsService/GetMe")).person).toMatchObject({ email, name: "Owner" });
  const signIn = (password: string) => newBrowser().auth("/sign-in/email", { email, password });
  expect((await signIn(OTHER_PASSWORD)).status).toBe(401);
  expect((await signIn(PASSWORD)).status).toBe(200);
});

test("a password is asked for where the link is opened by a browser that did not sign up", async () => {
  const email = newEmail();
  await newBrowser().auth("/sign-up/email", { email, password: OTHER_PASSWORD });
  const link = await mails.linkTo(email, /verify-email/);
  const elsewhere = newBrowser();
  // A sign-up for another address does not count for this one.
  await elsewhere.auth("/sign-up/email", { email: newEmail(), password: PASSWORD });
  const opened = await elsewhere.open(link);
  const page = new URL(opened.headers.get("location") ?? "", served.saldo.httpUrl);
  expect([opened.status, page.origin, page.pathname]).toEqual([302, served.saldo.httpUrl, "/reset-password"]);
  expect((await elsewhere.rpcStatus("accounts.v1.AccountsService/GetMe")).status).toBe(401);
  const signIn = (password: string) => newBrowser().auth("/sign-in/email", { email, password });
  expect((await signIn(OTHER_PASSWORD)).status).toBe(401);
  const token = page.searchParams.get("token");
  expect((await elsewhere.auth("/reset-password", { token, newPassword: PASSWORD })).status).toBe(200);
  expect([(await signIn(OTHER_PASSWORD)).status, (await signIn(PASSWORD)).status]).toEqual([401, 200]);
});

test("each sign-up gets its cookie, also with an address that is taken", async () => {
  const email = newEmail();
  const owner = newBrowser();
  await owner.auth("/sign-up/email", { email, password: PASSWORD });
  await owner.open(await mails.linkTo(email, /verify-email/));
  for (const address of [email, newEmail()]) {
    const { setCookies } = await newBrowser().auth("/sign-up/email", { email: address, password: PASSWORD });
    expect(setCookies).toEqual([
      expect.stringMatching(/^saldo_sign_up=[\w-]{43}; Max-Age=3600; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
  }
});

test("sign-ups with one address at the same time are answered alike", async () => {
  const email = newEmail();
  const signUp = () => newBrowser().auth("/sign-up/email", { email, password: PASSWORD });
  const statuses = (await Promise.all(Array.from({ length: 5 }, signUp))).map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 200, 200, 200]);
});

test.each([
  ["en", /Open this link within ten minutes[^]*Buka tautan ini/],
  ["id", /Buka tautan ini dalam sepuluh menit[^]*Open this link/],
])("the mails of a sign-up are in both languages, and first in that of the page: %s", async (language, text) => {
  const email = newEmail();
  const headers = { "accept-language": language };
  await newBrowser().auth("/sign-up/email", { email, password: PASSWORD }, headers);
  expect(await mails.to(email, /verify-email/)).toMatch(text);
  await newBrowser().open(await mails.linkTo(email, /verify-email/));
  await newBrowser().auth("/request-password-reset", { email, redirectTo: "/reset-password" }, headers);
  expect(await mails.to(email, /reset-password/)).toMatch(text);
});
