// Routes of a draft that can cost more than customers pay. They may be intended, so publishing is not blocked.

import { TriangleAlert } from "lucide-react";
import { type CatalogWarning, CatalogWarningReason } from "#gen/saldo/operator/v1/catalog_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Mono } from "../../../components/facts.tsx";
import { CATALOG_MESSAGES } from "./catalog-messages.ts";

const MOST_SHOWN = 20;

/** The warnings; nothing where there are none. */
export function CatalogWarnings({ warnings }: { readonly warnings: readonly CatalogWarning[] }) {
  const messages = useMessages(CATALOG_MESSAGES);
  const formats = useFormats();
  if (warnings.length === 0) return null;
  return (
    <section aria-label={messages.losses} className="flex flex-col gap-2 rounded-xl bg-warn-soft p-4 text-warn">
      <h3 className="flex items-center gap-2 font-medium">
        <TriangleAlert className="size-4 shrink-0" aria-hidden />
        {messages.losses}
      </h3>
      <p className="max-w-prose">{messages.lossesAbout}</p>
      <ul className="flex flex-col gap-2">
        {[...Map.groupBy(warnings.slice(0, MOST_SHOWN), ({ model, route }) => `${model} ${route}`)].map(
          ([key, losses]) => (
            <li key={key}>
              <Mono>
                {losses[0]?.model} → {losses[0]?.upstream}
              </Mono>
              {losses.map((warning) => (
                <span key={`${warning.reason} ${warning.price} ${warning.above}`} className="block">
                  <Loss warning={warning} />
                </span>
              ))}
            </li>
          ),
        )}
        {warnings.length > MOST_SHOWN ? <li>+ {formats.count(warnings.length - MOST_SHOWN)}</li> : null}
      </ul>
    </section>
  );
}

function Loss({ warning: { reason, price, above, sold, cost } }: { readonly warning: CatalogWarning }) {
  const messages = useMessages(CATALOG_MESSAGES);
  const formats = useFormats();
  if (reason === CatalogWarningReason.COST_WITHOUT_CACHE_WRITE) return messages.costWithoutWrite;
  if (reason === CatalogWarningReason.PRICE_WITHOUT_CACHE_WRITE) return messages.priceWithoutWrite;
  return (
    <>
      <Mono>{price}</Mono>: {messages.costs} {formats.exactRupiah(cost)}, {messages.soldFor} {formats.exactRupiah(sold)}
      {above === 0 ? null : ` (${messages.aboveInput} ${formats.count(above)})`}
    </>
  );
}
