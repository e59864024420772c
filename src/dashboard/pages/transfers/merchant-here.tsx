// Which merchant the pages below are about.

import { createContext, use } from "react";
import type { EnvironmentName } from "./environment-names.ts";
import type { Pair } from "./pair-dialog.tsx";

/** The merchant of the address, and how a new pair of it is shown. */
export type MerchantHere = {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  /** Shows a new pair until the reader has kept it; it outlives the page that asked for it. */
  readonly showPair: (pair: Pair) => void;
};

export const MerchantContext = createContext<MerchantHere | null>(null);

/** The merchant that the page is about; only below the merchant's frame. */
export function useMerchantHere(): MerchantHere {
  const here = use(MerchantContext);
  if (here === null) throw new Error("a merchant's page stands in the merchant's frame");
  return here;
}
