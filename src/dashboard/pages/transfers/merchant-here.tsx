// The merchant of the pages below.

import { createContext, use } from "react";
import type { EnvironmentName } from "./environment-names.ts";
import type { Pair } from "./pair-dialog.tsx";

/** The merchant of the address, and a function that shows a new pair of it. */
export type MerchantHere = {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  /** Shows a new pair until the reader has stored it; it outlives the page that created it. */
  readonly showPair: (pair: Pair) => void;
};

export const MerchantContext = createContext<MerchantHere | null>(null);

/** The merchant of the page; only below the merchant's frame. */
export function useMerchantHere(): MerchantHere {
  const here = use(MerchantContext);
  if (here === null) throw new Error("a merchant's page must be inside the merchant's frame");
  return here;
}
