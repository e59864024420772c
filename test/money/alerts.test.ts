// Alerts: each is decided once for each crossing, from committed rows, and survives the death of the process that decided it.

import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listAlertDeliveries, readWebhook, resendAlert, setWebhook } from "../../src/billing/alerts/account-webhook.ts";
import { setAlertSettings } from "../../src/billing/alerts/alert-settings.ts";
import { decideAlerts } from "../../src/billing/alerts/decide-alerts.ts";
import { setLowBalanceAlert } from "../../src/billing/low-balance-alert.ts";
import { MAX_ATTEMPTS } from "../../src/billing/owed-mails.ts";
import { rollUpUsage } from "../../src/billing/usage/roll-up.ts";
import { billingDay, startOfBillingDay } from "../../src/kernel/clock.ts";
import { NotFound, ValidationError } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { eventIdOf } from "../merchant/callback-receiver.ts";
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
        period: "total",
        percent: 100,
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

  describe("by mail", () => {
    async function reached(): Promise<string> {
      const accountId = await setup.account(1_000n, { webhookTypes: [], dailySpend: "20" });
      await setup.spend(accountId, await setup.key(accountId, 10n, "day"), 8);
      await setup.spend(accountId, await setup.money.key(accountId), 2);
      return accountId;
    }
    const later = () =>
      setup.money.asOwner(
        "UPDATE alert_event SET mail_at = clock_timestamp() - interval '1 s' WHERE mail_at IS NOT NULL",
      );

    it.each(["id", "en"] as const)("are in both languages, and first in that of the account: %s", async (language) => {
      const accountId = await reached();
      const worker = setup.worker(language);
      await worker.look();
      const mails = worker.to(accountId);
      expect(mails).toHaveLength(2);
      const [budget, day] = [
        mails.find(({ text }) => text.includes("/keys")),
        mails.find(({ text }) => text.includes("/usage")),
      ];
      const indonesian = 'Kunci "test" telah memakai Rp 8,00 dari anggaran Rp 10,00 (hari ini).';
      const english = 'The key "test" has used Rp 8.00 of its budget of Rp 10.00 (for today).';
      const [first, second] = language === "en" ? [english, indonesian] : [indonesian, english];
      expect(budget?.text.split("\n").slice(0, 2)).toEqual([first, second]);
      expect(budget?.text).toContain("https://saldo.example/alerts");
      expect(day?.text).toContain("has reached Rp 10.00, which is 50 % or more of the Rp 20.00 that you set.");
      expect(day?.text).toContain("mencapai Rp 10,00, yaitu 50 % atau lebih dari Rp 20,00 yang Anda tetapkan.");
    });

    it("are tried again when the mail server is away or the process dies, a few times and no more", async () => {
      const accountId = await reached();
      const worker = setup.worker();
      worker.fail(true);
      await expect(worker.look()).rejects.toThrow("mails could not be sent");
      await worker.look();
      expect(worker.to(accountId), "not at once").toHaveLength(2);
      for (let tries = 1; tries < MAX_ATTEMPTS; tries += 1) {
        await later();
        await expect(worker.look()).rejects.toThrow();
      }
      await later();
      await worker.look();
      expect(worker.to(accountId), "given up").toHaveLength(2 * MAX_ATTEMPTS);
      const sound = await reached();
      await worker.look().catch(() => {});
      worker.fail(false);
      await later();
      await setup.worker().look();
      expect((await setup.events(sound)).map(({ mailed, owed }) => [mailed, owed])).toEqual([
        [true, false],
        [true, false],
      ]);
    });
  });

  describe("by webhook", () => {
    /** An account with a webhook and an alert that was decided. */
    async function decided(url: string) {
      const accountId = await setup.account(1_000n);
      const secret = await setup.webhook(accountId, url);
      await setup.spend(accountId, await setup.key(accountId, 10n, "month"), 8);
      await decide();
      return { accountId, secret };
    }

    it("are signed, and delivered by another process where the one that decided them is killed", async () => {
      const receiver = await setup.receiver();
      receiver.behave = (response) => void response.writeHead(204).end();
      const { accountId, secret } = await decided(receiver.url);
      // The deciding process has done nothing but its statement. The one that takes the delivery dies with it.
      await setup.money.asOwner(`
        UPDATE webhook_delivery SET attempts = 1, is_leased = true, next_attempt_at = clock_timestamp() + interval '60 s'
        WHERE account_id = '${accountId}'`);
      const deliverer = setup.deliverer();
      await setup.post(deliverer);
      expect(receiver.received, "its lease runs").toHaveLength(0);
      await setup.money.asOwner(`
        UPDATE webhook_delivery SET next_attempt_at = clock_timestamp() WHERE account_id = '${accountId}'`);
      await Promise.all([setup.post(deliverer), setup.post(setup.deliverer())]);
      await setup.post(deliverer);
      const [received, ...others] = receiver.received;
      expect(others).toEqual([]);
      const { headers = {}, body = "" } = received ?? {};
      const [, time = "", signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["x-saldo-signature"])) ?? [];
      expect(signature).toBe(createHmac("sha256", secret).update(`${time}.${body}`).digest("hex"));
      expect(headers["x-callback-token"]).toBeUndefined();
      const message = JSON.parse(body) as Record<string, unknown>;
      expect(message).toMatchObject({
        id: eventIdOf(received),
        type: "key.budget_reached",
        accountId,
        data: { currency: "IDR", period: "month", percent: 80, budget: "10", spent: "8" },
      });
      const { items } = await listAlertDeliveries(setup.money.opened.database, {
        accountId,
        pageSize: 0,
        pageToken: "",
      });
      expect(items).toMatchObject([
        { about: "key.budget_reached", state: "delivered", attempts: [{ httpStatus: 204 }] },
      ]);
      expect(setup.errors).toEqual([]);
    });

    it("are repeated with the same body until an answer of 2xx, and again when their owner orders it", async () => {
      const receiver = await setup.receiver();
      receiver.behave = (response) => void response.writeHead(500).end("broken");
      const { accountId } = await decided(receiver.url);
      const deliverer = setup.deliverer();
      await setup.post(deliverer);
      await setup.post(deliverer);
      expect(receiver.received, "after a pause").toHaveLength(1);
      receiver.behave = (response) => void response.end("thanks");
      await setup.money.asOwner(`
        UPDATE webhook_delivery SET next_attempt_at = clock_timestamp() WHERE account_id = '${accountId}'`);
      await setup.post(deliverer);
      const database = setup.money.opened.database;
      const { items } = await listAlertDeliveries(database, { accountId, pageSize: 0, pageToken: "" });
      expect(items.map(({ state, attempts }) => [state, attempts.map(({ problem }) => problem)])).toEqual([
        ["delivered", ['answered 500: "broken"', null]],
      ]);
      const eventId = items[0]?.eventId ?? "";
      await resendAlert(database, { accountId, eventId });
      await setup.post(deliverer);
      expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
      expect(receiver.received).toHaveLength(3);
      const stranger = await setup.account(0n);
      await setup.webhook(stranger, receiver.url);
      await expect(resendAlert(database, { accountId: stranger, eventId })).rejects.toThrow(NotFound);
    });

    it("are repeated for days after quiet weeks, though the last one was given up", async () => {
      const receiver = await setup.receiver();
      receiver.behave = (response) => void response.writeHead(503).end("busy");
      const { accountId } = await decided(receiver.url);
      await setup.money.asOwner(`
        UPDATE webhook_settings SET failing_since = clock_timestamp() - interval '21 days' WHERE account_id = '${accountId}'`);
      const { database } = setup.money.opened;
      await setup.post(setup.deliverer());
      const { items } = await listAlertDeliveries(database, { accountId, pageSize: 0, pageToken: "" });
      expect(items.map(({ state, attempts }) => [state, attempts.length])).toEqual([["pending", 1]]);
      await setup.money.asOwner(`
        UPDATE webhook_delivery SET give_up_at = clock_timestamp(), next_attempt_at = clock_timestamp() WHERE account_id = '${accountId}'`);
      await setup.post(setup.deliverer());
      const failing = `SELECT failing_since, stopped_at FROM webhook_settings WHERE account_id = '${accountId}'`;
      expect((await setup.money.pool.query(failing)).rows).toEqual([{ failing_since: null, stopped_at: null }]);
    });

    it("show the secret once, and sign with the new one from a rotation on", async () => {
      const receiver = await setup.receiver();
      const { accountId, secret } = await decided(receiver.url);
      expect(secret).toMatch(/^cs_/);
      expect(await setup.webhook(accountId, receiver.url), "shown once").toBe("");
      const renewed = await setup.webhook(accountId, receiver.url, true);
      expect(renewed).toMatch(/^cs_/);
      expect(renewed).not.toBe(secret);
      expect((await readWebhook(setup.money.opened.database, accountId)).secretLastFour).toBe(renewed.slice(-4));
      await setup.post(setup.deliverer());
      const { headers = {}, body = "" } = receiver.received[0] ?? {};
      const [, time = "", signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["x-saldo-signature"])) ?? [];
      expect(signature).toBe(createHmac("sha256", renewed).update(`${time}.${body}`).digest("hex"));
    });

    it("go to no address of a private network, and to none that is not https in production", async () => {
      const accountId = await setup.account(0n);
      const set = (url: string, environment: "production" | "sandbox") =>
        setWebhook(setup.money.opened.database, {
          accountId,
          url,
          renewSecret: false,
          rules: { environment, allowLoopback: true },
        });
      for (const url of [
        "https://10.0.0.1/",
        "https://169.254.169.254/latest",
        "http://127.0.0.1/",
        "http://shop.example.com/",
      ])
        await expect(set(url, "production"), url).rejects.toThrow(ValidationError);
      await expect(set("https://192.168.1.1/", "sandbox")).rejects.toThrow(ValidationError);
      expect((await set("https://shop.example.com/hook", "production")).settings.url).toBe(
        "https://shop.example.com/hook",
      );
    });

    it("are not posted where the webhook is turned off, and wait for nothing", async () => {
      const receiver = await setup.receiver();
      const { accountId } = await decided(receiver.url);
      await setup.webhook(accountId, "");
      await setup.spend(accountId, await setup.key(accountId, 10n, "day"), 5);
      await decide();
      await setup.post(setup.deliverer());
      expect(receiver.received).toHaveLength(0);
      const { items } = await listAlertDeliveries(setup.money.opened.database, {
        accountId,
        pageSize: 0,
        pageToken: "",
      });
      expect(items.map(({ state, note }) => [state, note])).toEqual([["failed", "Callbacks were turned off."]]);
    });
  });
});
