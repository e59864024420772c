// Xendit: an invoice to pay. Notifications carry a fixed token and no signature of their body, so the invoice is always read
// again.

import { hash } from "node:crypto";
import { ValidationError } from "../../../kernel/errors.ts";
import { type FeeRule, feeOf } from "../../../kernel/provider-fee-rule.ts";
import type {
  AskedOrder,
  Notification,
  NotificationRequest,
  OpenedPayment,
  PaymentFacts,
  PaymentOrder,
  PaymentProvider,
  ReportedDispute,
} from "../payment-provider.ts";
import { PaymentProviderError, UNKNOWN_PAYMENT } from "../payment-provider.ts";
import {
  isInRupiah,
  isObject,
  type JsonObject,
  objectOf,
  pageOf,
  parse,
  ProviderClient,
  rupiah,
  textOf,
  unreadable,
  wholeRupiah,
} from "../provider-client.ts";
import { isSameSecret } from "../same-secret.ts";

export type XenditConfig = {
  readonly apiKey: string;
  /** What their notifications carry. Empty: none is taken. */
  readonly callbackToken: string;
  /** Such as https://api.xendit.co, without a slash at the end. */
  readonly apiUrl: string;
  readonly timeoutMs: number;
  /** What Xendit keeps of a payment, where an invoice does not contain it. Null or left out: nothing is posted then. */
  readonly fee?: FeeRule | null;
};

const SECOND_MS = 1_000;
const REFUNDS_OF_PAGE = 100;
const MOST_REFUND_PAGES = 20;

const STATES: Readonly<Record<string, PaymentFacts["state"]>> = {
  PENDING: "pending",
  // Both come for one payment: paid by the payer, and later settled with us.
  PAID: "paid",
  SETTLED: "paid",
  EXPIRED: "expired",
};

/** Opens the adapter. */
export function createXenditProvider(config: XenditConfig, now: () => number = Date.now): PaymentProvider {
  const { apiKey, callbackToken, apiUrl, timeoutMs } = config;
  const client = new ProviderClient({ key: apiKey, timeoutMs });

  async function invoicesOf(orderId: string): Promise<JsonObject[]> {
    const url = `${apiUrl}/v2/invoices?external_id=${encodeURIComponent(orderId)}`;
    const { body } = await client.call({ method: "GET", url });
    if (!Array.isArray(body)) throw unreadable("away");
    return body.filter(isObject).filter((invoice) => textOf(invoice, "external_id") === orderId);
  }

  async function invoiceOf({ orderId, reference }: AskedOrder): Promise<JsonObject | null> {
    if (reference === null) return mostPaid(await invoicesOf(orderId));
    const url = `${apiUrl}/v2/invoices/${encodeURIComponent(reference)}`;
    const invoice = objectOf((await client.call({ method: "GET", url })).body);
    if (textOf(invoice, "external_id") !== orderId)
      throw new PaymentProviderError("refused", "the provider's answer is about another order");
    return invoice;
  }

  async function refundedOf(invoiceId: string): Promise<bigint> {
    const first = `${apiUrl}/refunds/?invoice_id=${encodeURIComponent(invoiceId)}&limit=${REFUNDS_OF_PAGE}`;
    let sum = 0n;
    let afterId = "";
    for (let page = 0; page < MOST_REFUND_PAGES; page += 1) {
      const url = afterId === "" ? first : `${first}&after_id=${encodeURIComponent(afterId)}`;
      const body = objectOf((await client.call({ method: "GET", url })).body);
      const refunds = body["data"];
      if (!Array.isArray(refunds)) throw unreadable("away");
      const read = refunds.filter(isObject);
      sum += read
        .filter((refund) => textOf(refund, "invoice_id") === invoiceId && textOf(refund, "status") === "SUCCEEDED")
        .reduce((total, refund) => total + (rupiah(textOf(refund, "amount")) ?? 0n), 0n);
      const last = read.at(-1);
      if (body["has_more"] !== true || last === undefined) return sum;
      afterId = textOf(last, "id");
    }
    throw new PaymentProviderError("refused", "the provider returned more refunds of a payment than are read");
  }

  return {
    name: "xendit",
    // It looks for an open invoice first.
    opensWithinMs: 2 * timeoutMs,
    takesNotifications: callbackToken !== "",

    // An order id may have any number of invoices there, and two that can be paid would be paid twice one day.
    async open(order: PaymentOrder): Promise<OpenedPayment> {
      const open = (await invoicesOf(order.orderId)).find((invoice) => textOf(invoice, "status") === "PENDING");
      if (open !== undefined) return openedOf(open);
      const { body } = await client.call({
        method: "POST",
        url: `${apiUrl}/v2/invoices`,
        body: orderBody(order, now()),
      });
      return openedOf(objectOf(body, "refused"));
    },

    charge: null,

    async ask(asked: AskedOrder): Promise<PaymentFacts> {
      const invoice = await invoiceOf(asked);
      if (invoice === null) return UNKNOWN_PAYMENT;
      const facts = factsOf(invoice, config.fee ?? null);
      // Refunds are rows of their own; an order that was never credited has nothing to take back.
      if (!asked.isCredited || facts.reference === null) return facts;
      const givenBack = await refundedOf(facts.reference);
      if (givenBack === 0n) return facts;
      const isWhole = facts.amount !== null && givenBack >= facts.amount;
      return { ...facts, givenBack, state: isWhole ? "refunded" : "partially_refunded" };
    },

    readNotification({ headers, body }: NotificationRequest): Promise<Notification | null> {
      const token = headers["x-callback-token"];
      const isTheirs = callbackToken !== "" && typeof token === "string" && isSameSecret(token, callbackToken);
      return Promise.resolve(isTheirs ? notificationOf(parse(body.toString("utf8"))) : null);
    },

    close: () => client.close(),
  };
}

