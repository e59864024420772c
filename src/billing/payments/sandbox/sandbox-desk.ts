// Where sandbox payments are moved: by the buttons of the page, and by tests of refunds and chargebacks. A move is committed
// first; then the provider's notification goes out as the chosen button determines: once, late, twice, or not at all.

import { setTimeout as sleep } from "node:timers/promises";
import type { Pool, PoolClient } from "pg";
import { withTransaction } from "../../../database/transactions.ts";
import { NotFound, ValidationError } from "../../../kernel/errors.ts";
import { writeNotification } from "./sandbox-provider.ts";
import { movePayment, paymentOfOrder, paymentOfToken, type SandboxPayment, type SandboxStatus } from "./store.ts";

/** What can be done on the page. */
export const SANDBOX_ACTIONS = [
  "pay",
  "pay_refused_card",
  "pay_late",
  "pay_twice",
  "pay_silently",
  "review",
  "fail",
  "expire",
  "cancel",
] as const;
export type SandboxAction = (typeof SANDBOX_ACTIONS)[number];

type Delivery = { readonly copies: number; readonly delayMs: number };
const ONCE: Delivery = { copies: 1, delayMs: 0 };
const NEVER: Delivery = { copies: 0, delayMs: 0 };
const TWICE: Delivery = { copies: 2, delayMs: 0 };
const LATE_MS = 5_000;
/** A real provider retries for hours; after these tries the reconciler asks about the payment. */
const PAUSES_MS = [500, 2_000, 8_000];

const OPEN: readonly SandboxStatus[] = ["pending", "review"];
const UNPAID: readonly SandboxStatus[] = [...OPEN, "failed", "expired", "canceled"];
const PAID: readonly SandboxStatus[] = ["paid", "partially_refunded"];

const MOVES: Readonly<
  Record<SandboxAction, { to: SandboxStatus; from: readonly SandboxStatus[]; delivery: Delivery }>
> = {
  pay: { to: "paid", from: UNPAID, delivery: ONCE },
  // The card that it saves refuses every later charge.
  pay_refused_card: { to: "paid", from: UNPAID, delivery: ONCE },
  pay_late: { to: "paid", from: UNPAID, delivery: { copies: 1, delayMs: LATE_MS } },
  pay_twice: { to: "paid", from: UNPAID, delivery: TWICE },
  pay_silently: { to: "paid", from: UNPAID, delivery: NEVER },
  review: { to: "review", from: ["pending"], delivery: ONCE },
  fail: { to: "failed", from: OPEN, delivery: ONCE },
  expire: { to: "expired", from: OPEN, delivery: ONCE },
  cancel: { to: "canceled", from: OPEN, delivery: ONCE },
};

export type SandboxNotification = { readonly body: Buffer; readonly signature: string };

/** Writes who returned the money, in the transaction that returns it. */
export type RecordReturn = (client: PoolClient) => Promise<unknown>;

export type SandboxDesk = {
  /** The payment of a page. Errors: NotFound. */
  find(token: string): Promise<SandboxPayment>;
  /** Whether there is a payment of a page. */
  has(token: string): Promise<boolean>;
  /** What can still be done with a payment. */
  actionsOf(payment: SandboxPayment): SandboxAction[];
  /** Carries out a button's action; a payment that has gone on meanwhile stays. Errors: NotFound. */
  act(token: string, action: SandboxAction): Promise<void>;
  /** Gives back a part of a payment, or with null all that is left. Errors: NotFound; ValidationError where there is not so much to give. */
  refund(orderId: string, amount: bigint | null, record?: RecordReturn): Promise<void>;
  /** Takes all of a payment back, as a payer's bank does. Errors: NotFound; ValidationError where it was not paid. */
  chargeBack(orderId: string, record?: RecordReturn): Promise<void>;
  /** Ends what is still to be sent. */
  stop(): Promise<void>;
};

/** Makes the desk. `deliver` sends a notification and throws where it was not taken. */
export function createSandboxDesk(
  pool: Pool,
  deliver: (notification: SandboxNotification) => Promise<void>,
): SandboxDesk {
  const stopping = new AbortController();
  const sending = new Set<Promise<void>>();

  async function send(notification: SandboxNotification, delayMs: number): Promise<void> {
    const { signal } = stopping;
    await sleep(delayMs, undefined, { signal });
    for (const pauseMs of PAUSES_MS) {
      try {
        return await deliver(notification);
      } catch {
        await sleep(pauseMs, undefined, { signal });
      }
    }
    await deliver(notification);
  }

  async function notify(payment: SandboxPayment, { copies, delayMs }: Delivery): Promise<void> {
    if (copies === 0) return;
    const notification = await writeNotification(pool, payment);
    for (let copy = 0; copy < copies; copy += 1) {
      // What cannot be delivered, or is cut off by a stop, is what the reconciler is for.
      const sent = send(notification, delayMs).catch(() => {});
      sending.add(sent);
      void sent.finally(() => sending.delete(sent));
    }
  }

  async function find(token: string): Promise<SandboxPayment> {
    const payment = await paymentOfToken(pool, token);
    if (payment === null) throw new NotFound("There is no such payment.");
    return payment;
  }

  async function giveBack(
    orderId: string,
    status: "refunded" | "charged_back",
    givenBackOf: (payment: SandboxPayment) => bigint,
    record: RecordReturn = async () => {},
  ): Promise<void> {
    const payment = await paymentOfOrder(pool, orderId);
    if (payment === null) throw new NotFound("There is no such payment.");
    const givenBack = givenBackOf(payment);
    const isPart = status === "refunded" && givenBack < payment.paid;
    const isThere = givenBack > payment.givenBack && givenBack <= payment.paid;
    const to = { ...payment, givenBack, status: isPart ? ("partially_refunded" as const) : status };
    const moved = await withTransaction({ pool }, async (client) => {
      const returned = isThere ? await movePayment(client, to, PAID) : null;
      if (returned !== null) await record(client);
      return returned;
    });
    if (moved === null) {
      const message = "must be above zero and at most what was paid and not given back";
      throw new ValidationError([{ field: "amount", rule: "sandbox.refund", message }]);
    }
    await notify(moved, ONCE);
  }

  return {
    find,
    has: async (token) => (await paymentOfToken(pool, token)) !== null,
    actionsOf: ({ status, savedCard }) =>
      SANDBOX_ACTIONS.filter(
        (action) => MOVES[action].from.includes(status) && (action !== "pay_refused_card" || savedCard !== null),
      ),
    async act(token, action) {
      const payment = await find(token);
      const { to, from, delivery } = MOVES[action];
      const paid = to === "paid" ? payment.amount : payment.paid;
      const card = action === "pay_refused_card" ? "refused" : "good";
      const savedCard = payment.savedCard !== null && to === "paid" ? card : payment.savedCard;
      const moved = await movePayment(pool, { ...payment, status: to, paid, savedCard }, from);
      if (moved !== null) await notify(moved, delivery);
    },
    refund: (orderId, amount, record) =>
      giveBack(orderId, "refunded", ({ paid, givenBack }) => (amount === null ? paid : givenBack + amount), record),
    chargeBack: (orderId, record) => giveBack(orderId, "charged_back", ({ paid }) => paid, record),
    async stop() {
      stopping.abort();
      await Promise.all(sending);
    },
  };
}
