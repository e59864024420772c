// A payment provider's notification: verified, stored once, and answered when it is durable. It credits nothing. It only
// makes a tick ask the provider, and only that answer is trusted.

import type { Database } from "../../database/database.ts";
import { withRetry, withTransaction } from "../../database/transactions.ts";
import { NotFound, PermissionDenied, ValidationError } from "../../kernel/errors.ts";
import { DecimalError } from "../../kernel/decimal.ts";
import { failpoint } from "../../kernel/failpoint.ts";
import { isUuid, uuidv7 } from "../../kernel/ids.ts";
import { IDR, parseMoney } from "../../kernel/money.ts";
import type { Notification, NotificationRequest, PaymentProvider } from "../payments/payment-provider.ts";
import { recordDispute } from "./disputes.ts";
import { countEvents, insertEvent, type PaymentEvent, selectOrder, wake } from "./store.ts";

/** Real providers send some ten notifications of an order. More are edited copies of signed ones. */
const MOST_EVENTS_OF_ORDER = 200;

/**
 * Takes a notification; durable when it returns. Errors: NotFound where this provider's notifications are not taken;
 * PermissionDenied where it is not the provider's; ValidationError where it cannot be read.
 */
export async function takeNotification(
  database: Database,
  provider: PaymentProvider | null,
  request: NotificationRequest,
): Promise<void> {
  if (provider?.takesNotifications !== true) throw new NotFound("There is no such path.");
  const notification = await provider.readNotification(request);
  if (notification === null) throw new PermissionDenied();
  requireStorable(notification);
  await withRetry(() => withTransaction(database, (client) => keep(client, provider.name, notification)));
  failpoint?.("mid-webhook");
}

/** Whether the order of a notification is here; nothing is kept. False also where it is not the provider's. */
export async function knowsOrderOf(
  { pool }: Pick<Database, "pool">,
  provider: PaymentProvider | null,
  request: NotificationRequest,
): Promise<boolean> {
  if (provider?.takesNotifications !== true) return false;
  const notification = await provider.readNotification(request);
  if (notification === null) return false;
  requireStorable(notification);
  return (await selectNamed(pool, provider.name, notification)) !== null;
}

/** No text of the database can hold U+0000. */
function requireStorable(notification: Notification): void {
  const texts: unknown[] = [...Object.values(notification), notification.dispute?.id];
  if (!texts.some((text) => typeof text === "string" && text.includes("\0"))) return;
  throw new ValidationError([{ field: "", rule: "notification", message: "The notification must not hold U+0000" }]);
}

type Client = Parameters<Parameters<typeof withTransaction>[1]>[0];

async function keep(client: Client, provider: string, notification: Notification): Promise<void> {
  const { eventKey, orderId, reference, status, amount } = notification;
  const named = await selectNamed(client, provider, notification);
  // An order stays with the provider it was opened at. A notification from another one is stored and has no effect.
  const order = named?.provider === provider ? named : null;
  const event: PaymentEvent = {
    eventId: uuidv7(),
    provider,
    eventKey,
    orderId: orderId.slice(0, 100),
    topUpId: order?.topUpId ?? null,
    status: status.slice(0, 100),
    amount: amount.slice(0, 100),
    finding: findingOf(named, provider, amount),
  };
  // Above the most nothing more is kept, but the one true event may be among it, so the provider is asked all the same.
  const isFull =
    order !== null && (await countEvents(client, order.topUpId, MOST_EVENTS_OF_ORDER)) === MOST_EVENTS_OF_ORDER;
  const isNew = isFull || (await insertEvent(client, event));
  if (!isNew || order === null) return;
  await wake(client, order.topUpId, reference);
  const { dispute } = notification;
  if (dispute !== undefined) await recordDispute(client, { provider, topUpId: order.topUpId, dispute });
}

/** The order that a notification names. Null: none. */
async function selectNamed(
  reader: Parameters<typeof selectOrder>[0],
  provider: string,
  { orderId, reference }: Notification,
): ReturnType<typeof selectOrder> {
  const topUpId = isUuid(orderId) ? orderId : null;
  // Some notifications name another order id than the payment was opened with, but under the provider's own name for them.
  return (
    (await selectOrder(reader, { topUpId, provider, reference })) ??
    (reference === null ? null : selectOrder(reader, { topUpId: null, provider, reference }))
  );
}

function findingOf(
  order: { readonly provider: string; readonly paid: bigint } | null,
  provider: string,
  amount: string,
): PaymentEvent["finding"] {
  if (order === null) return "unknown_order";
  if (order.provider !== provider) return "other_provider";
  return unitsOf(amount) === order.paid ? "as_ordered" : "other_amount";
}

function unitsOf(amount: string): bigint | null {
  try {
    return parseMoney(amount, IDR).units;
  } catch (error) {
    if (error instanceof DecimalError) return null;
    throw error;
  }
}
