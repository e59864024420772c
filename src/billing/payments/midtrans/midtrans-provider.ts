// Midtrans: a Snap page to pay at, and the Core API for the payment's state. A notification's signature covers neither the status nor a
// time, so nothing of it but the order is used.

import { hash } from "node:crypto";
import { ValidationError } from "../../../kernel/errors.ts";
import { type FeeRule, feeOf } from "../../../kernel/provider-fee-rule.ts";
import type {
  AskedOrder,
  ChargeAnswer,
  MethodCharge,
  Notification,
  NotificationRequest,
  OpenedPayment,
  PaymentFacts,
  PaymentOrder,
  PaymentProvider,
  SavedMethod,
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
  wholeRupiah,
} from "../provider-client.ts";
import { isSameSecret } from "../same-secret.ts";

export type MidtransConfig = {
  readonly serverKey: string;
  /** Such as https://app.midtrans.com/snap/v1 and https://api.midtrans.com, without a slash at the end. */
  readonly snapUrl: string;
  readonly apiUrl: string;
  readonly timeoutMs: number;
  /** What Midtrans keeps of a payment; its answers do not contain it. Null or left out: nothing is posted for it. */
  readonly fee?: FeeRule | null;
  /** Whether cards are saved and charged: Midtrans has to allow it. Left out: no. */
  readonly savesCards?: boolean;
};

const MINUTE_MS = 60_000;

/** Their codes for a charge that was never made: a wrong request, no permission, and a token that is missing, wrong or expired. */
const NOT_CHARGED: ReadonlySet<string> = new Set(["400", "402", "410", "411", "413"]);
/** The order id was used: the charge is there, and is asked about. */
const DUPLICATE = "406";

/** What each of their statuses means. `capture` and the ones that are given back in part depend on more. */
const STATES: Readonly<Record<string, PaymentFacts["state"]>> = {
  authorize: "pending",
  pending: "pending",
  settlement: "paid",
  deny: "failed",
  failure: "failed",
  cancel: "canceled",
  expire: "expired",
  refund: "refunded",
  partial_refund: "partially_refunded",
  chargeback: "charged_back",
  partial_chargeback: "charged_back",
};

/** Opens the adapter. */
export function createMidtransProvider(config: MidtransConfig, now: () => number = Date.now): PaymentProvider {
  const { serverKey, snapUrl, apiUrl, timeoutMs } = config;
  const client = new ProviderClient({ key: serverKey, timeoutMs });
  async function charge({ orderId, amount, token }: MethodCharge): Promise<ChargeAnswer> {
    const body = {
      payment_type: "credit_card",
      transaction_details: { order_id: orderId, gross_amount: wholeRupiah(amount) },
      credit_card: { token_id: token },
    };
    const understood = [...NOT_CHARGED, DUPLICATE].map(Number);
    const call = { method: "POST", url: `${apiUrl}/v2/charge`, body, understood } as const;
    const answer = await client.call(call);
    const code = textOf(objectOf(answer.body), "status_code") || String(answer.status);
    if (NOT_CHARGED.has(code)) return { outcome: "refused", reference: null };
    if (!code.startsWith("2") && code !== DUPLICATE)
      throw new PaymentProviderError("away", `the provider answered with status ${code}`);
    const transaction = textOf(objectOf(answer.body), "transaction_id");
    return { outcome: "taken", reference: transaction === "" || transaction.length > 100 ? null : transaction };
  }

  return {
    name: "midtrans",
    opensWithinMs: timeoutMs,
    takesNotifications: serverKey !== "",

    // The same order id again gives a new page, and the old one stops working.
    async open(order: PaymentOrder): Promise<OpenedPayment> {
      const { body } = await client.call({
        method: "POST",
        url: `${snapUrl}/transactions`,
        body: orderBody(order, now()),
      });
      return { paymentUrl: pageOf(textOf(objectOf(body, "refused"), "redirect_url")), reference: null };
    },

    charge: config.savesCards === true ? charge : null,

    async ask({ orderId, reference, method }: AskedOrder): Promise<PaymentFacts> {
      const url = `${apiUrl}/v2/${encodeURIComponent(orderId)}/status`;
      const answer = await client.call({ method: "GET", url, understood: [404] });
      // Until the payer has chosen a way to pay there is no payment: Midtrans answers 404, sometimes inside an answer of 200.
      if (answer.status === 404) return UNKNOWN_PAYMENT;
      const body = objectOf(answer.body);
      const code = textOf(body, "status_code");
      if (code === "404") return UNKNOWN_PAYMENT;
      if (code.startsWith("5")) throw new PaymentProviderError("away", `the provider answered with status ${code}`);
      const transaction = textOf(body, "transaction_id");
      const isOfOrder = textOf(body, "order_id") === orderId || (transaction !== "" && transaction === reference);
      if (!isOfOrder) throw new PaymentProviderError("refused", "the provider's answer is about another order");
      const facts = factsOf(body, transaction, config.fee ?? null);
      return method === "saved" ? { ...facts, method: methodOf(body) } : facts;
    },

    readNotification({ body }: NotificationRequest): Promise<Notification | null> {
      const notification = parse(body.toString("utf8"));
      if (!isObject(notification)) return Promise.resolve(null);
      const signed = ["order_id", "status_code", "gross_amount"].map((member) => textOf(notification, member)).join("");
      const expected = hash("sha512", signed + serverKey, "hex");
      const isTheirs = serverKey !== "" && isSameSecret(textOf(notification, "signature_key"), expected);
      return isTheirs ? Promise.resolve(notificationOf(notification)) : Promise.resolve(null);
    },

    close: () => client.close(),
  };
}

