// Alerts by mail and by webhook: what is decided is sent, also where the process that decided it has died.

import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listAlertDeliveries, readWebhook, resendAlert, setWebhook } from "../../src/billing/alerts/account-webhook.ts";
import { decideAlerts } from "../../src/billing/alerts/decide-alerts.ts";
import { MAX_ATTEMPTS } from "../../src/billing/owed-mails.ts";
import { NotFound, ValidationError } from "../../src/kernel/errors.ts";
import { eventIdOf } from "../merchant/callback-receiver.ts";
import { testBackends } from "../setup/test-database.ts";
import { AlertSetup } from "./alerts-setup.ts";

describe.each(testBackends())("alerts on the %s database", (backend) => {
  let setup: AlertSetup;
  beforeAll(async () => {
    setup = await AlertSetup.create(backend);
  });
  afterAll(() => setup.close());

  const decide = () => decideAlerts(setup.money.pool);

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

    /** Hours until the mails of an account are tried again; 0: they are given up. */
    async function pauseOf(accountId: string): Promise<number> {
      const { rows } = await setup.money.pool.query<{ hours: number }>(
        `SELECT coalesce(extract(epoch FROM max(mail_at) - clock_timestamp()) / 3600, 0)::float8 AS hours FROM alert_event WHERE account_id = $1`,
        [accountId],
      );
      return rows[0]?.hours ?? 0;
    }

    it.each([
      { code: "ETIMEDOUT", message: "Timeout" },
      { code: "ECONNECTION", message: "Connection closed unexpectedly" },
    ])("are tried five times where the server may have sent them and does not answer: $message", async (facts) => {
      const accountId = await reached();
      const worker = setup.worker();
      worker.fail(true, Object.assign(new Error(facts.message), { code: facts.code, command: "CONN" }));
      for (let tries = 0; tries < MAX_ATTEMPTS; tries += 1) {
        await worker.look().catch(() => {});
        await later();
      }
      expect(worker.to(accountId)).toHaveLength(2 * 5);
    });

    it.each([
      { code: "ESOCKET", syscall: "connect", message: "connect ECONNREFUSED 127.0.0.1:25" },
      { code: "ETIMEDOUT", message: "Connection timeout" },
      { code: "EENVELOPE", responseCode: 451, message: "Try again later" },
    ])("are tried as often as ever where the server did not take them: $message", async ({ message, ...facts }) => {
      const accountId = await reached();
      const worker = setup.worker();
      worker.fail(true, Object.assign(new Error(message), facts));
      for (let tries = 0; tries < 8; tries += 1) {
        await worker.look().catch(() => {});
        await later();
      }
      expect(worker.to(accountId)).toHaveLength(2 * 8);
    });

    it("wait for a later version where only that knows their type, and no other mail waits for them", async () => {
      const accountId = await reached();
      await setup.worker().look();
      await setup.money.asOwner(`ALTER TABLE alert_event DROP CONSTRAINT alert_event_type_check;
        UPDATE alert_event SET type = 'weather.bad', mailed_at = NULL, mail_at = clock_timestamp() - interval '1 h', mail_attempts = 1,
          mailed_people = '{}' WHERE account_id = '${accountId}'`);
      const other = await reached();
      const worker = setup.worker();
      await worker.look();
      expect([worker.to(accountId), worker.to(other).length]).toEqual([[], 2]);
      const kept = `SELECT DISTINCT mail_attempts AS attempts, mail_at IS NOT NULL AS "isOwed" FROM alert_event WHERE account_id = $1`;
      expect((await setup.money.pool.query(kept, [accountId])).rows).toEqual([{ attempts: 1, isOwed: true }]);
      await setup.money
        .asOwner(`UPDATE alert_event SET type = 'balance.low', mail_at = NULL WHERE account_id = '${accountId}';
        ALTER TABLE alert_event ADD CONSTRAINT alert_event_type_check
          CHECK (type IN ('balance.low', 'key.budget_reached', 'member.budget_reached', 'usage.daily', 'top_up.succeeded')) NOT VALID`);
    });

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
      const english = 'The key "test" has used Rp 8.00 of the budget of Rp 10.00 (for today).';
      const [first, second] = language === "en" ? [english, indonesian] : [indonesian, english];
      expect(budget?.text.split("\n").slice(0, 2)).toEqual([first, second]);
      expect(budget?.text).toContain("https://saldo.example/alerts");
      expect(day?.text).toContain("has reached Rp 10.00, which is 50 % or more of the Rp 20.00 that you set.");
      expect(day?.text).toContain("mencapai Rp 10,00, yaitu 50 % atau lebih dari Rp 20,00 yang Anda tetapkan.");
    });

    it("are tried again when the mail server is away or the process dies, for three days and no more", async () => {
      const accountId = await reached();
      const worker = setup.worker();
      worker.fail(true);
      await expect(worker.look()).rejects.toThrow("mails could not be sent");
      await worker.look();
      expect(worker.to(accountId), "not at once").toHaveLength(2);
      let hours = await pauseOf(accountId);
      for (let tries = 1; tries < MAX_ATTEMPTS; tries += 1) {
        await later();
        await expect(worker.look()).rejects.toThrow();
        hours += await pauseOf(accountId);
      }
      expect(hours).toBeGreaterThan(71.9);
      expect(hours).toBeLessThan(80);
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
