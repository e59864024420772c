import { useNavigate, useSearch } from "@tanstack/react-router";
import { RefreshCw } from "lucide-react";
import { useEffect, useState } from "react";
import type { Model } from "#gen/saldo/gateway/v1/model_pb.ts";
import { useFormats } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Page } from "../../components/page.tsx";
import { Empty, Failed, SkeletonLines } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { useModelColumns } from "./model-columns.tsx";
import { ModelSheet } from "./model-sheet.tsx";
import { fittingModels, MODALITIES, type Modality, type ModelsSearch, type Sort, SORTS } from "./models-search.ts";
import { MODELS_MESSAGES } from "./models-messages.ts";
import { usePublicModels } from "./public-models.ts";

export { ModelPage } from "./model-view.tsx";

type Change = (change: { readonly [Name in keyof ModelsSearch]?: ModelsSearch[Name] | undefined }) => void;

/** Every model that can be called, with its prices. */
export function ModelsPage() {
  const messages = useMessages(MODELS_MESSAGES);
  const formats = useFormats();
  const search = useSearch({ from: "/open-to-all/models/" });
  const change = useChangeModelsSearch();
  const { data, error, dataUpdatedAt, refetch, isFetching } = usePublicModels();
  return (
    <Page
      title={messages.title}
      about={
        data === undefined
          ? messages.about
          : `${messages.about} ${messages.asOf} ${formats.time(new Date(dataUpdatedAt))} WIB.`
      }
      actions={
        <Button icon={<RefreshCw aria-hidden />} busy={isFetching} onClick={() => void refetch()}>
          {messages.refresh}
        </Button>
      }
    >
      {error !== null && data !== undefined ? (
        <p role="alert" className="rounded-lg bg-warn-soft px-4 py-2 text-warn">
          {messages.stale}
        </p>
      ) : null}
      <Filters search={search} change={change} />
      <Card flush>
        {data === undefined ? (
          error === null ? (
            <SkeletonLines lines={6} />
          ) : (
            <Failed error={error} retry={() => void refetch()} />
          )
        ) : (
          <ModelTable models={data.models} search={search} change={change} />
        )}
      </Card>
      <ModelSheet modelId={search.model} models={data?.models} onClose={() => change({ model: undefined })} />
    </Page>
  );
}

function ModelTable({
  models,
  search,
  change,
}: {
  readonly models: readonly Model[];
  readonly search: ModelsSearch;
  readonly change: Change;
}) {
  const messages = useMessages(MODELS_MESSAGES);
  const columns = useModelColumns();
  const fitting = fittingModels(models, search);
  if (models.length === 0) return <Empty title={messages.empty}>{messages.emptyAbout}</Empty>;
  if (fitting.length === 0)
    return (
      <Empty
        title={messages.nothing}
        action={<Button onClick={() => change({ q: undefined, takes: undefined })}>{messages.clear}</Button>}
      >
        {messages.nothingAbout}
      </Empty>
    );
  return (
    <Table
      label={messages.title}
      columns={columns}
      rows={fitting}
      keyOf={({ id }) => id}
      onOpen={({ id }) => change({ model: id })}
    />
  );
}

function Filters({ search, change }: { readonly search: ModelsSearch; readonly change: Change }) {
  const messages = useMessages(MODELS_MESSAGES);
  // Also kept in the component's state: the address follows a moment later, and a letter typed meanwhile would be lost.
  const [typed, setTyped] = useState(search.q ?? "");
  useEffect(() => {
    if (search.q === undefined) setTyped("");
  }, [search.q]);
  return (
    <div role="search" className="flex flex-wrap items-end gap-3">
      <TextField
        type="search"
        label={messages.search}
        placeholder={messages.searchHint}
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          change({ q: target.value || undefined });
        }}
        className="min-w-0 flex-1 basis-48"
      />
      <SelectField
        label={messages.takes}
        value={search.takes ?? ""}
        onChange={({ target }) => change({ takes: (target.value || undefined) as Modality | undefined })}
      >
        <option value="">{messages.all}</option>
        {MODALITIES.map((modality) => (
          <option key={modality} value={modality}>
            {messages[modality]}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={messages.sort}
        value={search.sort ?? "name"}
        onChange={({ target }) => change({ sort: target.value as Sort })}
      >
        {SORTS.map((sort) => (
          <option key={sort} value={sort}>
            {messages[sort]}
          </option>
        ))}
      </SelectField>
    </div>
  );
}

function useChangeModelsSearch(): Change {
  const navigate = useNavigate({ from: "/models" });
  return (change) =>
    void navigate({
      search: (search) =>
        Object.fromEntries(Object.entries({ ...search, ...change }).filter(([, value]) => value !== undefined)),
      // The letters of a search are not separate entries of the history.
      replace: !("model" in change),
      resetScroll: false,
    });
}
