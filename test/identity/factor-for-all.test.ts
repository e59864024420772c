// A service that requires a second factor for every sign-in.

import { afterAll, beforeAll, expect, test } from "vitest";
import { factorSteps } from "./factor-steps.ts";
import { type ServedPeople, servePeople } from "./served-people.ts";

const PASSWORD = "a-long-quiet-river";

let served: ServedPeople;
beforeAll(async () => {
  served = await servePeople({ SALDO_SECOND_FACTOR: "everybody" });
});
afterAll(() => served.stop());

const { newOperator, nextCode, setUpApp, errorOf } = factorSteps(() => served);

test("a customer without one reaches the own settings alone, and signs in by two factors from then on", async () => {
  const [email, browser] = [served.newEmail(), served.newBrowser()];
  await browser.auth("/sign-up/email", { email, password: PASSWORD });
  await browser.open(await served.mails.linkTo(email, /verify-email/));
  const reached = () =>
    Promise.all([
      errorOf(browser, "accounts.v1.AccountsService/GetMe", {}),
      errorOf(browser, "billing.v1.BillingService/GetBalance", {}),
      errorOf(browser, "keys.v1.KeysService/CreateKey", { name: "a key" }),
    ]);
  expect(await reached()).toEqual(["done", "second_factor_required", "second_factor_required"]);
  const secret = await setUpApp(browser);
  expect(await reached()).toEqual(["done", "done", "done"]);
  expect((await browser.auth("/second-factor/remove-app", {})).json["error"]).toBe("second_factor_required");
  const again = served.newBrowser();
  const first = await again.auth("/sign-in/email", { email, password: PASSWORD });
  expect(first.json).toMatchObject({ twoFactorRedirect: true });
  expect((await again.rpcStatus("accounts.v1.AccountsService/GetMe")).status).toBe(401);
  expect((await again.auth("/two-factor/verify-totp", { code: await nextCode(secret) })).status).toBe(200);
  expect(await errorOf(again, "billing.v1.BillingService/GetBalance", {})).toBe("done");
});

test("an operator is asked for one there as everywhere", async () => {
  const { browser } = await newOperator();
  expect(await errorOf(browser, "accounts.v1.AccountsService/ListServiceTokens", {})).toBe("second_factor_required");
});
