// The prices in the documentation, as they are billed now. Whoever is not signed in is shown where they stand for everybody.

import type { Model } from "#gen/saldo/gateway/v1/model_pb.ts";
import { useFormats } from "../../language/format.ts";
import { useWords } from "../../language/language.tsx";
import { SkeletonLines } from "../../parts/states.tsx";
import { DocTable } from "./doc-table.tsx";
import { DOCS_WORDS } from "./docs-words.ts";

/** The prices of these models. `undefined`: they are on their way; null: nobody is signed in to ask for them. */
export function DocPrices({ models }: { readonly models: readonly Model[] | undefined | null }) {
  const words = useWords(DOCS_WORDS);
  const formats = useFormats();
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
    <DocTable
      numbers
      label={words.prices}
      head={[words.model, words.input, words.cache, words.output, words.context]}
      rows={models.map(({ id, pricing, contextLength }) => [
        <code key="id" className="font-mono text-[0.8125rem]">
          {id}
        </code>,
        formats.exactRupiah(pricing?.input),
        pricing?.cacheHit === undefined ? words.asInput : formats.exactRupiah(pricing.cacheHit),
        formats.exactRupiah(pricing?.output),
        formats.size(contextLength),
      ])}
    />
  );
}
