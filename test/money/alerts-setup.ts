// Accounts with alerts, what they spend, and the workers that decide and send: for the tests of alerts.

import { CallbackReceiver } from "../merchant/callback-receiver.ts";
import { createAlertDeliverer, setWebhook } from "../../src/billing/alerts/account-webhook.ts";
import { setAlertSettings, type WrittenAlertSettings } from "../../src/billing/alerts/alert-settings.ts";
import { alertTick, type AlertWork } from "../../src/billing/jobs/alerts.ts";
import { lowBalanceTick } from "../../src/billing/jobs/low-balance.ts";
import type { CallbackDeliverer } from "../../src/callbacks/deliver-callbacks.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import type { BudgetPeriod } from "../../src/kernel/key-limit-errors.ts";
import type { Language } from "../../src/kernel/preferred-language.ts";
import { NO_LIMITS } from "../../src/keys/key-limits.ts";
import { setMemberBudget } from "../../src/keys/member-budgets.ts";
import { setKeyLimits } from "../../src/keys/set-key-limits.ts";
import type { TestBackend } from "../setup/test-servers.ts";
import { admission, MoneySetup, settlement, type TestProcess } from "./money-setup.ts";

export const RUPIAH = 1_000_000n;
const EVERYTHING: WrittenAlertSettings = {
  dailySpend: "",
  percents: [50, 80, 100],
  mailTypes: ["key.budget_reached", "member.budget_reached", "usage.daily", "top_up.succeeded"],
  webhookTypes: ["balance.low", "key.budget_reached", "member.budget_reached", "usage.daily", "top_up.succeeded"],
};
export const PLACES = {
  alerts: "https://saldo.example/alerts",
  keys: "https://saldo.example/keys",
  members: "https://saldo.example/members",
  usage: "https://saldo.example/usage",
  billing: "https://saldo.example/billing",
};
const EVENTS = `SELECT type, percent, data, mailed_at IS NOT NULL AS mailed, mail_at IS NOT NULL AS owed FROM alert_event WHERE account_id = $1 ORDER BY id`;
const INSERT_PAID = `
INSERT INTO top_up (id, account_id, idempotency_key, amount, provider, state, expires_at, paid_at)
VALUES ($1::uuid, $2::uuid, $1::uuid::text, 25000000000, 'sandbox', 'paid', clock_timestamp(), clock_timestamp())`;

type Readers = Pick<AlertWork, "readersOf" | "emailOf">;
type Event = { type: string; percent: number; data: Record<string, unknown>; mailed: boolean; owed: boolean };

/** A worker whose mails are kept, and which fails on demand. */
export type Worker = {
  readonly mails: { to: string; subject: string; text: string }[];
  to(accountId: string): { to: string; subject: string; text: string }[];
  look(): Promise<void>;
  /** `cause`: what the mail server, or the connection to it, reports. */
  fail(isFailing: boolean, cause?: Error): void;
  /** Mails to an address that begins so fail. Null: none. */
  failTo(beginning: string | null): void;
};

export class AlertSetup {
  readonly money: MoneySetup;
  readonly errors: unknown[] = [];
  readonly #process: TestProcess;
  readonly #receivers: CallbackReceiver[] = [];
  readonly #deliverers: CallbackDeliverer[] = [];

  private constructor(money: MoneySetup, process: TestProcess) {
    this.money = money;
    this.#process = process;
  }

  static async create(backend: TestBackend): Promise<AlertSetup> {
    const money = await MoneySetup.create(backend);
    return new AlertSetup(money, await money.process());
  }

  /** An account with so many rupiah that wants every alert. */
  async account(rupiah: bigint, settings: Partial<WrittenAlertSettings> = {}): Promise<string> {
    const accountId = await this.money.account(rupiah * RUPIAH);
    await setAlertSettings(this.money.pool, accountId, { ...EVERYTHING, ...settings });
    return accountId;
  }

  /** Watches these percents alone. */
  async watch(accountId: string, percents: readonly number[]): Promise<void> {
    await setAlertSettings(this.money.pool, accountId, { ...EVERYTHING, percents });
  }

  async key(accountId: string, rupiah: bigint, period: BudgetPeriod): Promise<string> {
    const keyId = await this.money.key(accountId);
    await this.limitKey(accountId, keyId, rupiah, period);
    return keyId;
  }

  /** Spends whole rupiah with a key. */
  async spend(accountId: string, keyId: string, rupiah: number, requestId = uuidv7()): Promise<void> {
    const request = { ...admission(accountId, keyId, BigInt(rupiah) * RUPIAH), requestId };
    await this.#process.ledger.admit(request);
    await this.#process.ledger.settle(settlement(accountId, requestId, rupiah * 200));
  }

  /** A request that is refused for a budget. `least`: what it holds at least, in rupiah. */
  async refused(accountId: string, keyId: string, least: bigint): Promise<void> {
    const outcome = await this.#process.ledger.admit(admission(accountId, keyId, least * RUPIAH));
    if (outcome.outcome !== "over_budget") throw new Error(`the request was ${outcome.outcome}`);
  }

