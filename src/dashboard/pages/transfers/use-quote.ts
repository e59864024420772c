// The quote of the typed amount, from the server: the page computes none.

import { callUnaryMethod, useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { MerchantTransferService } from "#gen/saldo/merchant/v1/merchant_transfer_service_pb.ts";
import type { Quote } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { transport } from "../../api/transport.ts";

/** The delay before a quote, so that typing can finish. */
const TYPED_WITHIN_MS = 350;

export type Priced = {
  readonly merchantId: string;
  readonly currencyCode: string;
  readonly network: string;
  /** A decimal. Empty: the amount cannot be read yet. */
  readonly amount: string;
};

/** The quote, a moment after the last key. `isCurrent`: it is the quote of the text in the form now. */
export function useQuote(priced: Priced): {
  readonly quote: Quote | undefined;
  readonly error: unknown;
  readonly isCurrent: boolean;
} {
  const asked = useSettled(JSON.stringify(priced));
  const { merchantId, currencyCode, network, amount } = JSON.parse(asked) as Priced;
  const { data, error, isPlaceholderData } = useQuery(
    MerchantTransferService.method.calculateTransfer,
    { merchantId, currencyCode, network, amount },
    { enabled: amount !== "", placeholderData: keepPreviousData, retry: false },
  );
  const isCurrent = asked === JSON.stringify(priced) && !isPlaceholderData;
  return { quote: priced.amount !== "" ? data?.quote : undefined, error, isCurrent };
}

/** The quote of exactly this order, for its confirmation. The address is checked, too. Errors: ConnectError. */
export async function askQuote(priced: Priced & { readonly address: string }): Promise<Quote | undefined> {
  const { quote } = await callUnaryMethod(transport, MerchantTransferService.method.calculateTransfer, priced);
  return quote;
}

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(text), TYPED_WITHIN_MS);
    return () => window.clearTimeout(timer);
  }, [text]);
  return settled;
}