/** Where an order has several invoices after all, the one that was paid counts. */
function mostPaid(invoices: readonly JsonObject[]): JsonObject | null {
  return invoices.find((invoice) => STATES[textOf(invoice, "status")] === "paid") ?? invoices[0] ?? null;
}

function orderBody({ orderId, amount, description, expiresAt, returnUrl }: PaymentOrder, nowMs: number): object {
  return {
    external_id: orderId,
    amount: wholeRupiah(amount),
    currency: "IDR",
    description,
    invoice_duration: Math.max(1, Math.ceil((expiresAt.getTime() - nowMs) / SECOND_MS)),
    success_redirect_url: returnUrl,
    failure_redirect_url: returnUrl,
  };
}

function openedOf(invoice: JsonObject): OpenedPayment {
  const id = textOf(invoice, "id");
  if (id === "") throw unreadable("refused");
  return { paymentUrl: pageOf(textOf(invoice, "invoice_url")), reference: id };
}

function factsOf(invoice: JsonObject, fee: FeeRule | null): PaymentFacts {
  const state = STATES[textOf(invoice, "status")];
  if (state === undefined) throw new PaymentProviderError("refused", "the provider returned an unknown status");
  const paid = textOf(invoice, "paid_amount");
  const id = textOf(invoice, "id");
  const amount = isInRupiah(invoice) ? rupiah(paid === "" ? textOf(invoice, "amount") : paid) : null;
  return {
    state,
    amount,
    givenBack: 0n,
    reference: id === "" ? null : id,
    fee: amount === null ? null : (keptOf(invoice, amount) ?? (fee === null ? null : feeOf(fee, amount))),
  };
}

/**
 * What Xendit keeps according to an invoice: what is paid less what we receive. Not every invoice has it, and an older field may be 0
 * beside it; null where neither is there.
 */
function keptOf(invoice: JsonObject, paid: bigint): bigint | null {
  const received = rupiah(textOf(invoice, "adjusted_received_amount"));
  if (received !== null && received > 0n && received <= paid) return paid - received;
  const kept = rupiah(textOf(invoice, "fees_paid_amount"));
  return kept !== null && kept > 0n && kept <= paid ? kept : null;
}

/** The state of a dispute by the provider's word for it. */
const DISPUTES: Readonly<Record<string, ReportedDispute["state"]>> = { WON: "won", LOST: "lost" };

/**
 * Of a dispute, which is about a payment of an invoice and names it by our own name for it. An invoice does not show its disputes.
 */
function disputeOf(notification: JsonObject): Notification {
  const [disputeId, status] = [textOf(notification, "id"), textOf(notification, "status")];
  if (disputeId === "" || disputeId.length > 100) throw mustBeAbout("a dispute");
  const amounts = isObject(notification["amount"]) ? notification["amount"] : {};
  const parts = ["dispute", disputeId, status];
  return {
    eventKey: hash("sha256", JSON.stringify(parts), "hex"),
    orderId: textOf(notification, "reference_id"),
    reference: null,
    status: `dispute ${status}`,
    amount: textOf(amounts, "terminal") || textOf(amounts, "initial"),
    dispute: {
      id: disputeId,
      state: Object.hasOwn(DISPUTES, status) ? (DISPUTES[status] ?? "open") : "open",
    },
  };
}

function mustBeAbout(what: string): ValidationError {
  return new ValidationError([{ field: "", rule: "notification", message: `The notification must be about ${what}` }]);
}

/** Of an invoice, or of one of its refunds or disputes. */
function notificationOf(notification: unknown): Notification {
  if (isObject(notification) && textOf(notification, "event").startsWith("dispute.")) return disputeOf(notification);
  const refund = isObject(notification) && isObject(notification["data"]) ? notification["data"] : null;
  const invoiceId = isObject(notification) ? textOf(refund ?? notification, refund === null ? "id" : "invoice_id") : "";
  if (!isObject(notification) || invoiceId === "" || invoiceId.length > 100) throw mustBeAbout("an invoice");
  const status = refund === null ? textOf(notification, "status") : `refund ${textOf(refund, "status")}`;
  const amount =
    refund === null ? textOf(notification, "paid_amount") || textOf(notification, "amount") : textOf(refund, "amount");
  const parts = [
    invoiceId,
    textOf(notification, "external_id"),
    status,
    amount,
    refund === null ? "" : textOf(refund, "id"),
  ];
  return {
    eventKey: hash("sha256", JSON.stringify(parts), "hex"),
    // A refund names the invoice alone.
    orderId: textOf(notification, "external_id"),
    reference: invoiceId,
    status,
    amount,
  };
}
