import { useFormats } from "../i18n/format.ts";
import { useMessages } from "../i18n/language.tsx";
import { PRICE_MESSAGES } from "../i18n/price-messages.ts";
import { Fact } from "./facts.tsx";
import { otherPricesOf, type ShownPrices, tierPricesOf } from "./other-prices.ts";

/** The prices of separately charged kinds and of requests with a long input, as rows of a list of facts. */
export function OtherPriceFacts({ prices }: { readonly prices: ShownPrices }) {
  const messages = useMessages(PRICE_MESSAGES);
  const formats = useFormats();
  return (
    <>
      {otherPricesOf(prices).map(({ name, price }) => (
        <Fact key={name} name={messages[name]}>
          {formats.exactRupiah(price)}
        </Fact>
      ))}
      {prices.longContext.map((tier) => (
        <Fact
          key={tier.above}
          name={
            <span className="block max-w-32 sm:max-w-none">
              {messages.longContext} {formats.count(tier.above)}
            </span>
          }
        >
          {tierPricesOf(tier).map(({ name, price }) => (
            <span key={name} className="block whitespace-nowrap">
              <span className="text-muted">{messages[name]}</span> {formats.exactRupiah(price)}
            </span>
          ))}
        </Fact>
      ))}
    </>
  );
}
