// Top-ups of a made-up month. Each is ordered, opened at the sandbox provider, paid there and asked about, like any other; only
// the moment it is written under is another one.

import { openPaymentProviders } from "../../../billing/payments/payment-providers.ts";
import { createSandboxDesk, type SandboxAction } from "../../../billing/payments/sandbox/sandbox-desk.ts";
import { paymentOfOrder } from "../../../billing/payments/sandbox/store.ts";
import { selectTopUpOfKey } from "../../../billing/top-ups/store.ts";
import type { TopUp } from "../../../billing/top-ups/top-up.ts";
import { createTopUps } from "../../../billing/top-ups/top-ups.ts";
import type { Database } from "../../../database/database.ts";
import { systemClock } from "../../../kernel/clock.ts";
import { invariant } from "../../../kernel/invariant.ts";
import { IDR, parseMoney } from "../../../kernel/money.ts";

const AMOUNTS = ["50000", "25000", "100000", "50000"].map((rupiah) => parseMoney(rupiah, IDR).units);
const EXPIRES_AFTER_MS = 24 * 3_600_000;
const ONLY_SANDBOX = { chosen: "sandbox", sandbox: true, midtrans: null, xendit: null } as const;

export type SeededTopUps = {
  /** Whether a seed has ordered something before. */
  hasBegun(): Promise<boolean>;
  /** Buys the next amount at a moment and gives it. */
  buy(at: Date): Promise<bigint>;
  /** Orders one that comes to nothing. */
  order(at: Date, end: SandboxAction): Promise<TopUp>;
  /** How many were paid. */
  paid(): number;
  close(): Promise<void>;
};

/** Opens the sandbox's side of top-ups for a seed. */
export function openSeededTopUps(database: Database, accountId: string, baseUrl: string): SeededTopUps {
  const { pool } = database;
  const providers = openPaymentProviders(ONLY_SANDBOX, { pool, baseUrl: () => baseUrl });
  // There is no notification: the provider is asked at once.
  const desk = createSandboxDesk(pool, () => Promise.resolve());
  let at = new Date(0);
  let [ordered, paid] = [0, 0];
  const topUps = createTopUps({
    database,
    providers,
    clock: systemClock,
    happensAt: () => at,
    expiresAfterMs: EXPIRES_AFTER_MS,
    returnUrlOf: (topUpId) => `${baseUrl}/billing?topUp=${topUpId}`,
    onFailure: () => {},
  });

  async function order(orderedAt: Date, end: SandboxAction, amount = AMOUNTS[0] ?? 0n): Promise<TopUp> {
    at = orderedAt;
    ordered += 1;
    const { topUpId } = await topUps.create({ accountId, amount, idempotencyKey: keyOf(ordered) });
    const payment = await paymentOfOrder(pool, topUpId);
    invariant(payment !== null, "an order that was opened is known at the provider");
    await desk.act(payment.token, end);
    return topUps.verifyNow(topUpId);
  }

  return {
    hasBegun: async () => (await selectTopUpOfKey(pool, { accountId, idempotencyKey: keyOf(1) })) !== null,
    order,
    async buy(boughtAt) {
      const amount = AMOUNTS[paid % AMOUNTS.length] ?? 0n;
      const { state } = await order(boughtAt, "pay_silently", amount);
      invariant(state === "paid", "what is paid in the sandbox is paid");
      paid += 1;
      return amount;
    },
    paid: () => paid,
    async close() {
      topUps.endWatching();
      await desk.stop();
      await providers.close();
    },
  };
}

function keyOf(number: number): string {
  return `seed-${number}`;
}
