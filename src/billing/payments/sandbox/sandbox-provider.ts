// The provider of the demo. It keeps payments in a table of its own and is asked like any other; what moves a
// payment is the desk (sandbox-desk.ts), behind its page.

import { createHmac, randomBytes } from "node:crypto";
import type { Pool } from "pg";
import { ValidationError } from "../../../kernel/errors.ts";
import { formatMoney, idr } from "../../../kernel/money.ts";
import {
  type ChargeAnswer,
  type MethodCharge,
  type Notification,
  type NotificationRequest,
  type PaymentFacts,
  type PaymentOrder,
  type PaymentProvider,
  UNKNOWN_PAYMENT,
} from "../payment-provider.ts";
import { isObject, parse, textOf } from "../provider-client.ts";
import { isSameSecret } from "../same-secret.ts";
import {
  chargeCard,
  openPayment,
  paymentOfOrder,
  readWebhookSecret,
  type SandboxCard,
  type SandboxPayment,
} from "./store.ts";

export const SIGNATURE_HEADER = "x-sandbox-signature";
/** Where a payment's page is, below the address of this service. */
export const SANDBOX_PAGE_PATH = "/pay/sandbox";
const TOKEN_BYTES = 24;
/** What the token of a saved card begins with; the order that saved it follows. */
const CARD = "sandbox-card:";

/** Opens the adapter. `baseUrl` is where its pages are reached. */
export function createSandboxProvider({ pool, baseUrl }: { pool: Pool; baseUrl: () => string }): PaymentProvider {
  return {
    name: "sandbox",
    // Two statements.
    opensWithinMs: 20_000,
    takesNotifications: true,

    async open({ orderId, amount, returnUrl, expiresAt, saveFor }: PaymentOrder) {
      const token = randomBytes(TOKEN_BYTES).toString("base64url");
      await openPayment(pool, {
        orderId,
        token,
        amount,
        returnUrl,
        expiresAt,
        savedCard: saveFor === undefined ? null : "unsaved",
      });
      const payment = await paymentOfOrder(pool, orderId);
      return {
        paymentUrl: `${baseUrl()}${SANDBOX_PAGE_PATH}/${payment?.token ?? token}`,
        reference: `sandbox-${orderId}`,
      };
    },

    async charge({ orderId, amount, token }: MethodCharge): Promise<ChargeAnswer> {
      const saved = token.startsWith(CARD) ? await paymentOfOrder(pool, token.slice(CARD.length)) : null;
      if (saved === null || labelOf(saved.savedCard) === null) return { outcome: "refused", reference: null };
      const page = randomBytes(TOKEN_BYTES).toString("base64url");
      await chargeCard(pool, { orderId, token: page, amount, isGood: saved.savedCard === "good" });
      return { outcome: "taken", reference: `sandbox-${orderId}` };
    },

    async ask({ orderId }): Promise<PaymentFacts> {
      const payment = await paymentOfOrder(pool, orderId);
      if (payment === null) return UNKNOWN_PAYMENT;
      const { status, amount, paid, givenBack } = payment;
      const label = labelOf(payment.savedCard);
      const method = label === null ? null : { token: `${CARD}${orderId}`, label };
      return { state: status, amount: paid === 0n ? amount : paid, givenBack, reference: `sandbox-${orderId}`, method };
    },

    async readNotification({ headers, body }: NotificationRequest): Promise<Notification | null> {
      const signature = headers[SIGNATURE_HEADER];
      if (typeof signature !== "string") return null;
      if (!isSameSecret(signature, signatureOf(await readWebhookSecret(pool), body))) return null;
      return notificationOf(parse(body.toString("utf8")));
    },

    close: () => Promise.resolve(),
  };
}

/** Null: no card is saved. */
function labelOf(card: SandboxCard | null): string | null {
  if (card === "good") return "Sandbox •••• 4242";
  return card === "refused" ? "Sandbox •••• 0002" : null;
}

/** A notification about a payment as it is now: the same for the same state, whenever it is written. */
export async function writeNotification(
  pool: Pool,
  payment: SandboxPayment,
): Promise<{ body: Buffer; signature: string }> {
  const { orderId, status, amount, paid, givenBack } = payment;
  const body = Buffer.from(
    JSON.stringify({
      event_id: `${orderId}:${status}:${givenBack}`,
      order_id: orderId,
      status,
      amount: formatMoney(idr(paid === 0n ? amount : paid)),
    }),
  );
  return { body, signature: signatureOf(await readWebhookSecret(pool), body) };
}

function signatureOf(secret: string, body: Buffer): string {
  return createHmac("sha256", secret).update(body).digest("hex");
}

function notificationOf(notification: unknown): Notification {
  const eventKey = isObject(notification) ? textOf(notification, "event_id") : "";
  if (!isObject(notification) || eventKey === "" || eventKey.length > 200)
    throw new ValidationError([{ field: "event_id", rule: "required", message: "is required" }]);
  return {
    eventKey,
    orderId: textOf(notification, "order_id"),
    reference: null,
    status: textOf(notification, "status"),
    amount: textOf(notification, "amount"),
  };
}
