// The payment providers: whether each answers and takes our key. It is asked about an order that no top-up has.

import { createMidtransProvider } from "../../billing/payments/midtrans/midtrans-provider.ts";
import { type PaymentProvider, PaymentProviderError } from "../../billing/payments/payment-provider.ts";
import { createXenditProvider } from "../../billing/payments/xendit/xendit-provider.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { type Check, failed, type Finding, ok, type CheckContext, warning } from "./check.ts";

/** A check for each provider, and one for where balance is bought. */
export function paymentChecks({ config: { payments }, withinMs }: CheckContext): Check[] {
  const { midtrans, xendit, chosen } = payments;
  const providers = [
    ...(midtrans === null
      ? []
      : [{ key: "MIDTRANS_SERVER_KEY", provider: createMidtransProvider({ ...midtrans, timeoutMs: withinMs }) }]),
    ...(xendit === null
      ? []
      : [{ key: "XENDIT_API_KEY", provider: createXenditProvider({ ...xendit, timeoutMs: withinMs }) }]),
  ];
  return [
    { name: "payments", advice: "Set SALDO_PAYMENT_PROVIDER.", look: () => Promise.resolve([chosenFinding(chosen)]) },
    ...providers.map(({ key, provider }) => ({
      name: provider.name,
      advice: `Look at ${provider.name}'s status and the network path to it.`,
      look: () => lookAt(provider, key),
    })),
  ];
}

function chosenFinding(chosen: string | null): Finding {
  if (chosen === null)
    return warning("payments", "balance cannot be bought", "Set SALDO_PAYMENT_PROVIDER and the provider's key.");
  return ok(
    "payments",
    chosen === "sandbox" ? "play money is bought at the sandbox" : `balance is bought at ${chosen}`,
  );
}

async function lookAt(provider: PaymentProvider, key: string): Promise<Finding[]> {
  try {
    await provider.ask({ orderId: `doctor-${uuidv7()}`, reference: null, isCredited: false });
    const answers = ok(provider.name, "answers and takes the key");
    if (provider.takesNotifications) return [answers];
    return [
      answers,
      warning(
        provider.name,
        "none of its notifications is taken",
        "Set XENDIT_CALLBACK_TOKEN; until then its orders are only asked about.",
      ),
    ];
  } catch (error) {
    if (!(error instanceof PaymentProviderError)) throw error;
    if (error.kind === "refused") {
      return [failed(provider.name, error.message, `Set ${key}, for the same environment as its address.`)];
    }
    return [failed(provider.name, error.message, `Look at ${provider.name}'s status and the network path to it.`)];
  } finally {
    await provider.close();
  }
}
