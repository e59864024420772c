// The difference between two catalogs: the old and new prices of each model first, and all other changes below.

import { type CatalogChange, CatalogChangeKind, CatalogEntryKind } from "#gen/saldo/operator/v1/catalog_pb.ts";
import { UNKNOWN, useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { PRICE_MESSAGES } from "../../../i18n/price-messages.ts";
import { Badge, type Tone } from "../../../components/badge.tsx";
import { type Column, Table } from "../../../components/table.tsx";
import { Mono } from "../../../components/facts.tsx";
import { isPriceField, otherMoves, priceMove, type PriceMove, type PriceName } from "./price-move.ts";
import { CATALOG_MESSAGES } from "./catalog-messages.ts";

const KINDS: Readonly<Record<number, { readonly word: "added" | "changed" | "retired"; readonly tone: Tone }>> = {
  [CatalogChangeKind.ADDED]: { word: "added", tone: "good" },
  [CatalogChangeKind.CHANGED]: { word: "changed", tone: "info" },
  [CatalogChangeKind.RETIRED]: { word: "retired", tone: "bad" },
};

/** The difference, prices first. */
export function CatalogDifference({ changes }: { readonly changes: readonly CatalogChange[] }) {
  const messages = useMessages(CATALOG_MESSAGES);
  const priced = changes.filter(({ kind, fields }) => kind === CatalogEntryKind.MODEL && fields.some(isPriceField));
  const others = changes.filter(({ fields, kind }) => kind !== CatalogEntryKind.MODEL || !fields.every(isPriceField));
  return (
    <div className="flex flex-col">
      {priced.length === 0 ? null : (
        <>
          <h3 className="px-4 pb-1 text-[0.8125rem] font-medium text-muted">{messages.priceChanges}</h3>
          <Table
            label={messages.priceChanges}
            columns={usePriceColumns(priced.some((change) => otherMoves(change).length > 0))}
            rows={priced}
            keyOf={({ id }) => id}
          />
        </>
      )}
      {others.length === 0 ? null : (
        <section aria-label={messages.otherChanges} className="flex flex-col gap-2 border-t border-line p-4">
          <h3 className="text-[0.8125rem] font-medium text-muted">{messages.otherChanges}</h3>
          {others.map((change) => (
            <OtherChange key={`${change.kind} ${change.id}`} change={change} />
          ))}
        </section>
      )}
    </div>
  );
}

/** The kind of change of one entry, in a word. */
function ChangeBadge({ change }: { readonly change: CatalogChangeKind }) {
  const messages = useMessages(CATALOG_MESSAGES);
  const kind = KINDS[change];
  return kind === undefined ? null : <Badge tone={kind.tone}>{messages[kind.word]}</Badge>;
}

function usePriceColumns(hasOthers: boolean): readonly Column<CatalogChange>[] {
  const messages = useMessages(CATALOG_MESSAGES);
  return [
    {
      key: "model",
      head: messages.model,
      cell: ({ id, change }) => (
        <div className="flex flex-col items-start gap-1">
          <Mono>{id}</Mono>
          <ChangeBadge change={change} />
        </div>
      ),
    },
    priceColumn("input", messages.input),
    priceColumn("output", messages.output),
    priceColumn("cacheHit", messages.cache),
    ...(hasOthers
      ? [{ key: "others", head: messages.otherPrices, cell: (change: CatalogChange) => <OtherMoves change={change} /> }]
      : []),
  ];
}

function priceColumn(name: PriceName, head: string): Column<CatalogChange> {
  return { key: name, head, right: true, cell: (change) => <PriceCell change={change} name={name} /> };
}

/** The changes of prices that few models have, each with its name. */
function OtherMoves({ change }: { readonly change: CatalogChange }) {
  const messages = useMessages(PRICE_MESSAGES);
  const formats = useFormats();
  const moves = otherMoves(change);
  if (moves.length === 0) return <span className="text-muted">{UNKNOWN}</span>;
  return (
    <ul className="flex flex-col gap-2">
      {moves.map(({ name, above, move }) => (
        <li key={`${name} ${above}`} className="flex items-start justify-between gap-4">
          <span className="min-w-32 text-muted">
            {messages[name]}
            {above === null ? null : (
              <span className="block text-xs">
                {messages.longContext} {formats.count(above)}
              </span>
            )}
          </span>
          <Move move={move} />
        </li>
      ))}
    </ul>
  );
}

function PriceCell({ change, name }: { readonly change: CatalogChange; readonly name: PriceName }) {
  const move = priceMove(change, name);
  return move === null ? <span className="text-muted">{UNKNOWN}</span> : <Move move={move} />;
}

function Move({ move: { before, after, difference } }: { readonly move: PriceMove }) {
  const messages = useMessages(CATALOG_MESSAGES);
  const formats = useFormats();
  return (
    <span className="inline-flex flex-col items-end whitespace-nowrap">
      {before === null ? null : (
        <del className="text-muted">
          <span className="sr-only">{messages.was} </span>
          {formats.exactRupiah(before)}
        </del>
      )}
      {after === null ? null : (
        <ins className="font-medium no-underline">
          <span className="sr-only">{messages.becomes} </span>
          {formats.exactRupiah(after)}
        </ins>
      )}
      {difference === null ? null : (
        <span className={`text-xs font-medium ${difference.startsWith("-") ? "text-good" : "text-warn"}`}>
          {difference.startsWith("-") ? "▼" : "▲"} {formats.exactRupiah(difference.replace(/^[+-]/, ""))}
        </span>
      )}
    </span>
  );
}

function OtherChange({ change }: { readonly change: CatalogChange }) {
  const messages = useMessages(CATALOG_MESSAGES);
  const isModel = change.kind === CatalogEntryKind.MODEL;
  const fields = isModel ? change.fields.filter((field) => !isPriceField(field)) : change.fields;
  return (
    <details className="rounded-lg border border-line" open={change.change === CatalogChangeKind.CHANGED}>
      <summary className="flex flex-wrap items-center gap-2 px-3 py-2">
        <span className="text-muted">{isModel ? messages.model : messages.upstream}</span>
        <Mono>{change.id}</Mono>
        <ChangeBadge change={change.change} />
      </summary>
      <dl className="flex flex-col gap-2 border-t border-line p-3">
        {fields.map(({ field, before, after }) => (
          <div key={field} className="min-w-0">
            <dt className="font-mono text-xs text-muted">{field}</dt>
            <dd className="font-mono text-[0.8125rem] break-all">
              {before === "" ? null : (
                <del className="block text-muted">
                  <span className="sr-only">{messages.was} </span>
                  {before}
                </del>
              )}
              {after === "" ? null : (
                <ins className="block no-underline">
                  <span className="sr-only">{messages.becomes} </span>
                  {after}
                </ins>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
