// The prices in the documentation, as they are billed now. Where they cannot be loaded, a link leads to the price list for programs.

import type { Model } from "#gen/saldo/gateway/v1/model_pb.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { PRICE_MESSAGES } from "../../i18n/price-messages.ts";
import { otherPricesOf, tierPricesOf } from "../../components/other-prices.ts";
import { SkeletonLines } from "../../components/states.tsx";
import { DocTable } from "./doc-table.tsx";
import { DOCS_MESSAGES } from "./docs-messages.ts";

/** The prices of these models. `undefined`: not loaded yet; null: they could not be loaded. */
export function DocPrices({ models }: { readonly models: readonly Model[] | undefined | null }) {
  const messages = useMessages(DOCS_MESSAGES);
  if (models === undefined) return <SkeletonLines />;
  if (models === null) {
    return (
      <p>
        {messages.pricesElsewhere}{" "}
        <a href="/llms.txt" className="font-medium text-action underline">
          llms.txt
        </a>
        .
      </p>
    );
  }
  return (
    <div className="flex flex-col gap-4">
      <CommonPrices models={models} />
      <OtherPrices models={models} />
    </div>
  );
}

function CommonPrices({ models }: { readonly models: readonly Model[] }) {
  const messages = useMessages(DOCS_MESSAGES);
  const formats = useFormats();
  return (
    <DocTable
      numbers
      label={messages.prices}
      head={[messages.model, messages.input, messages.cache, messages.output, messages.context]}
      rows={models.map(({ id, pricing, contextLength }) => [
        <ModelId key="id" id={id} />,
        formats.exactRupiah(pricing?.input),
        pricing?.cacheHit === undefined ? messages.asInput : formats.exactRupiah(pricing.cacheHit),
        formats.exactRupiah(pricing?.output),
        formats.size(contextLength),
      ])}
    />
  );
}

/**
 * Prices of token kinds that only few models price separately, and of requests with a long input. Renders nothing where
 * no model has such a price.
 */
function OtherPrices({ models }: { readonly models: readonly Model[] }) {
  const messages = useMessages(DOCS_MESSAGES);
  const kinds = useMessages(PRICE_MESSAGES);
  const formats = useFormats();
  const rows = models.flatMap(({ id, pricing }) => {
    if (pricing === undefined) return [];
    const ofTiers = pricing.longContext.flatMap((tier) =>
      tierPricesOf(tier).map(({ name, price }) => ({
        of: `${kinds[name]} (${kinds.longContext} ${formats.count(tier.above)})`,
        price,
      })),
    );
    const ofKinds = otherPricesOf(pricing).map(({ name, price }) => ({ of: kinds[name], price }));
    return [...ofKinds, ...ofTiers].map(({ of, price }) => [
      <>
        <ModelId id={id} /> <span className="block text-muted">{of}</span>
      </>,
      formats.exactRupiah(price),
    ]);
  });
  if (rows.length === 0) return null;
  return (
    <DocTable numbers narrow label={messages.otherPrices} head={[messages.otherPrices, messages.price]} rows={rows} />
  );
}

function ModelId({ id }: { readonly id: string }) {
  return <code className="font-mono text-[0.8125rem]">{id}</code>;
}
