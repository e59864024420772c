// The fake provider's payments in the wire formats of Midtrans and Xendit.

/** A payment in the fake's own form, for both formats. Money is rupiah. */
export type FakePayment = {
  readonly orderId: string;
  readonly transactionId: string;
  readonly amount: number;
  /** `none`: the payer has not chosen a way to pay. */
  status:
    | "none"
    | "pending"
    | "paid"
    | "captured"
    | "challenged"
    | "failed"
    | "expired"
    | "canceled"
    | "partially_refunded"
    | "refunded"
    | "partially_charged_back"
    | "charged_back";
  /** The payer's whole payment, fees included. */
  gross: number;
  refunded: number;
  /** The number of equal refunds of it, where the format has each. */
  refunds: number;
  /** The part of it that the payer's bank took back. */
  chargedBack: number;
  currency: string;
  /** Xendit's own fee of the payment, as it reports it; null: nothing is reported. */
  kept: number | null;
  /** The token of the card that it saves, once it is paid; null: none. */
  savedToken: string | null;
  /** The order id in its answers, where it is a different one. */
  toldOrderId: string;
};

/** The refunds of a payment, after one that failed. */
export function xenditRefunds({ transactionId, amount, refunded, refunds }: FakePayment) {
  const row = (number: number, money: number, status: string) => {
    return { id: `rfd-${number}`, invoice_id: transactionId, amount: money, status };
  };
  const paid = Array.from({ length: refunds }, (_, at) => row(at + 1, refunded / refunds, "SUCCEEDED"));
  return [row(0, amount, "FAILED"), ...paid];
}

/** Xendit's names of the states. */
export const XENDIT_STATUS: Readonly<Record<FakePayment["status"], string>> = {
  none: "PENDING",
  pending: "PENDING",
  paid: "PAID",
  captured: "SETTLED",
  challenged: "PENDING",
  failed: "EXPIRED",
  expired: "EXPIRED",
  canceled: "EXPIRED",
  partially_refunded: "SETTLED",
  refunded: "SETTLED",
  partially_charged_back: "SETTLED",
  charged_back: "SETTLED",
};

const MIDTRANS_STATUS: Readonly<Record<FakePayment["status"], readonly [status: string, code: string, fraud: string]>> =
  {
    none: ["pending", "201", "accept"],
    pending: ["pending", "201", "accept"],
    paid: ["settlement", "200", "accept"],
    captured: ["capture", "200", "accept"],
    challenged: ["capture", "201", "challenge"],
    failed: ["deny", "202", "deny"],
    expired: ["expire", "407", "accept"],
    canceled: ["cancel", "200", "accept"],
    partially_refunded: ["partial_refund", "200", "accept"],
    refunded: ["refund", "200", "accept"],
    partially_charged_back: ["partial_chargeback", "200", "accept"],
    charged_back: ["chargeback", "200", "accept"],
  };

/** A payment as Midtrans reports it. All values are texts, as theirs are. */
export function midtransBody({
  transactionId,
  toldOrderId,
  status,
  gross,
  refunded,
  chargedBack,
  currency,
  savedToken,
}: FakePayment) {
  const [transactionStatus, statusCode, fraudStatus] = MIDTRANS_STATUS[status];
  const body: Record<string, string> = {
    transaction_id: transactionId,
    order_id: toldOrderId,
    transaction_status: transactionStatus,
    fraud_status: fraudStatus,
    status_code: statusCode,
    gross_amount: `${gross}.00`,
    currency,
    payment_type: "qris",
    ...(savedToken === null ? {} : { saved_token_id: savedToken, masked_card: "48111111-1114" }),
    ...(refunded > 0 ? { refund_amount: `${refunded}.00` } : {}),
    ...(chargedBack > 0 ? { chargeback_amount: `${chargedBack}.00` } : {}),
  };
  return body;
}
