// Ending the own sessions: elsewhere only after a fresh proof, here always.

import { afterAll, beforeAll, expect, test } from "vitest";
import { factorSteps } from "./factor-steps.ts";
import { type ServedPeople, servePeople } from "./served-people.ts";

const PASSWORD = "a-long-quiet-river";
const ME = "accounts.v1.AccountsService/GetMe";

let served: ServedPeople;
beforeAll(async () => {
  served = await servePeople();
});
afterAll(() => served.stop());

const { newOperator, nextCode, setUpApp, proveLongAgo, errorOf } = factorSteps(() => served);

test("changing the password by the former one is a fresh proof of a person without a second factor", async () => {
  const [browser, email] = [served.newBrowser(), served.newEmail()];
  await browser.auth("/sign-up/email", { email, password: PASSWORD });
  await browser.open(await served.mails.linkTo(email, /verify-email/));
  await proveLongAgo(email, "6 minutes");
  expect((await browser.auth("/revoke-other-sessions", {})).json["error"]).toBe("fresh_authentication_required");
  const change = { currentPassword: PASSWORD, newPassword: `${PASSWORD}-two` };
  expect((await browser.auth("/change-password", change)).status).toBe(200);
  expect((await browser.auth("/revoke-other-sessions", {})).status).toBe(200);
});

test("a session guesses the password of its owner no more often at a change than at a proof", async () => {
  const [browser, email] = [served.newBrowser(), served.newEmail()];
  await browser.auth("/sign-up/email", { email, password: PASSWORD });
  await browser.open(await served.mails.linkTo(email, /verify-email/));
  const newPassword = `${PASSWORD}-two`;
  const statuses: number[] = [];
  for (let i = 0; i < 7; i += 1)
    statuses.push(
      (await browser.auth("/change-password", { currentPassword: `a-wrong-guess-${i}`, newPassword })).status,
    );
  expect(statuses.slice(0, 6)).not.toContain(429);
  expect(statuses[6]).toBe(429);
  expect((await browser.auth("/second-factor/verify-password", { password: PASSWORD })).status).toBe(429);
});

test("sessions of elsewhere are ended after a fresh proof, so that a thief does not end the owner's; the own one always", async () => {
  const { browser, email } = await newOperator();
  const secret = await setUpApp(browser);
  const elsewhere = served.newBrowser();
  await elsewhere.auth("/sign-in/email", { email, password: PASSWORD });
  expect((await elsewhere.auth("/two-factor/verify-totp", { code: await nextCode(secret) })).status).toBe(200);
  const { sessions = [] } = (await browser.rpc("accounts.v1.AccountsService/ListSessions")) as {
    sessions?: { id: string; isCurrent?: boolean }[];
  };
  const sessionId = sessions.find(({ isCurrent }) => isCurrent !== true)?.id;
  const REVOKE = "accounts.v1.AccountsService/RevokeSession";
  await proveLongAgo(email, "6 minutes");
  expect(await errorOf(browser, REVOKE, { sessionId })).toBe("fresh_authentication_required");
  for (const path of ["/revoke-other-sessions", "/revoke-sessions"])
    expect((await browser.auth(path, {})).json["error"]).toBe("fresh_authentication_required");
  expect((await elsewhere.rpcStatus(ME)).status).toBe(200);
  await browser.auth("/two-factor/verify-totp", { code: await nextCode(secret) });
  expect(await errorOf(browser, REVOKE, { sessionId })).toBe("done");
  expect((await elsewhere.rpcStatus(ME)).status).toBe(401);
  await proveLongAgo(email, "6 minutes");
  expect((await browser.auth("/sign-out", {})).status).toBe(200);
  expect((await browser.rpcStatus(ME)).status).toBe(401);
});
