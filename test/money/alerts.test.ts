// Alerts: each is decided once for each crossing, from committed rows.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { setAlertSettings } from "../../src/billing/alerts/alert-settings.ts";
import { decideAlerts, MOST_OF_BUDGET } from "../../src/billing/alerts/decide-alerts.ts";
import { setLowBalanceAlert } from "../../src/billing/low-balance-alert.ts";
import { rollUpUsage } from "../../src/billing/usage/roll-up.ts";
import { billingDay, startOfBillingDay } from "../../src/kernel/clock.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { testBackends } from "../setup/test-database.ts";
import { AlertSetup, RUPIAH } from "./alerts-setup.ts";

const DAY_MS = 24 * 60 * 60_000;

describe.each(testBackends())("alerts on the %s database", (backend) => {
  let setup: AlertSetup;
  beforeAll(async () => {
    setup = await AlertSetup.create(backend);
  });
  afterAll(() => setup.close());

  const decide = () => decideAlerts(setup.money.pool);

  describe("of a key's budget", () => {
    it("come once at each percent, from several simultaneous processes", async () => {
      const accountId = await setup.account(1_000n);
      const keyId = await setup.key(accountId, 100n, "total");
      await setup.spend(accountId, keyId, 49);
      await decide();
      expect(await setup.made(accountId)).toEqual([]);
      await setup.spend(accountId, keyId, 1);
      await Promise.all([decide(), decide(), decide(), decide()]);
      expect(await setup.made(accountId)).toEqual(["key.budget_reached 50"]);
      await setup.spend(accountId, keyId, 29);
      await decide();
      await setup.spend(accountId, keyId, 1);
      await Promise.all([decide(), decide()]);
      await setup.spend(accountId, keyId, 20);
      await Promise.all([decide(), decide()]);
      await decide();
      const events = await setup.events(accountId);
      expect(events.map(({ percent }) => percent)).toEqual([50, 80, 100]);
      expect(events.at(-1)?.data).toEqual({
        keyId,
        keyName: "test",
        personId: null,
        period: "total",
        percent: 100,
        refused: false,
        resetMs: 0,
        budget: "100000000",
        spent: "100000000",
      });
    });

    it("come at the highest percent alone where several are passed at once, and then at no lower one", async () => {
      const accountId = await setup.account(1_000n);
      const keyId = await setup.key(accountId, 100n, "month");
      await setup.spend(accountId, keyId, 100);
      await decide();
      await setup.money.asOwner(`UPDATE api_key SET budget_spent = 85000000 WHERE id = '${keyId}'`);
      await decide();
      expect(await setup.made(accountId)).toEqual(["key.budget_reached 100"]);
    });

    it("come again in the next period and for another budget, and not while the old one goes on", async () => {
      const accountId = await setup.account(1_000n);
      const keyId = await setup.key(accountId, 100n, "day");
      // Set before today, as most budgets are.
      await setup.money.asOwner(
        `UPDATE api_key SET budget_start = budget_start - interval '9 days' WHERE id = '${keyId}'`,
      );
      await setup.spend(accountId, keyId, 60);
      await decide();
      expect(await setup.made(accountId)).toEqual(["key.budget_reached 50"]);
      await setup.money.asOwner(
        `UPDATE alert_event SET crossing = crossing || ' of yesterday' WHERE account_id = '${accountId}'`,
      );
      // Yesterday's spend is not today's.
      await setup.money.asOwner(
        `UPDATE api_key SET budget_start = budget_start - interval '1 day' WHERE id = '${keyId}'`,
      );
      await decide();
      expect(await setup.made(accountId)).toHaveLength(1);
      await setup.spend(accountId, keyId, 55);
      await decide();
      await decide();
      expect(await setup.made(accountId)).toEqual(["key.budget_reached 50", "key.budget_reached 50"]);
    });

    it("are bounded where a budget is changed again and again", async () => {
      const accountId = await setup.account(1_000n);
      const keyId = await setup.key(accountId, 10n, "month");
      await setup.spend(accountId, keyId, 10);
      for (let change = 0; change < MOST_OF_BUDGET + 3; change += 1) {
        await setup.money.asOwner(`UPDATE api_key SET budget = 9000000 + ${change} WHERE id = '${keyId}'`);
        await decide();
      }
      expect(await setup.made(accountId)).toHaveLength(MOST_OF_BUDGET);
      const other = await setup.key(accountId, 10n, "month");
      await setup.spend(accountId, other, 10);
      await decide();
      expect(await setup.made(accountId), "of another key").toHaveLength(MOST_OF_BUDGET + 1);
      await setup.money.asOwner(
        `UPDATE alert_event SET created_at = created_at - interval '1 day' WHERE account_id = '${accountId}'`,
      );
      await decide();
      expect(await setup.made(accountId), "a day later").toHaveLength(MOST_OF_BUDGET + 2);
    });

    it("do not come for keys that are revoked or have no budget, nor for accounts that want none", async () => {
      const accountId = await setup.account(1_000n);
      const [revoked, free] = [await setup.key(accountId, 10n, "total"), await setup.money.key(accountId)];
      await setup.spend(accountId, revoked, 10);
      await setup.spend(accountId, free, 10);
      await setup.money.asOwner(`UPDATE api_key SET revoked_at = now() WHERE id = '${revoked}'`);
      const quiet = await setup.account(1_000n, { mailTypes: [], webhookTypes: ["balance.low"] });
      const unwatched = await setup.account(1_000n, { percents: [] });
      for (const each of [quiet, unwatched]) await setup.spend(each, await setup.key(each, 10n, "total"), 10);
      await decide();
      expect(await Promise.all([accountId, quiet, unwatched].map((each) => setup.made(each)))).toEqual([[], [], []]);
    });
  });

  describe("of a day's spend", () => {
    it("come once at each percent, and count the day's requests of all keys, rolled up or not", async () => {
      const accountId = await setup.account(1_000n, { dailySpend: "100" });
      const [one, other] = [await setup.money.key(accountId), await setup.money.key(accountId)];
      await setup.spend(accountId, one, 500, uuidv7(Date.now() - 2 * DAY_MS));
      await decide();
      expect(await setup.made(accountId), "a former day's").toEqual([]);
      await setup.spend(accountId, one, 30);
      await setup.spend(accountId, other, 19);
      await decide();
      expect(await setup.made(accountId)).toEqual([]);
      await rollUpUsage(setup.money.pool);
      await setup.spend(accountId, other, 1);
      await Promise.all([decide(), decide(), decide()]);
      expect(await setup.made(accountId)).toEqual(["usage.daily 50"]);
      await setup.spend(accountId, other, 51);
      await Promise.all([decide(), decide(), decide()]);
      const [, last] = await setup.events(accountId);
      expect(last?.data).toMatchObject({ percent: 100, dailySpend: "100000000", spent: "101000000" });
      expect(await setup.made(accountId)).toHaveLength(2);
    });

    it("count for the day before as well in the first hour of a day, and no longer", async () => {
      const accountId = await setup.account(1_000n, { dailySpend: "100" });
      const keyId = await setup.money.key(accountId);
      const midnight = startOfBillingDay(billingDay(Date.now()));
      await setup.spend(accountId, keyId, 100, uuidv7(midnight - 20_000));
      await setup.spend(accountId, keyId, 50);
      const isFirstHour = () => Date.now() - midnight < 3_600_000;
      const before = isFirstHour();
      await decide();
      const made = await setup.made(accountId);
      expect(made.toSorted()).toEqual(
        before && isFirstHour() ? ["usage.daily 100", "usage.daily 50"] : ["usage.daily 50"],
      );
    });

    it("read the quarters that are rolled up from the roll-ups, and only the rest from records", async () => {
      const accountId = await setup.account(1_000n, { dailySpend: "100" });
      await setup.spend(accountId, await setup.money.key(accountId), 40);
      // A roll-up with more in it shows which of both was read.
      await setup.money.asOwner(`
        INSERT INTO usage_rolled_up (account_id, before_quarter) SELECT '${accountId}', quarter_of(new_uuidv7()) + 1;
        INSERT INTO usage_roll_up (account_id, quarter, model, key_id, basis, requests, input_tokens_uncached, input_tokens_cached,
          output_tokens, cost, charge, saved_by_cache)
        SELECT '${accountId}', quarter_of(new_uuidv7()), 'm', new_uuidv7(), 'exact', 1, 0, 0, 0, 81000000, 81000000, 0`);
      await decide();
      expect((await setup.events(accountId)).map(({ data }) => data["spent"])).toEqual(["81000000"]);
    });
  });

  describe("of a balance", () => {
    it("come once for each fall below the threshold, and again after it has risen", async () => {
      const accountId = await setup.account(100n);
      const receiver = await setup.receiver();
      await setup.webhook(accountId, receiver.url);
      await setLowBalanceAlert(setup.money.pool, { accountId, threshold: 50n * RUPIAH });
      const keyId = await setup.money.key(accountId);
      const workers = [setup.worker(), setup.worker(), setup.worker()];
      const look = () => Promise.all(workers.map((each) => each.look()));
      await look();
      await setup.spend(accountId, keyId, 60);
      await look();
      await look();
      expect(await setup.made(accountId)).toEqual(["balance.low 0"]);
      await setup.money.credit(accountId, 60n * RUPIAH);
      await look();
      await setup.spend(accountId, keyId, 60);
      await look();
      expect(await setup.made(accountId)).toEqual(["balance.low 0", "balance.low 0"]);
      expect(
        workers.flatMap((each) => each.to(accountId)),
        "its mail is that of the low-balance alert",
      ).toHaveLength(2);
      await setup.post(setup.deliverer());
      expect(receiver.received.map(({ body }) => (JSON.parse(body) as { data: object }).data)).toEqual([
        { currency: "IDR", threshold: "50", balance: "40" },
        { currency: "IDR", threshold: "50", balance: "40" },
      ]);
    });
  });

  describe("of top-ups", () => {
    it("come once for each that is paid from the settings on", async () => {
      const accountId = await setup.money.account(0n);
      await setup.paidTopUp(accountId);
      await setAlertSettings(setup.money.pool, accountId, {
        dailySpend: "",
        percents: [],
        mailTypes: ["top_up.succeeded"],
        webhookTypes: [],
      });
      const topUpId = await setup.paidTopUp(accountId);
      const [one, other] = [setup.worker("en"), setup.worker("en")];
      await Promise.all([one.look(), other.look()]);
      await one.look();
      expect((await setup.events(accountId)).map(({ type, data }) => [type, data["topUpId"]])).toEqual([
        ["top_up.succeeded", topUpId],
      ]);
      const mails = [...one.to(accountId), ...other.to(accountId)];
      expect(mails.map(({ subject }) => subject)).toEqual(["Saldo: top-up succeeded / isi ulang berhasil"]);
      expect(mails[0]?.text).toContain("Your top-up of Rp 25,000.00 was added to your balance.");
    });
  });

  it("of top-ups do not come for those that were paid before they were wanted", async () => {
    const accountId = await setup.account(0n, { mailTypes: [], webhookTypes: ["balance.low"] });
    await setup.paidTopUp(accountId);
    const wanted = { dailySpend: "", percents: [], mailTypes: ["top_up.succeeded"], webhookTypes: [] };
    await setAlertSettings(setup.money.pool, accountId, wanted);
    const topUpId = await setup.paidTopUp(accountId);
    // Saving the same again forgets none that is not decided yet.
    await setAlertSettings(setup.money.pool, accountId, { ...wanted, webhookTypes: ["top_up.succeeded"] });
    await decide();
    expect((await setup.events(accountId)).map(({ data }) => data["topUpId"])).toEqual([topUpId]);
  });
});
