// Money that moves beside the requests, under the same faults: customers buy balance at the sandbox provider, and a
// merchant orders transfers that the gateways pay on the sandbox chain. Orders are repeated under their own names until
// they are answered; at the end each was carried out once, and the balances equal the sum of the orders.

import { setTimeout as sleep } from "node:timers/promises";
import { openPaymentProviders } from "../../src/billing/payments/payment-providers.ts";
import { createSandboxDesk } from "../../src/billing/payments/sandbox/sandbox-desk.ts";
import { SIGNATURE_HEADER } from "../../src/billing/payments/sandbox/sandbox-provider.ts";
import { paymentOfOrder } from "../../src/billing/payments/sandbox/store.ts";
import { createTopUps } from "../../src/billing/top-ups/top-ups.ts";
import type { Database } from "../../src/database/database.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { parseDecimal, formatDecimal } from "../../src/kernel/decimal.ts";
import { creditMerchant, listBalances } from "../../src/merchant/merchants/merchants.ts";
import { newMerchant } from "../merchant/merchant-accounts.ts";
import { seededRandom } from "../money/random.ts";
import type { Gateway } from "./gateways.ts";
import type { Account, Shadow } from "./shadow.ts";

/** What the gateways need so that the sandbox provider sells balance. */
/** The merchant orders for hours, so the daily limit of a sandbox merchant is as high as it can be set. */
export const MOVER_SETTINGS = { SALDO_PAYMENT_PROVIDER: "sandbox", SALDO_SANDBOX_ORDERS_A_DAY: "1000000" };

export type MoversOptions = {
  readonly database: Database;
  readonly gateways: { choose(random: () => number): Pick<Gateway, "url"> };
  readonly shadow: Shadow;
  readonly buyers: readonly Account[];
  readonly seed: number;
};

const PAUSE_MS = 1_000;
const AGAIN_MS = 250;
const ANSWER_WITHIN_MS = 10_000;
/** Some minutes: longer than any fault. */
const TRIES = 1_000;
const BOUGHT = 25_000_000_000n;
const PAYMENTS = ["pay", "pay_twice", "pay_late", "pay_silently"] as const;
/** The sandbox chain reverts the second amount. The cost of each, fee included, is computed here again. */
const PAID = { amount: 10, takes: "26.7" } as const;
const REVERTED = { amount: 10.0004, takes: "0" } as const;
const FUND = "1000000";
const SCALE = 6;
const ADDRESS = "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC";

export class MoneyMovers {
  /** Orders that were answered. */
  transfers = 0;
  topUps = 0;
  readonly #options: MoversOptions;
  readonly #random: () => number;
  readonly #ending = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  #merchant = { merchantId: "", authorization: "" };
  #expectedFund = parseDecimal(FUND, SCALE);

  private constructor(options: MoversOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
  }

