import { useMessages } from "../../../i18n/language.tsx";
import { networkName } from "../../transfers/coins.ts";
import { MERCHANT_MESSAGES } from "../../transfers/merchant-messages.ts";

/** The name of a chain. */
export function useChainName(): (chain: string) => string {
  const names = useMessages(MERCHANT_MESSAGES);
  return (chain) => (chain === "sandbox" ? names.sandbox : networkName(chain));
}