function orderBody(
  { orderId, amount, description, expiresAt, returnUrl, saveFor }: PaymentOrder,
  nowMs: number,
): object {
  const rupiahs = wholeRupiah(amount);
  const minutes = Math.max(1, Math.ceil((expiresAt.getTime() - nowMs) / MINUTE_MS));
  return {
    transaction_details: { order_id: orderId, gross_amount: rupiahs },
    item_details: [{ id: "saldo", name: description.slice(0, 50), price: rupiahs, quantity: 1 }],
    expiry: { unit: "minutes", duration: minutes },
    callbacks: { finish: returnUrl },
    // A card alone is saved. The page asks its holder, with 3-D Secure.
    ...(saveFor === undefined
      ? {}
      : { enabled_payments: ["credit_card"], credit_card: { secure: true, save_card: true }, user_id: saveFor }),
  };
}

/** The card that a payment has saved. Null: its holder has not agreed, or the answer does not contain it. */
function methodOf(body: JsonObject): SavedMethod | null {
  const token = textOf(body, "saved_token_id");
  if (token === "" || token.length > 255) return null;
  // Such as 48111111-1114: no more than the last four digits are stored.
  const [digits] = /\d{4}$/.exec(textOf(body, "masked_card")) ?? [];
  return { token, label: `•••• ${digits ?? "????"}` };
}

function factsOf(body: JsonObject, transaction: string, fee: FeeRule | null): PaymentFacts {
  const status = textOf(body, "transaction_status");
  const amount = isInRupiah(body) ? rupiah(textOf(body, "gross_amount")) : null;
  return {
    state: stateOf(status, body),
    amount,
    givenBack: givenBackOf(status, body, amount),
    reference: transaction === "" ? null : transaction,
    fee: fee === null || amount === null ? null : feeOf(fee, amount),
  };
}

function stateOf(status: string, body: JsonObject): PaymentFacts["state"] {
  const fraud = textOf(body, "fraud_status");
  const isGood = textOf(body, "status_code") === "200";
  // A card's payment is captured while the provider still checks it for fraud.
  if (status === "capture") {
    if (fraud === "accept" && isGood) return "paid";
    return fraud === "deny" ? "failed" : "review";
  }
  const state = STATES[status];
  if (state === undefined) throw new PaymentProviderError("refused", "the provider returned an unknown status");
  if (state === "paid" && (!isGood || fraud === "challenge")) return "review";
  return state;
}

function givenBackOf(status: string, body: JsonObject, amount: bigint | null): bigint | null {
  switch (status) {
    case "refund":
    case "chargeback":
      return amount;
    case "partial_refund":
    case "partial_chargeback":
      return sumOf(RETURNED.map((member) => rupiah(textOf(body, member))));
    default:
      return 0n;
  }
}

/** What the provider gave back and what a bank took back are reported side by side, whichever came last. */
const RETURNED = ["refund_amount", "chargeback_amount"] as const;

/** The sum of what can be read; null where nothing can. */
function sumOf(amounts: readonly (bigint | null)[]): bigint | null {
  const readable = amounts.filter((amount) => amount !== null);
  return readable.length === 0 ? null : readable.reduce((sum, amount) => sum + amount, 0n);
}

function notificationOf(notification: JsonObject): Notification {
  const orderId = textOf(notification, "order_id");
  if (orderId === "") throw new ValidationError([{ field: "order_id", rule: "required", message: "is required" }]);
  const status = textOf(notification, "transaction_status");
  const fraud = textOf(notification, "fraud_status");
  const amount = textOf(notification, "gross_amount");
  const transaction = textOf(notification, "transaction_id");
  // Of what is not signed only known words count, so that edited copies cannot make any number of events.
  const words = [status, fraud].map((word) => (word in STATES || KNOWN_WORDS.has(word) ? word : "other"));
  const returned = RETURNED.map((member) => rupiah(textOf(notification, member)) ?? "");
  const parts = [orderId, textOf(notification, "status_code"), amount, ...words, ...returned];
  return {
    eventKey: hash(
      "sha256",
      JSON.stringify(parts, (_key, part: unknown) => (typeof part === "bigint" ? `${part}` : part)),
      "hex",
    ),
    orderId,
    reference: transaction === "" || transaction.length > 100 ? null : transaction,
    status,
    amount,
  };
}

const KNOWN_WORDS: ReadonlySet<string> = new Set(["capture", "accept", "challenge", "deny", ""]);
