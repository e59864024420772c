// The filters of the usage page. Each writes the address; the address is the filter.

import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import type { Day } from "../../language/days.ts";
import { useWords } from "../../language/language.tsx";
import { Button } from "../../parts/button.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { Segments } from "../../parts/segments.tsx";
import {
  DEFAULT_DAYS,
  filterOf,
  isFiltered,
  PRESETS,
  rangeOf,
  type UsageSearch,
  type UsageStatus,
} from "./usage-search.ts";
import { USAGE_WORDS } from "./usage-words.ts";

/** As many keys as one answer holds. */
export const MOST_KEYS = 200;

/** How the address is changed; what is undefined leaves it. */
export type ChangeSearch = (change: { readonly [Name in keyof UsageSearch]?: UsageSearch[Name] | undefined }) => void;

/** Changes the address of the usage page. */
export function useChangeSearch(): ChangeSearch {
  const navigate = useNavigate({ from: "/usage" });
  return (change) =>
    void navigate({
      search: (search) => {
        const next = Object.entries({ ...search, ...change }).filter(([, value]) => value !== undefined);
        return Object.fromEntries(next);
      },
      resetScroll: false,
    });
}

/** The names of the account's keys by their ids; those that have the same name also by how their secrets begin. */
export function useKeyNames(): ReadonlyMap<string, string> {
  const { data } = useQuery(KeysService.method.listKeys, { pageSize: MOST_KEYS });
  const keys = data?.keys ?? [];
  const sameName = Map.groupBy(keys, ({ name }) => name);
  return new Map(
    keys.map(({ id, name, prefix }) => [id, sameName.get(name)?.length === 1 ? name : `${name} (${prefix}…)`]),
  );
}

/** The models there was usage of, whichever of them is chosen. */
function useModelsUsed(search: UsageSearch, today: Day): readonly string[] {
  const { model, ...others } = search;
  const { data } = useQuery(
    BillingService.method.summarizeUsage,
    { filter: filterOf(others, today) },
    { placeholderData: keepPreviousData },
  );
  const used = data?.rows.map((row) => row.model) ?? [];
  return [...new Set(model === undefined ? used : [...used, model])].toSorted();
}

/** Range, model, key and status, as they are chosen today. */
export function UsageFilters({ search, today }: { readonly search: UsageSearch; readonly today: Day }) {
  const words = useWords(USAGE_WORDS);
  const change = useChangeSearch();
  const keys = useKeyNames();
  const isOwnRange = search.from !== undefined;
  const models = useModelsUsed(search, today);
  const { first, last } = rangeOf(search, today);
  return (
    <div className="flex flex-wrap items-end gap-3">
      <Segments
        label={words.range}
        value={isOwnRange ? "own" : String(search.days ?? DEFAULT_DAYS)}
        choices={[
          ...PRESETS.map((days) => ({ value: String(days), label: `${days} ${words.days}` })),
          { value: "own", label: words.own },
        ]}
        onChange={(value) =>
          value === "own"
            ? change({ days: undefined, from: first, to: last })
            : change({ days: Number(value), from: undefined, to: undefined })
        }
      />
      {isOwnRange ? (
        <>
          <TextField
            type="date"
            label={words.from}
            value={first}
            max={last}
            onChange={({ target }) => change({ from: target.value, to: last })}
          />
          <TextField
            type="date"
            label={words.to}
            value={last}
            min={first}
            onChange={({ target }) => change({ from: first, to: target.value })}
          />
        </>
      ) : null}
      <SelectField
        className="max-w-56"
        label={words.model}
        value={search.model ?? ""}
        onChange={({ target }) => change({ model: target.value || undefined })}
      >
        <option value="">{words.all}</option>
        {models.map((model) => (
          <option key={model}>{model}</option>
        ))}
      </SelectField>
      <SelectField
        className="max-w-56"
        label={words.key}
        value={search.key ?? ""}
        onChange={({ target }) => change({ key: target.value || undefined })}
      >
        <option value="">{words.all}</option>
        {[...keys].map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
        {/* A key of the address that is not ours: what is filtered by must be seen. */}
        {search.key === undefined || keys.has(search.key) ? null : <option value={search.key}>{search.key}</option>}
      </SelectField>
      <SelectField
        label={words.status}
        value={search.status ?? ""}
        onChange={({ target }) => change({ status: (target.value || undefined) as UsageStatus | undefined })}
      >
        <option value="">{words.all}</option>
        <option value="billed">{words.billed}</option>
        <option value="free">{words.free}</option>
      </SelectField>
      {isFiltered(search) ? (
        <Button look="quiet" onClick={() => change({ model: undefined, key: undefined, status: undefined })}>
          {words.clear}
        </Button>
      ) : null}
    </div>
  );
}
