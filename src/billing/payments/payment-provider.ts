// What billing needs of a payment provider: a page to pay at, the state of an order, and whether a notification really
// comes from the provider. An adapter translates; it decides nothing about money, and keeps nothing.

import type { IncomingHttpHeaders } from "node:http";
import type { ReportedState } from "../top-ups/states.ts";

/** The providers there are. A top-up keeps the name of its own, so a name is for life. */
export const PROVIDER_NAMES = ["sandbox", "midtrans", "xendit"] as const;
export type ProviderName = (typeof PROVIDER_NAMES)[number];

/** Whether a text is the name of a provider. */
export function isProviderName(text: string): text is ProviderName {
  return PROVIDER_NAMES.some((name) => name === text);
}

export type PaymentOrder = {
  /** At most 50 characters of `[A-Za-z0-9-]`; ours for ever. */
  readonly orderId: string;
  /** Micro-rupiah, whole rupiah. */
  readonly amount: bigint;
  readonly description: string;
  readonly expiresAt: Date;
  /** Where the payer's browser goes when it is done. Coming back there proves nothing. */
  readonly returnUrl: string;
  /**
   * What the method is saved under at the provider, where the payer has agreed to it. One name an order: the page of a later order offers no
   * method that was saved before, and perhaps removed. Left out: nothing is saved.
   */
  readonly saveFor?: string;
};

/** A way to pay that the provider saved. The token can be charged and is a secret; the label is what its owner sees. */
export type SavedMethod = { readonly token: string; readonly label: string };

/** A charge of a saved method, without its owner. */
export type MethodCharge = Pick<PaymentOrder, "orderId" | "amount" | "description"> & {
  readonly accountId: string;
  readonly token: string;
};

/** `refused`: this call has charged nothing and will not. `taken`: the provider has it, and what becomes of it is asked. */
export type ChargeAnswer = { readonly outcome: "taken" | "refused"; readonly reference: string | null };

export type OpenedPayment = {
  /** The provider's page; an https address. */
  readonly paymentUrl: string;
  /** The provider's own name for the payment; null where it assigns one later. */
  readonly reference: string | null;
};

export type AskedOrder = {
  readonly orderId: string;
  /** From an earlier answer or a verified notification. */
  readonly reference: string | null;
  /** Whether it was credited: then what was given back is asked for as well. */
  readonly isCredited: boolean;
  /** Whether the order saves a method, or charges one. Left out: it does neither. */
  readonly method?: "saved" | "charged";
};

/** The provider's answer about an order. */
export type PaymentFacts = {
  /** `unknown`: it knows no payment of this order yet, as before the payer has chosen a way to pay. */
  readonly state: ReportedState | "unknown";
  /** What the payer pays in micro-rupiah, fees for the payer included; null where the provider's answer has no readable amount. */
  readonly amount: bigint | null;
  /** What was given back in all, in micro-rupiah; null where the provider's answer does not contain it. */
  readonly givenBack: bigint | null;
  readonly reference: string | null;
  /**
   * What the provider keeps of the payment for itself, in micro-rupiah: from its answer, or else by the configured rule. Null or left out:
   * neither has one.
   */
  readonly fee?: bigint | null;
  /** The method that a paid order has saved. Null or left out: there is none. */
  readonly method?: SavedMethod | null;
};

/** The answer for an order without a payment at the provider. */
export const UNKNOWN_PAYMENT: PaymentFacts = { state: "unknown", amount: null, givenBack: null, reference: null };

/** What a verified notification is about. Only the order to ask about is taken from it. */
export type Notification = {
  /** The same for the same event, whenever and however often it is sent. At most 200 characters. */
  readonly eventKey: string;
  readonly orderId: string;
  readonly reference: string | null;
  /** As received, for the record. */
  readonly status: string;
  /** As received, a decimal text, for the record. */
  readonly amount: string;
  /**
   * The state of a payer's dispute, where the answer about the order does not show disputes. It is shown to operators and moves no money.
   * Left out: the notification is about none.
   */
  readonly dispute?: ReportedDispute;
};

/** The state of a dispute, as it was received. */
export type ReportedDispute = {
  /** The provider's own name for it. At most 100 characters. */
  readonly id: string;
  readonly state: "open" | "won" | "lost";
};

export type NotificationRequest = { readonly headers: IncomingHttpHeaders; readonly body: Buffer };

export interface PaymentProvider {
  readonly name: ProviderName;
  /** How long `open` takes at most. No other call opens the order for so long: some providers would then have two that can be paid. */
  readonly opensWithinMs: number;
  /** Whether it has a secret to verify notifications by. Without one none is taken. */
  readonly takesNotifications: boolean;
  /**
   * Opens the order's page. Opening an order again gives a page that works, and never a second payment beside the first where the
   * provider can prevent it. Errors: PaymentProviderError.
   */
  open(order: PaymentOrder): Promise<OpenedPayment>;
  /**
   * Charges a saved method. It is called once for an order, ever. Null: this provider saves and charges no methods. Errors:
   * PaymentProviderError: what became of the charge is not known, and only `ask` may find out.
   */
  readonly charge: ((charge: MethodCharge) => Promise<ChargeAnswer>) | null;
  /** Asks what has become of an order. Errors: PaymentProviderError. */
  ask(order: AskedOrder): Promise<PaymentFacts>;
  /**
   * Reads a notification. Null: it is not the provider's. Errors: ValidationError where it is, and cannot be read.
   */
  readNotification(request: NotificationRequest): Promise<Notification | null>;
  close(): Promise<void>;
}

/**
 * The provider could not be asked, or its answer is of no use. The message is for our log and contains neither a secret nor a text
 * of the provider.
 */
export class PaymentProviderError extends Error {
  /** `away`: worth another try soon. `refused`: it answered, and will answer the same again. */
  readonly kind: "away" | "refused";
  constructor(kind: "away" | "refused", message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