  /** Opens a request that holds whole rupiah, and returns its id. */
  async open(accountId: string, keyId: string, rupiah: bigint): Promise<string> {
    const request = admission(accountId, keyId, rupiah * RUPIAH);
    await this.#process.ledger.admit(request);
    return request.requestId;
  }

  /** A member with a budget, and a key that the member has made. */
  async member(accountId: string, rupiah: bigint, period: BudgetPeriod): Promise<{ personId: string; keyId: string }> {
    const personId = uuidv7();
    const keyId = await this.money.key(accountId);
    await this.money.pool.query("UPDATE api_key SET person_id = $2 WHERE id = $1", [keyId, personId]);
    await this.limitMember(accountId, personId, rupiah, period);
    return { personId, keyId };
  }

  async limitMember(accountId: string, personId: string, rupiah: bigint, period: BudgetPeriod): Promise<void> {
    const budget = { amount: rupiah * RUPIAH, period };
    await withTransaction(this.money.opened.database, (client) =>
      setMemberBudget(client, { accountId, personId, budget }),
    );
  }

  /** Sets the budget of a key to another amount. */
  async limitKey(accountId: string, keyId: string, rupiah: bigint, period: BudgetPeriod): Promise<void> {
    const limits = { ...NO_LIMITS, budget: { amount: rupiah * RUPIAH, period } };
    await withTransaction(this.money.opened.database, (client) => setKeyLimits(client, { accountId, keyId, limits }));
  }

  get ledger(): TestProcess["ledger"] {
    return this.#process.ledger;
  }

  /** A top-up of an account that is paid; its money is the business of other tests. */
  async paidTopUp(accountId: string): Promise<string> {
    const topUpId = uuidv7();
    await this.money.pool.query(INSERT_PAID, [topUpId, accountId]);
    return topUpId;
  }

  /** The alerts of an account, oldest first. */
  async events(accountId: string): Promise<Event[]> {
    return (await this.money.pool.query<Event>(EVENTS, [accountId])).rows;
  }

  /** Their types and percents. */
  async made(accountId: string): Promise<string[]> {
    return (await this.events(accountId)).map(({ type, percent }) => `${type} ${percent}`);
  }

  /** `readersOf`: absent, each account has one reader, its customer. */
  worker(language: Language = "id", { readersOf, emailOf }: Partial<Readers> = {}): Worker {
    const mails: { to: string; subject: string; text: string }[] = [];
    let failing = false;
    let failingTo: string | null = null;
    let reported: Error | undefined;
    const work = {
      pool: this.money.pool,
      readersOf:
        readersOf ??
        ((accountId: string) =>
          Promise.resolve([{ id: accountId, email: `${accountId}@test.example`, language, mayChange: true }])),
      emailOf: emailOf ?? (() => Promise.resolve(null)),
      mailer: {
        send(mail: { to: string; subject: string; text: string }) {
          mails.push(mail);
          return failing || (failingTo !== null && mail.to.startsWith(failingTo))
            ? Promise.reject(new Error("the mail server is away", { cause: reported }))
            : Promise.resolve();
        },
      },
    };
    const ticks = [
      lowBalanceTick({ ...work, topUpUrl: () => PLACES.billing }),
      alertTick({ ...work, places: () => PLACES }),
    ];
    return {
      mails,
      to: (accountId) => mails.filter(({ to }) => to.startsWith(accountId)),
      async look() {
        for (const tick of ticks) await tick.run(new AbortController().signal);
      },
      fail(isFailing, cause) {
        failing = isFailing;
        reported = cause;
      },
      failTo(beginning) {
        failingTo = beginning;
      },
    };
  }

  async receiver(): Promise<CallbackReceiver> {
    const receiver = await CallbackReceiver.listen();
    this.#receivers.push(receiver);
    return receiver;
  }

  /** Sets the webhook of an account, this machine included. Returns the secret. */
  async webhook(accountId: string, url: string, renewSecret = false): Promise<string> {
    const rules = { environment: "sandbox", allowLoopback: true } as const;
    return (await setWebhook(this.money.opened.database, { accountId, url, renewSecret, rules })).secret;
  }

  deliverer(database = this.money.opened.database): CallbackDeliverer {
    const deliverer = createAlertDeliverer({
      database,
      environment: "sandbox",
      allowLoopback: true,
      onStopped: () => {},
      onError: (error) => this.errors.push(error),
      random: () => 0,
    });
    this.#deliverers.push(deliverer);
    return deliverer;
  }

  /** Posts what is due, and waits for it. */
  async post(deliverer: CallbackDeliverer): Promise<void> {
    await deliverer.round();
    await deliverer.idle();
  }

  async close(): Promise<void> {
    await Promise.all(this.#receivers.map((receiver) => receiver.close()));
    await Promise.all(this.#deliverers.map((deliverer) => deliverer.stop()));
    await this.money.close();
  }
}
