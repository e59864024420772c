// The filters of the usage page. Each writes the address; the address is the filter.

import { useQuery } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import { useWords } from "../../language/language.tsx";
import { Button } from "../../parts/button.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { Segments } from "../../parts/segments.tsx";
import { DEFAULT_DAYS, PRESETS, rangeOf, type UsageSearch, type UsageStatus } from "./usage-search.ts";
import { USAGE_WORDS } from "./usage-words.ts";

const MOST_KEYS = 200;

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

/** The names of the account's keys by their ids. */
export function useKeyNames(): ReadonlyMap<string, string> {
  const { data } = useQuery(KeysService.method.listKeys, { pageSize: MOST_KEYS });
  return new Map(data?.keys.map(({ id, name }) => [id, name]));
}

/** Range, model, key and status. `models` are those there was usage of. */
export function UsageFilters({ search, models }: { readonly search: UsageSearch; readonly models: readonly string[] }) {
  const words = useWords(USAGE_WORDS);
  const change = useChangeSearch();
  const keys = useKeyNames();
  const isOwnRange = search.from !== undefined;
  const { first, last } = rangeOf(search, new Date());
  const isFiltered = search.model !== undefined || search.key !== undefined || search.status !== undefined;
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
        label={words.model}
        value={search.model ?? ""}
        onChange={({ target }) => change({ model: target.value || undefined })}
      >
        <option value="">{words.all}</option>
        {[...new Set([...models, ...(search.model === undefined ? [] : [search.model])])].map((model) => (
          <option key={model}>{model}</option>
        ))}
      </SelectField>
      <SelectField
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
      {isFiltered ? (
        <Button look="quiet" onClick={() => change({ model: undefined, key: undefined, status: undefined })}>
          {words.clear}
        </Button>
      ) : null}
    </div>
  );
}
