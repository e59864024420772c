// The prices in the documentation, as they are billed now. Whoever is not signed in is shown where they stand for everybody.

import type { Model } from "#gen/saldo/gateway/v1/model_pb.ts";
import { useFormats } from "../../i18n/format.ts";
import { useWords } from "../../i18n/language.tsx";
import { PRICE_WORDS } from "../../i18n/price-words.ts";
import { otherPricesOf, tierPricesOf } from "../../components/other-prices.ts";
import { SkeletonLines } from "../../components/states.tsx";
import { DocTable } from "./doc-table.tsx";
import { DOCS_WORDS } from "./docs-words.ts";

/** The prices of these models. `undefined`: they are on their way; null: nobody is signed in to ask for them. */
export function DocPrices({ models }: { readonly models: readonly Model[] | undefined | null }) {
  const words = useWords(DOCS_WORDS);
  if (models === undefined) return <SkeletonLines />;
  if (models === null) {
    return (
      <p>
        {words.pricesElsewhere}{" "}
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
  const words = useWords(DOCS_WORDS);
  const formats = useFormats();
  return (
    <DocTable
      numbers
      label={words.prices}
      head={[words.model, words.input, words.cache, words.output, words.context]}
      rows={models.map(({ id, pricing, contextLength }) => [
        <ModelId key="id" id={id} />,
        formats.exactRupiah(pricing?.input),
        pricing?.cacheHit === undefined ? words.asInput : formats.exactRupiah(pricing.cacheHit),
        formats.exactRupiah(pricing?.output),
        formats.size(contextLength),
      ])}
    />
  );
}

/** Prices of kinds that few models charge apart, and of requests with a long input. Renders nothing where no model has such a price. */
function OtherPrices({ models }: { readonly models: readonly Model[] }) {
  const words = useWords(DOCS_WORDS);
  const kinds = useWords(PRICE_WORDS);
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
  return <DocTable numbers narrow label={words.otherPrices} head={[words.otherPrices, words.price]} rows={rows} />;
}

function ModelId({ id }: { readonly id: string }) {
  return <code className="font-mono text-[0.8125rem]">{id}</code>;
}
