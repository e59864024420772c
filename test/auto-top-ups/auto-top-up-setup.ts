// Automatic top-ups of several processes, which charge cards of the sandbox.

import {
  type AutoTopUpWork,
  chargeAutoTopUp,
  chargeAutoTopUps,
} from "../../src/billing/auto-top-ups/charge-auto-top-ups.ts";
import { setAutoTopUp } from "../../src/billing/auto-top-ups/settings.ts";
import type { PaymentProvider } from "../../src/billing/payments/payment-provider.ts";
import type { SandboxAction } from "../../src/billing/payments/sandbox/sandbox-desk.ts";
import { paymentOfOrder } from "../../src/billing/payments/sandbox/store.ts";
import type { TopUp } from "../../src/billing/top-ups/top-up.ts";
import { type TopUpProcess, TopUpSetup } from "../top-ups/top-up-setup.ts";

export const RUPIAH = 1_000_000n;
/** What is ordered each time, in rupiah. */
export const EACH = 50_000n;

export class AutoTopUpSetup {
  readonly topUps: TopUpSetup;
  #keys = 0;

  private constructor(topUps: TopUpSetup) {
    this.topUps = topUps;
  }

  static async create(): Promise<AutoTopUpSetup> {
    return new AutoTopUpSetup(await TopUpSetup.create());
  }

  process(): Promise<TopUpProcess> {
    return this.topUps.process("sandbox");
  }

  /** An account that wants Rp 50.000 below Rp 1.000.000, with a card that it has saved by a top-up of Rp 10.000. Amounts are rupiah. */
  async account(
    process: TopUpProcess,
    { cap = 200_000n, card = "pay" }: { cap?: bigint; card?: SandboxAction } = {},
  ): Promise<string> {
    const accountId = await this.topUps.money.account(0n);
    await this.saveCard(process, accountId, card);
    const settings = { isOn: true, threshold: "1000000", amount: `${EACH}`, monthlyCap: `${cap}` };
    await setAutoTopUp(process.database, accountId, settings);
    return accountId;
  }

  /** Saves a card by a top-up that is paid with it. */
  async saveCard(process: TopUpProcess, accountId: string, action: SandboxAction = "pay"): Promise<void> {
    this.#keys += 1;
    const order = { accountId, amount: 10_000n * RUPIAH, idempotencyKey: `card-${this.#keys}`, savesMethod: true };
    const { topUpId } = await process.topUps.create(order);
    const payment = await paymentOfOrder(process.database.pool, topUpId);
    await process.desk.act(payment?.token ?? "", action);
    await process.topUps.verifyNow(topUpId);
  }

  /** The work of a process. `charge`: what its provider does instead. */
  work({ database, providers, failures }: TopUpProcess, charge?: PaymentProvider["charge"]): AutoTopUpWork {
    const of = (name: string): PaymentProvider | null => {
      const provider = providers.of(name);
      return provider === null || charge === undefined ? provider : { ...provider, charge };
    };
    return {
      database,
      providers: { names: providers.names, of },
      clock: { now: Date.now },
      onFailure: (topUpId, error) => void failures.push({ topUpId, error }),
    };
  }

  /** Charges an account if it is due, and asks what became of it. */
  async round(process: TopUpProcess, accountId: string, charge?: PaymentProvider["charge"]): Promise<void> {
    await chargeAutoTopUp(this.work(process, charge), accountId);
    await this.ask(process, accountId);
  }

  /** Asks about the automatic orders of an account. */
  async ask(process: TopUpProcess, accountId: string): Promise<void> {
    for (const { topUpId } of await this.orders(process, accountId)) await process.topUps.verifyNow(topUpId);
  }

  /** A round of the background work for every account of a provider. */
  tick(process: TopUpProcess, provider = "sandbox"): Promise<void> {
    return chargeAutoTopUps(this.work(process), provider);
  }

  /** The automatic orders of an account, newest first. */
  async orders(process: TopUpProcess, accountId: string): Promise<TopUp[]> {
    const { items } = await process.topUps.list({ accountId, pageSize: 200, pageToken: "" });
    return items.filter(({ methodId }) => methodId !== null);
  }

  /** Moves what an account's automatic orders have of times into the past. */
  async age(process: TopUpProcess, accountId: string, interval: string): Promise<void> {
    const text = `UPDATE top_up SET created_at = created_at - $2::interval, changed_at = changed_at - $2::interval,
      expires_at = expires_at - $2::interval WHERE account_id = $1 AND method_id IS NOT NULL`;
    await process.database.pool.query(text, [accountId, interval]);
  }

  /** The kinds of mails that an account is owed, oldest first. */
  async notices(process: TopUpProcess, accountId: string): Promise<string[]> {
    const text = "SELECT kind FROM auto_top_up_notice WHERE account_id = $1 ORDER BY id";
    return (await process.database.pool.query<{ kind: string }>(text, [accountId])).rows.map(({ kind }) => kind);
  }

  close(): Promise<void> {
    return this.topUps.close();
  }
}
