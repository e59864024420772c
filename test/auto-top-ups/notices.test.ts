// How automatic top-ups are notified and named: one mail each, and by their name in the ledger's file.

import { afterAll, beforeAll, expect, it } from "vitest";
import { setAlertSettings } from "../../src/billing/alerts/alert-settings.ts";
import { decideAlerts } from "../../src/billing/alerts/decide-alerts.ts";
import { exportLedger } from "../../src/billing/usage/ledger-export.ts";
import type { TopUpProcess } from "../top-ups/top-up-setup.ts";
import { AutoTopUpSetup, RUPIAH } from "./auto-top-up-setup.ts";

let setup: AutoTopUpSetup;
let one: TopUpProcess;
beforeAll(async () => {
  setup = await AutoTopUpSetup.create();
  one = await setup.process();
});
afterAll(() => setup.close());

const SUCCEEDED = "top_up.succeeded";

/** The alerts of an account after an automatic top-up, and whether each is mailed. */
async function alertsOf(wanted: { mailTypes: string[]; webhookTypes: string[] }) {
  const accountId = await setup.account(one);
  await setAlertSettings(one.database.pool, accountId, { dailySpend: "", percents: [], ...wanted });
  await setup.round(one, accountId);
  await decideAlerts(one.database.pool);
  const text = "SELECT type, mail_at IS NOT NULL AS mailed FROM alert_event WHERE account_id = $1";
  expect(await setup.notices(one, accountId)).toEqual(["succeeded"]);
  return (await one.database.pool.query(text, [accountId])).rows as unknown[];
}

it("is mailed once, also where top-ups are mailed as an alert", async () => {
  expect(await alertsOf({ mailTypes: [SUCCEEDED], webhookTypes: [] })).toEqual([]);
});

it("is posted to the webhook that wants it, beside its one mail", async () => {
  const alerts = await alertsOf({ mailTypes: [SUCCEEDED], webhookTypes: [SUCCEEDED] });
  expect(alerts).toEqual([{ type: SUCCEEDED, mailed: false }]);
});

it("is automatic in the ledger's file, and another top-up is not", async () => {
  const accountId = await setup.account(one);
  await setup.round(one, accountId);
  const file = (await Array.fromAsync(exportLedger(one.database.pool, { accountId }))).join("");
  const [head, ...lines] = file.trimEnd().split("\r\n");
  expect(head?.split(",").at(-1)).toBe("automatic");
  // The top-up that saved the card, and the one that charged it.
  expect(
    lines.map((line) =>
      line
        .split(",")
        .slice(2, 4)
        .concat(line.split(",").at(-1) ?? ""),
    ),
  ).toEqual([
    ["top_up", "10000", "false"],
    ["top_up", "50000", "true"],
  ]);
});

it.each([
  [false, "was used for a top-up that saves no payment method"],
  [true, "was used for a top-up that saves its payment method"],
])("an idempotency key names what it was used for: %s", async (savesMethod, message) => {
  const accountId = await setup.topUps.money.account(0n);
  const order = { accountId, amount: 10_000n * RUPIAH, idempotencyKey: "one purchase" };
  await one.topUps.create({ ...order, savesMethod });
  const again = one.topUps.create({ ...order, savesMethod: !savesMethod });
  await expect(again).rejects.toMatchObject({ details: [{ field: "idempotencyKey", message }] });
  const larger = one.topUps.create({ ...order, amount: 20_000n * RUPIAH, savesMethod });
  await expect(larger).rejects.toMatchObject({ details: [{ message: "was used for a top-up of Rp 10,000.00" }] });
});
