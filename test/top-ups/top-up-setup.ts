// Top-ups of several processes, on a database of their own and with a payment provider that speaks the real wire formats.

import {
  openPaymentProviders,
  type PaymentConfig,
  type PaymentProviders,
} from "../../src/billing/payments/payment-providers.ts";
import { createSandboxDesk, type SandboxDesk } from "../../src/billing/payments/sandbox/sandbox-desk.ts";
import { SIGNATURE_HEADER, writeNotification } from "../../src/billing/payments/sandbox/sandbox-provider.ts";
import { paymentOfOrder } from "../../src/billing/payments/sandbox/store.ts";
import type { TopUp } from "../../src/billing/top-ups/top-up.ts";
import { createTopUps, type TopUps } from "../../src/billing/top-ups/top-ups.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import type { FeeRule } from "../../src/kernel/provider-fee-rule.ts";
import { admission, MoneySetup, PRICES, settlement, type TestProcess } from "../money/money-setup.ts";
import { type FakeProvider, startFakeProvider } from "./fake-provider.ts";
import type { FakePayment } from "./fake-wire.ts";

export const MICRO = 1_000_000n;
/** The amount of the tests' top-ups, in rupiah. */
export const RUPIAH = 25_000;
export const AMOUNT = BigInt(RUPIAH) * MICRO;

/** The price of an input token in those tests. */
const TOKEN_COST = PRICES.input / MICRO;

/** One process that serves top-ups. */
export type TopUpProcess = {
  readonly database: Database;
  readonly topUps: TopUps;
  readonly providers: PaymentProviders;
  readonly desk: SandboxDesk;
  /** The errors of calls to providers. */
  readonly failures: { readonly topUpId: string; readonly error: unknown }[];
  close(): Promise<void>;
};

export class TopUpSetup {
  /** Accounts, balances and the audit. */
  readonly money: MoneySetup;
  readonly fake: FakeProvider;
  readonly #processes = new Set<TopUpProcess>();
  #keys = 0;
  #gateway: TestProcess | undefined;

  private constructor(money: MoneySetup, fake: FakeProvider) {
    this.money = money;
    this.fake = fake;
  }

  static async create(): Promise<TopUpSetup> {
    return new TopUpSetup(await MoneySetup.create("embedded"), await startFakeProvider());
  }

