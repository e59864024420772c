// The payment providers: whether each answers and takes our key. It is asked about an order that no top-up has.

import { whereIs } from "../../app/compose/database.ts";
import { sellerByDefault } from "../../app/compose/receipts.ts";
import type { Config } from "../../app/config/config.ts";
import { createMidtransProvider } from "../../billing/payments/midtrans/midtrans-provider.ts";
import { type PaymentProvider, PaymentProviderError } from "../../billing/payments/payment-provider.ts";
import { createXenditProvider } from "../../billing/payments/xendit/xendit-provider.ts";
import { isSellerMissing } from "../../billing/receipts/issue-receipts.ts";
import { printedParty } from "../../billing/receipts/party.ts";
import { readBillingSettings } from "../../billing/settings.ts";
import { inReadOnly } from "../../database/inspect.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { type Check, failed, type Finding, ok, type CheckContext, warning } from "./check.ts";

/** A check for each provider, one for where balance is bought, and one for whether its receipts are issued. */
export function paymentChecks(
  { config, withinMs }: CheckContext,
  { isReadable }: { readonly isReadable: Promise<boolean> },
): Check[] {
  const { payments } = config;
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
    ...(chosen === null
      ? []
      : [
          {
            name: "receipts",
            waitsForDatabase: true,
            advice: "Run saldo settings show.",
            look: async () => ((await isReadable) ? [await lookAtSeller(config)] : []),
          },
        ]),
  ];
}

async function lookAtSeller(config: Config): Promise<Finding> {
  const { isMissing, seller } = await inReadOnly(whereIs(config), async (client) => ({
    isMissing: await isSellerMissing(client, sellerByDefault(config)),
    seller: (await readBillingSettings(client)).seller,
  }));
  if (!isMissing && JSON.stringify(seller) !== JSON.stringify(printedParty(seller)))
    return warning(
      "receipts",
      "name the seller with question marks, because its name or address has characters that they cannot print",
      "Run saldo settings seller with a name and an address in Latin, Greek or Cyrillic letters.",
    );
  if (!isMissing) return ok("receipts", "are issued for paid top-ups");
  return warning(
    "receipts",
    "are not issued, because no seller is set",
    "Run saldo settings seller --name NAME --address LINES --npwp NUMBER --reason WHY. What is paid until then gets its receipts afterwards.",
  );
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