  static async start(options: MoversOptions): Promise<MoneyMovers> {
    const movers = new MoneyMovers(options);
    const { merchantId, apiKey, secretKey } = await newMerchant(options.database);
    await creditMerchant(options.database, { merchantId, currencyCode: "TRX", amountText: FUND });
    const pair = Buffer.from(`${apiKey}:${secretKey}`).toString("base64");
    movers.#merchant = { merchantId, authorization: `Basic ${pair}` };
    movers.#running = Promise.all([movers.#orderTransfers(), movers.#buy()]).catch((error: unknown) =>
      options.shadow.violate(`money stopped moving: ${String(error)}`),
    );
    return movers;
  }

  /** Stops ordering, lets every order be carried out, and compares. */
  async end(withinMs: number): Promise<void> {
    this.#ending.abort();
    await this.#running;
    const { database, shadow } = this.#options;
    const count = async (text: string): Promise<number> =>
      this.#again(async () => (await database.pool.query<{ n: number }>(text)).rows[0]?.n ?? 0);
    for (const [what, open] of [
      ["transfers", "SELECT count(*)::int AS n FROM transfer WHERE status IN ('PENDING', 'WAITING', 'SUBMITTED')"],
      ["top-ups", "SELECT count(*)::int AS n FROM top_up WHERE paid_at IS NULL"],
    ] as const) {
      const deadline = Date.now() + withinMs;
      while ((await count(open)) > 0 && Date.now() < deadline) await sleep(AGAIN_MS);
      const left = await count(open);
      if (left > 0) shadow.violate(`${left} ${what} are never carried out`);
    }
    const made = [
      await count("SELECT count(*)::int AS n FROM transfer"),
      await count("SELECT count(*)::int AS n FROM top_up"),
    ];
    const ordered = [this.transfers, this.topUps];
    if (made.join() !== ordered.join())
      shadow.violate(`${ordered.join()} transfers and top-ups were ordered, ${made.join()} are there`);
    const [fund] = await this.#again(() => listBalances(database, this.#merchant.merchantId));
    const expected = formatDecimal(this.#expectedFund, SCALE);
    if (fund?.available !== expected || fund.held !== "0") {
      shadow.violate(`the merchant has ${fund?.available} and ${fund?.held} held, not ${expected}`);
    }
  }

  async #orderTransfers(): Promise<void> {
    while (await this.#pause()) {
      const { amount, takes } = this.#random() < 0.8 ? PAID : REVERTED;
      const order = { externalId: `soak-${this.transfers + 1}`, currencyCode: "TRX", amount, address: ADDRESS };
      await this.#again(async () => {
        const { url } = this.#options.gateways.choose(this.#random);
        const answer = await fetch(`${url}/sandbox/v1/merchant-transfers/create`, {
          method: "POST",
          headers: { authorization: this.#merchant.authorization, "content-type": "application/json" },
          body: JSON.stringify(order),
          signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
        });
        const text = await answer.text();
        if (answer.status === 200) return;
        if (answer.status < 500) this.#options.shadow.violate(`a transfer was refused: ${answer.status} ${text}`);
        throw new Error(text);
      });
      this.transfers += 1;
      this.#expectedFund -= parseDecimal(takes, SCALE);
    }
  }

  /**
   * Orders are made and paid here, as by a third process; the gateways receive the notifications and poll open orders.
   */
  async #buy(): Promise<void> {
    const { database, gateways, shadow, buyers } = this.#options;
    const { pool } = database;
    const providers = openPaymentProviders(
      { chosen: "sandbox", sandbox: true, midtrans: null, xendit: null },
      { pool, baseUrl: () => gateways.choose(this.#random).url },
    );
    const topUps = createTopUps({
      database,
      providers,
      clock: systemClock,
      expiresAfterMs: 3_600_000,
      returnUrlOf: () => "http://127.0.0.1/",
      onFailure: () => {},
    });
    const desk = createSandboxDesk(pool, async ({ body, signature }) => {
      const answer = await fetch(`${gateways.choose(this.#random).url}/webhooks/payments/sandbox`, {
        method: "POST",
        headers: { "content-type": "application/json", [SIGNATURE_HEADER]: signature },
        body: new Uint8Array(body),
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`the notification was answered with ${answer.status}`);
    });
    while (await this.#pause()) {
      const buyer = buyers[Math.floor(this.#random() * buyers.length)];
      if (buyer === undefined) break;
      const { accountId } = buyer;
      const idempotencyKey = `soak-${this.topUps + 1}`;
      const action = PAYMENTS[Math.floor(this.#random() * PAYMENTS.length)] ?? "pay";
      await this.#again(async () => {
        const { topUpId } = await topUps.create({ accountId, amount: BOUGHT, idempotencyKey });
        const payment = await paymentOfOrder(pool, topUpId);
        if (payment === null) throw new Error("the provider does not know it yet");
        await desk.act(payment.token, action);
      });
      this.topUps += 1;
      shadow.credited(accountId, BOUGHT);
    }
    topUps.endWatching();
    await desk.stop();
    await providers.close();
  }

  /** False: no more orders are made. */
  async #pause(): Promise<boolean> {
    const { signal } = this.#ending;
    if (!signal.aborted) await sleep(2 * PAUSE_MS * this.#random(), undefined, { signal }).catch(() => {}); // aborted: handled below
    return !signal.aborted;
  }

  /** Every part that is away comes back. */
  async #again<Result>(work: () => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        if (attempt === TRIES) throw error;
        await sleep(AGAIN_MS);
      }
    }
  }
}