  /** Another process, which opens new orders at the named provider. Its clock is `aheadMs` ahead. */
  async process(
    chosen: PaymentConfig["chosen"] = "midtrans",
    {
      aheadMs = 0,
      minutes = 60,
      timeoutMs = this.fake.xendit.timeoutMs,
      fee = null,
    }: { aheadMs?: number; minutes?: number; timeoutMs?: number; fee?: FeeRule | null } = {},
  ): Promise<TopUpProcess> {
    const database = await openDatabase({ url: this.money.opened.url, dataDir: "" });
    const [midtrans, xendit] = [
      { ...this.fake.midtrans, timeoutMs, fee },
      { ...this.fake.xendit, timeoutMs, fee },
    ];
    const baseUrl = (): string => "http://127.0.0.1:1";
    const providers = openPaymentProviders(
      { chosen, sandbox: true, midtrans, xendit },
      { pool: database.pool, baseUrl },
    );
    const failures: TopUpProcess["failures"] = [];
    const topUps = createTopUps({
      database,
      providers,
      clock: { now: () => Date.now() + aheadMs },
      expiresAfterMs: minutes * 60_000,
      returnUrlOf: (topUpId) => `https://saldo.example/top-ups/${topUpId}`,
      onFailure: (topUpId, error) => void failures.push({ topUpId, error }),
    });
    const desk = createSandboxDesk(database.pool, ({ body, signature }) =>
      topUps.takeNotification("sandbox", { body, headers: { [SIGNATURE_HEADER]: signature } }),
    );
    const process: TopUpProcess = {
      database,
      topUps,
      providers,
      desk,
      failures,
      close: async () => {
        if (!this.#processes.delete(process)) return;
        topUps.endWatching();
        await desk.stop();
        await providers.close();
        await database.close();
      },
    };
    this.#processes.add(process);
    return process;
  }

  /** Opens a top-up with an idempotency key of its own. */
  open({ topUps }: TopUpProcess, accountId: string, amount = AMOUNT): Promise<TopUp> {
    this.#keys += 1;
    return topUps.create({ accountId, amount, idempotencyKey: `test-${this.#keys}` });
  }

  /** Opens a top-up at Midtrans and has it paid, verified and credited. */
  async paid(process: TopUpProcess, accountId: string, amount = AMOUNT): Promise<TopUp> {
    const { topUpId } = await this.open(process, accountId, amount);
    this.fake.set(topUpId, { status: "paid" });
    return process.topUps.verifyNow(topUpId);
  }

  /** Midtrans notifies a process of the present state of an order. */
  notify({ topUps }: TopUpProcess, topUpId: string, edited: Record<string, string> = {}): Promise<void> {
    return topUps.takeNotification("midtrans", this.fake.midtransNotification(topUpId, edited));
  }

  /** The sandbox's notification of the present state of an order. */
  async sandboxNotification(topUpId: string): Promise<{ body: Buffer; headers: Record<string, string> }> {
    const payment = await paymentOfOrder(this.money.pool, topUpId);
    if (payment === null) throw new Error("the order is not open at the sandbox");
    const { body, signature } = await writeNotification(this.money.pool, payment);
    return { body, headers: { "content-type": "application/json", [SIGNATURE_HEADER]: signature } };
  }

  /** Changes a payment at the provider, notifies the process and runs its due jobs. */
  async happens(process: TopUpProcess, topUpId: string, changed: Partial<FakePayment>): Promise<void> {
    this.fake.set(topUpId, changed);
    await this.notify(process, topUpId);
    await process.topUps.checkDue();
  }

  /** Makes a waiting top-up due for verification. */
  async makeDue(topUpId: string): Promise<void> {
    const text = "UPDATE top_up SET next_check_at = clock_timestamp() WHERE id = $1 AND next_check_at IS NOT NULL";
    await this.money.pool.query(text, [topUpId]);
  }

  /** Whether a process has to verify a top-up now. */
  async isDue(topUpId: string): Promise<boolean> {
    const text = "SELECT next_check_at <= clock_timestamp() AS due FROM top_up WHERE id = $1";
    return (await this.money.pool.query<{ due: boolean }>(text, [topUpId])).rows[0]?.due === true;
  }

  /** An account's balance and debt, in rupiah. */
  async standing(accountId: string): Promise<{ available: number; owed: number }> {
    const { available, owed } = await this.money.balanceAndDebt(accountId);
    return { available: Number(available / MICRO), owed: Number(owed / MICRO) };
  }

  /** Charges a request to the account's balance. */
  async spend(accountId: string, amount: bigint): Promise<void> {
    const { requestId, ledger } = await this.#hold(accountId, amount);
    await ledger.settle(settlement(accountId, requestId, Number(amount / TOKEN_COST)));
  }

  /** Holds an amount for a running request. Returns a function that ends it without a charge. */
  async hold(accountId: string, amount: bigint): Promise<() => Promise<void>> {
    const { requestId, ledger } = await this.#hold(accountId, amount);
    return async () => {
      await ledger.settle({ ...settlement(accountId, requestId, 0), basis: "free" });
    };
  }

  async #hold(accountId: string, amount: bigint) {
    const { ledger } = (this.#gateway ??= await this.money.process());
    const request = admission(accountId, await this.money.key(accountId), amount);
    const { outcome } = await ledger.admit(request);
    if (outcome !== "granted") throw new Error(`the request was ${outcome}`);
    return { requestId: request.requestId, ledger };
  }

  /** How often a top-up was credited. */
  async creditsOf(topUpId: string): Promise<number> {
    const text = "SELECT count(*)::int AS credits FROM posting WHERE group_id = $1 AND reason = 'top_up'";
    return (await this.money.pool.query<{ credits: number }>(text, [topUpId])).rows[0]?.credits ?? 0;
  }

  /** The findings about the stored events of an order. */
  async findingsOf(orderId: string): Promise<string[]> {
    const text = "SELECT finding FROM payment_event WHERE order_id = $1 ORDER BY id";
    const { rows } = await this.money.pool.query<{ finding: string }>(text, [orderId]);
    return rows.map(({ finding }) => finding);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#processes].map((process) => process.close()));
    await this.fake.stop();
    await this.money.close();
  }
}
