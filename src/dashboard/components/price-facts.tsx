import { useFormats } from "../i18n/format.ts";
import { useWords } from "../i18n/language.tsx";
import { PRICE_WORDS } from "../i18n/price-words.ts";
import { Fact } from "./facts.tsx";
import { otherPricesOf, type ShownPrices, tierPricesOf } from "./other-prices.ts";

/** The prices of kinds that are charged apart and of requests with a long input: facts for a list of them. */
export function OtherPriceFacts({ prices }: { readonly prices: ShownPrices }) {
  const words = useWords(PRICE_WORDS);
  const formats = useFormats();
  return (
    <>
      {otherPricesOf(prices).map(({ name, price }) => (
        <Fact key={name} name={words[name]}>
          {formats.exactRupiah(price)}
        </Fact>
      ))}
      {prices.longContext.map((tier) => (
        <Fact
          key={tier.above}
          name={
            <span className="block max-w-32 sm:max-w-none">
              {words.longContext} {formats.count(tier.above)}
            </span>
          }
        >
          {tierPricesOf(tier).map(({ name, price }) => (
            <span key={name} className="block whitespace-nowrap">
              <span className="text-muted">{words[name]}</span> {formats.exactRupiah(price)}
            </span>
          ))}
        </Fact>
      ))}
    </>
  );
}
