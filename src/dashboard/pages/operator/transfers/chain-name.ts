import { useWords } from "../../../i18n/language.tsx";
import { networkName } from "../../transfers/coins.ts";
import { MERCHANT_WORDS } from "../../transfers/merchant-words.ts";

/** Writes the name of a chain. */
export function useChainName(): (chain: string) => string {
  const names = useWords(MERCHANT_WORDS);
  return (chain) => (chain === "sandbox" ? names.sandbox : networkName(chain));
}
