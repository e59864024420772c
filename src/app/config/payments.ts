// The providers that payments for top-ups go through.

import type { FeeRule } from "../../kernel/provider-fee-rule.ts";
import { ConfigError } from "./environment.ts";
import type { SettingReaders } from "./setting-readers.ts";

type PaymentProviderName = "sandbox" | "midtrans" | "xendit";
const PAYMENT_PROVIDERS: readonly PaymentProviderName[] = ["sandbox", "midtrans", "xendit"];

/** The payment providers. One without its key is null: it is not there. Addresses have no slash at the end. */
export type PaymentSettings = {
  /** Where new top-ups are opened. Null: nowhere. */
  readonly chosen: PaymentProviderName | null;
  /** How long a top-up can be paid. */
  readonly expiresAfterMs: number;
  /** Only in a demo, or where it is chosen outside production. */
  readonly sandbox: boolean;
  readonly midtrans: {
    readonly serverKey: string;
    readonly snapUrl: string;
    readonly apiUrl: string;
    readonly timeoutMs: number;
    /** The provider's fee on a payment, where its answers do not have it. Null: not known. */
    readonly fee: FeeRule | null;
    /** Whether cards are saved, and charged by automatic top-ups. */
    readonly savesCards: boolean;
  } | null;
  readonly xendit: {
    readonly apiKey: string;
    readonly callbackToken: string;
    readonly apiUrl: string;
    readonly timeoutMs: number;
    /** The provider's fee on a payment, where its answers do not have it. Null: not known. */
    readonly fee: FeeRule | null;
  } | null;
};

/** Reads the payment providers. Errors: ConfigError. */
export function readPayments(
  { text, integer, choice, providerUrl, feeRule }: SettingReaders,
  { demo, production }: { readonly demo: boolean; readonly production: boolean },
): PaymentSettings {
  const timeoutMs = integer("SALDO_PAYMENT_TIMEOUT_SECONDS", 10, { min: 1, max: 50 }) * 1_000;
  const [serverKey, apiKey] = [text("MIDTRANS_SERVER_KEY"), text("XENDIT_API_KEY")];
  const providers = {
    // Play money buys real answers, so outside a demo it has to be chosen.
    sandbox: demo || (!production && text("SALDO_PAYMENT_PROVIDER") === "sandbox"),
    expiresAfterMs: integer("SALDO_TOP_UP_MINUTES", 60, { min: 1, max: 10_080 }) * 60_000,
    midtrans:
      serverKey === null
        ? null
        : {
            serverKey,
            snapUrl: providerUrl("MIDTRANS_SNAP_URL", "https://app.midtrans.com/snap/v1"),
            apiUrl: providerUrl("MIDTRANS_API_URL", "https://api.midtrans.com"),
            timeoutMs,
            fee: feeRule("MIDTRANS_FEE"),
            savesCards: choice("MIDTRANS_SAVED_CARDS", "0", ["0", "1"]) === "1",
          },
    xendit:
      apiKey === null
        ? null
        : {
            apiKey,
            callbackToken: text("XENDIT_CALLBACK_TOKEN") ?? "",
            apiUrl: providerUrl("XENDIT_API_URL", "https://api.xendit.co"),
            timeoutMs,
            fee: feeRule("XENDIT_FEE"),
          },
  };
  if (text("SALDO_PAYMENT_PROVIDER") === null) return { ...providers, chosen: demo ? "sandbox" : null };
  const chosen = choice<PaymentProviderName>("SALDO_PAYMENT_PROVIDER", "sandbox", PAYMENT_PROVIDERS);
  const needs = {
    sandbox: "a demo: play money buys nothing in production",
    midtrans: "MIDTRANS_SERVER_KEY",
    xendit: "XENDIT_API_KEY",
  };
  if (providers[chosen] === null || providers[chosen] === false)
    throw new ConfigError(`SALDO_PAYMENT_PROVIDER is ${JSON.stringify(chosen)}, which needs ${needs[chosen]}`);
  return { ...providers, chosen };
}
