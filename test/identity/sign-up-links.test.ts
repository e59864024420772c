// What a sign-up carries through its mail: the language of the new account, and the page that it was for.

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

const languageOf = async (email: string): Promise<unknown> =>
  (await served.opened.database.pool.query("SELECT language FROM customer WHERE email = $1", [email])).rows[0];

test.each(["en", "id"])(
  "the language of a sign-up becomes that of the account, wherever its link is opened: %s",
  async (language) => {
    const headers = { "accept-language": language };
    const email = newEmail();
    const browser = newBrowser();
    // Another sign-up with the address decides nothing.
    const otherHeaders = { "accept-language": language === "en" ? "id" : "en" };
    await newBrowser().auth("/sign-up/email", { email, password: OTHER_PASSWORD }, otherHeaders);
    await browser.auth("/sign-up/email", { email, password: PASSWORD }, headers);
    await browser.open(await mails.linkTo(email, /verify-email/));
    await browser.rpc("accounts.v1.AccountsService/GetMe");
    expect(await languageOf(email)).toEqual({ language });

    const elsewhere = { email: newEmail(), phone: newBrowser() };
    await newBrowser().auth("/sign-up/email", { email: elsewhere.email, password: PASSWORD }, headers);
    const opened = await elsewhere.phone.open(await mails.linkTo(elsewhere.email, /verify-email/));
    const token = new URL(opened.headers.get("location") ?? "", served.saldo.httpUrl).searchParams.get("token");
    await elsewhere.phone.auth("/reset-password", { token, newPassword: PASSWORD }, headers);
    await elsewhere.phone.auth("/sign-in/email", { email: elsewhere.email, password: PASSWORD }, otherHeaders);
    await elsewhere.phone.rpc("accounts.v1.AccountsService/GetMe");
    expect(await languageOf(elsewhere.email)).toEqual({ language });
  },
);

test("a sign-up and a reset change no language of an account that exists", async () => {
  const email = newEmail();
  const [browser, headers] = [newBrowser(), { "accept-language": "en" }];
  await browser.auth("/sign-up/email", { email, password: PASSWORD }, { "accept-language": "id" });
  await browser.open(await mails.linkTo(email, /verify-email/));
  await browser.rpc("accounts.v1.AccountsService/GetMe");
  const other = newBrowser();
  await other.auth("/sign-up/email", { email, password: OTHER_PASSWORD }, headers);
  await other.auth("/request-password-reset", { email, redirectTo: "/reset-password" }, headers);
  const opened = await other.open(await mails.linkTo(email, /reset-password/));
  const token = new URL(opened.headers.get("location") ?? "", served.saldo.httpUrl).searchParams.get("token");
  expect((await other.auth("/reset-password", { token, newPassword: PASSWORD }, headers)).status).toBe(200);
  await other.auth("/sign-in/email", { email, password: PASSWORD }, headers);
  await other.rpc("accounts.v1.AccountsService/GetMe");
  expect(await languageOf(email)).toEqual({ language: "id" });
});

test("the link of a sign-up leads to the page that it was for, in each browser and after each sign-up", async () => {
  const email = newEmail();
  const next = "/invite?token=a-token_of-43";
  for (const browser of [newBrowser(), newBrowser()]) {
    await browser.auth("/sign-up/email", { email, password: PASSWORD, callbackURL: next });
    const link = await mails.linkTo(email, /verify-email/);
    expect(new URL(link).searchParams.get("callbackURL")).toBe(next);
    const elsewhere = await newBrowser().open(link);
    const page = new URL(elsewhere.headers.get("location") ?? "", served.saldo.httpUrl);
    expect([page.pathname, page.searchParams.get("next")]).toEqual(["/reset-password", next]);
    mails.mails.length = 0;
  }
  const own = newBrowser();
  await own.auth("/sign-up/email", { email, password: PASSWORD, callbackURL: next });
  expect((await own.open(await mails.linkTo(email, /verify-email/))).headers.get("location")).toBe(next);
});

test.each(["https://evil.example/", "//evil.example", "/\\evil.example"])(
  "the link of a sign-up leads to no other site: %s",
  async (callbackURL) => {
    const email = newEmail();
    const browser = newBrowser();
    expect((await browser.auth("/sign-up/email", { email, password: PASSWORD, callbackURL })).status).toBe(400);
    await browser.auth("/sign-up/email", { email, password: PASSWORD });
    const link = new URL(await mails.linkTo(email, /verify-email/));
    link.searchParams.set("callbackURL", callbackURL);
    const { status, headers } = await newBrowser().open(link.href);
    expect([status, headers.get("location")]).toEqual([400, null]);
  },
);
