// The other side of each payment provider's adapter, for the suite that all of them pass.

import {
  type NotificationRequest,
  type PaymentOrder,
  type PaymentProvider,
  type ProviderName,
} from "../../src/billing/payments/payment-provider.ts";
import { createMidtransProvider } from "../../src/billing/payments/midtrans/midtrans-provider.ts";
import {
  createSandboxProvider,
  SIGNATURE_HEADER,
  writeNotification,
} from "../../src/billing/payments/sandbox/sandbox-provider.ts";
import { paymentOfOrder } from "../../src/billing/payments/sandbox/store.ts";
import { createXenditProvider } from "../../src/billing/payments/xendit/xendit-provider.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import type { TestDatabase } from "../setup/test-database.ts";
import type { FakeProvider } from "./fake-provider.ts";
import type { FakePayment } from "./fake-wire.ts";
import { AMOUNT, MICRO } from "./top-up-setup.ts";

/** The other side of an adapter: what a payer, a bank or the provider would do. Money is rupiah. */
export type Side = {
  readonly provider: PaymentProvider;
  set(orderId: string, changed: Partial<Pick<FakePayment, "status" | "gross" | "refunded">>): Promise<void>;
  notification(orderId: string): Promise<NotificationRequest>;
  /** The same, with its proof made invalid in the named way. */
  spoiled(orderId: string, how: "missing" | "short" | "wrong"): Promise<NotificationRequest>;
};

/** The states that a provider does not have. */
export const WITHOUT_WORD: Readonly<Record<ProviderName, readonly FakePayment["status"][]>> = {
  sandbox: ["captured", "challenged"],
  midtrans: [],
  xendit: ["challenged", "failed", "canceled", "charged_back"],
};

/** Makes the side of each provider, over a database and the fake. */
export function makeSides({
  opened,
  fake,
}: {
  opened: TestDatabase;
  fake: FakeProvider;
}): Readonly<Record<ProviderName, () => Side>> {
  return {
    sandbox: () => {
      const { pool } = opened.database;
      const notification = async (orderId: string): Promise<NotificationRequest> => {
        const payment = await paymentOfOrder(pool, orderId);
        if (payment === null) throw new Error(`no order ${orderId} is open`);
        const { body, signature } = await writeNotification(pool, payment);
        return { body, headers: { [SIGNATURE_HEADER]: signature } };
      };
      return {
        provider: createSandboxProvider({ pool, baseUrl: () => "https://saldo.example" }),
        async set(orderId, { status, gross, refunded }) {
          const text = `UPDATE sandbox_payment SET status = coalesce($2, status), paid = coalesce($3, paid),
          given_back = coalesce($4, given_back) WHERE order_id = $1`;
          const micro = (rupiahs: number | undefined) => (rupiahs === undefined ? null : BigInt(rupiahs) * MICRO);
          await pool.query(text, [orderId, status ?? null, micro(gross), micro(refunded)]);
        },
        notification,
        spoiled: async (orderId, how) => {
          const sound = await notification(orderId);
          const signature = String(sound.headers[SIGNATURE_HEADER]);
          const spoiled = { missing: undefined, short: signature.slice(1), wrong: `0${signature.slice(1)}x` }[how];
          return { body: sound.body, headers: spoiled === undefined ? {} : { [SIGNATURE_HEADER]: spoiled } };
        },
      };
    },
    midtrans: () => ({
      provider: createMidtransProvider(fake.midtrans),
      set: (orderId, changed) => Promise.resolve(fake.set(orderId, changed)),
      notification: (orderId) => Promise.resolve(fake.midtransNotification(orderId)),
      spoiled: (orderId, how) => {
        const sent = JSON.parse(String(fake.midtransNotification(orderId).body)) as Record<string, string>;
        const signature = sent["signature_key"] ?? "";
        const spoiled = { missing: undefined, short: signature.slice(1), wrong: "0".repeat(128) }[how];
        const body = Buffer.from(JSON.stringify({ ...sent, signature_key: spoiled }));
        return Promise.resolve({ body, headers: {} });
      },
    }),
    xendit: () => ({
      provider: createXenditProvider(fake.xendit),
      set: (orderId, changed) => Promise.resolve(fake.set(orderId, changed)),
      notification: (orderId) => Promise.resolve(fake.xenditNotification(orderId)),
      spoiled: (orderId, how) => {
        const { body, headers } = fake.xenditNotification(orderId);
        const token = headers["x-callback-token"] ?? "";
        const spoiled = { missing: undefined, short: token.slice(1), wrong: `${token}x` }[how];
        return Promise.resolve({ body, headers: spoiled === undefined ? {} : { "x-callback-token": spoiled } });
      },
    }),
  };
}

/** An order of Rp 25.000 that was not opened. */
export function order(changed: Partial<PaymentOrder> = {}): PaymentOrder {
  return {
    orderId: uuidv7(),
    amount: AMOUNT,
    description: "Saldo Rp 25000",
    expiresAt: new Date(Date.now() + 3_600_000),
    returnUrl: "https://saldo.example/top-ups/1",
    ...changed,
  };
}
