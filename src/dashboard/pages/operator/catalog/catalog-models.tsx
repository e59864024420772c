// The live catalog as a table, and one model with all its catalog data.

import { useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import {
  type CatalogModel,
  CatalogModelKind,
  type CatalogAccepts,
  type CatalogPrices,
} from "#gen/saldo/operator/v1/catalog_pb.ts";
import { useFormats } from "../../../i18n/format.ts";
import { useMessages } from "../../../i18n/language.tsx";
import { Badge } from "../../../components/badge.tsx";
import { Button } from "../../../components/button.tsx";
import { Card } from "../../../components/card.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { TextField } from "../../../components/field.tsx";
import { Empty } from "../../../components/states.tsx";
import { type Column, Table } from "../../../components/table.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { useChangeAddress } from "../components/address.ts";
import { Fact, Facts, Mono } from "../../../components/facts.tsx";
import { OtherPriceFacts } from "../../../components/price-facts.tsx";
import { Filters } from "../components/filters.tsx";
import { CATALOG_MESSAGES } from "./catalog-messages.ts";

/** So many at once: a catalog may have five thousand. */
const SHOWN_AT_ONCE = 200;

/** The catalog's models that match the address. */
export function CatalogModels({ models }: { readonly models: readonly CatalogModel[] }) {
  const messages = useMessages(CATALOG_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const change = useChangeAddress();
  const { q, model } = useSearch({ from: "/inside/operator/catalog" });
  const [most, setMost] = useState(SHOWN_AT_ONCE);
  const wanted = (q ?? "").toLowerCase();
  const found = models.filter(({ id, name }) => `${id} ${name}`.toLowerCase().includes(wanted));
  return (
    <>
      <Filters values={{ q }}>
        <TextField type="search" name="q" label={messages.filter} className="w-full max-w-96 sm:w-96" />
      </Filters>
      <Card flush title={messages.models} aside={<span className="text-xs text-muted">{messages.perMillion}</span>}>
        {found.length === 0 ? (
          <Empty
            title={messages.noModels}
            action={<Button onClick={() => change({ view: "draft" })}>{messages.toDraft}</Button>}
          >
            {messages.noModelsAbout}
          </Empty>
        ) : (
          <Table
            label={messages.models}
            columns={useModelColumns()}
            rows={found.slice(0, most)}
            keyOf={({ id }) => id}
            onOpen={({ id }) => change({ model: id })}
          />
        )}
        {found.length > most ? (
          <div className="p-4">
            <Button onClick={() => setMost(most + SHOWN_AT_ONCE)}>{shared.more}</Button>
          </div>
        ) : null}
      </Card>
      <ModelSheet model={models.find(({ id }) => id === model)} onClose={() => change({ model: undefined })} />
    </>
  );
}

function useModelColumns(): readonly Column<CatalogModel>[] {
  const messages = useMessages(CATALOG_MESSAGES);
  const formats = useFormats();
  const price = (text: string | undefined) => <span className="whitespace-nowrap">{formats.exactRupiah(text)}</span>;
  return [
    {
      key: "model",
      head: messages.model,
      cell: ({ id, name, badge, kind }) => (
        <>
          <Mono>{id}</Mono>
          {kind === CatalogModelKind.EMBEDDINGS ? (
            <span className="ml-2">
              <Badge tone="info" sign={false}>
                {messages.embeddings}
              </Badge>
            </span>
          ) : null}
          {badge === "" ? null : (
            <span className="ml-2">
              <Badge tone="info" sign={false}>
                {badge}
              </Badge>
            </span>
          )}
          <span className="block text-xs break-words text-muted">{name}</span>
        </>
      ),
    },
    { key: "input", head: messages.input, right: true, cell: (model) => price(model.price?.input) },
    { key: "output", head: messages.output, right: true, cell: (model) => price(model.price?.output) },
    {
      key: "cache",
      head: messages.cache,
      right: true,
      wide: true,
      cell: (model) =>
        model.price?.cacheHit === undefined ? (
          <span className="text-xs text-muted">{messages.asInput}</span>
        ) : (
          price(model.price.cacheHit)
        ),
    },
    {
      key: "context",
      head: messages.context,
      right: true,
      wide: true,
      cell: ({ contextLength }) => formats.size(contextLength),
    },
    {
      key: "routes",
      head: messages.upstream,
      wide: true,
      cell: ({ routes }) => <Mono>{routes.map(({ upstream }) => upstream).join(" → ")}</Mono>,
    },
  ];
}

function ModelSheet({ model, onClose }: { readonly model: CatalogModel | undefined; readonly onClose: () => void }) {
  return (
    <Dialog side open={model !== undefined} onClose={onClose} title={<Mono>{model?.id ?? ""}</Mono>}>
      {model === undefined ? null : <ModelFacts model={model} />}
    </Dialog>
  );
}

function AcceptedFacts({ accepts }: { readonly accepts: CatalogAccepts }) {
  const messages = useMessages(CATALOG_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const shown = (isAccepted: boolean) => (isAccepted ? shared.yes : shared.no);
  return (
    <>
      <Fact name={messages.thinking}>
        <Mono>{accepts.thinking}</Mono>
      </Fact>
      <Fact name={messages.sampling}>{shown(accepts.sampling)}</Fact>
      <Fact name={messages.prefill}>{shown(accepts.prefill)}</Fact>
      <Fact name={messages.cacheMarkers}>{shown(accepts.cacheMarkers ?? true)}</Fact>
    </>
  );
}

function ModelFacts({ model }: { readonly model: CatalogModel }) {
  const messages = useMessages(CATALOG_MESSAGES);
  const shared = useMessages(OPERATOR_MESSAGES);
  const formats = useFormats();
  return (
    <div className="flex flex-col gap-5">
      <Facts>
        <Fact name={messages.name}>{model.name}</Fact>
        {model.description === "" ? null : <Fact name={messages.description}>{model.description}</Fact>}
        {model.badge === "" ? null : <Fact name={messages.badge}>{model.badge}</Fact>}
        <Fact name={messages.kind}>
          {model.kind === CatalogModelKind.EMBEDDINGS ? messages.embeddings : messages.chat}
        </Fact>
        <Fact name={messages.modalities}>{model.inputModalities.join(", ")}</Fact>
        <Fact name={messages.context}>{formats.count(model.contextLength)}</Fact>
        {model.kind === CatalogModelKind.EMBEDDINGS ? null : (
          <>
            <Fact name={messages.maxOutput}>{formats.count(model.maxOutputTokens)}</Fact>
            <Fact name={messages.hiddenOutput}>{model.hiddenOutput ? shared.yes : shared.no}</Fact>
            {model.accepts === undefined ? null : <AcceptedFacts accepts={model.accepts} />}
          </>
        )}
      </Facts>
      <PriceFacts as="h3" title={`${messages.price} · ${messages.perMillion}`} prices={model.price} />
      <section aria-label={messages.routes} className="flex flex-col gap-3">
        <h3 className="font-medium">{messages.routes}</h3>
        {model.routes.map((route, index) => (
          <PriceFacts
            as="h4"
            key={`${route.upstream} ${route.model}`}
            title={
              <Mono>
                {index + 1}. {route.upstream} · {route.model}
              </Mono>
            }
            prices={route.cost}
          >
            {route.firstByteTimeoutMs === 0 ? null : (
              <Fact name={messages.firstByte}>{formats.count(route.firstByteTimeoutMs)} ms</Fact>
            )}
            {route.mayRepeatPaid ? <Fact name={messages.mayRepeatPaid}>{shared.yes}</Fact> : null}
          </PriceFacts>
        ))}
      </section>
    </div>
  );
}

type PriceFactsProps = {
  readonly as: "h3" | "h4";
  readonly title: ReactNode;
  readonly prices: CatalogPrices | undefined;
  /** More facts, after the prices. */
  readonly children?: ReactNode;
};

function PriceFacts({ as: Heading, title, prices, children }: PriceFactsProps) {
  const messages = useMessages(CATALOG_MESSAGES);
  const formats = useFormats();
  return (
    <section className="rounded-lg border border-line">
      <Heading className="border-b border-line px-3 py-2 font-medium">{title}</Heading>
      <div className="p-3">
        {prices === undefined ? (
          <>
            <p className="text-muted">{messages.costUnknown}</p>
            <Facts>{children}</Facts>
          </>
        ) : (
          <Facts>
            <Fact name={messages.input}>{formats.exactRupiah(prices.input)}</Fact>
            <Fact name={messages.output}>{formats.exactRupiah(prices.output)}</Fact>
            <Fact name={messages.cache}>
              {prices.cacheHit === undefined ? messages.asInput : formats.exactRupiah(prices.cacheHit)}
            </Fact>
            <OtherPriceFacts prices={prices} />
            {children}
          </Facts>
        )}
      </div>
    </section>
  );
}
