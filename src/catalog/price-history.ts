// The prices that models had over time, put together from the changes of the catalog. The audit compares bills with them.

import type { Look } from "../database/throttled-reader.ts";
import { fieldsOfModel } from "./catalog-changes.ts";
import type { CatalogModel, RouteCost } from "./catalog-model.ts";
import { FileField } from "./file-field.ts";
import { readEmbeddingsPrices, readPrices } from "./price-file.ts";

/** The prices of a model between two changes, in milliseconds of Unix time. */
export type PriceSpan = { readonly prices: RouteCost; readonly fromMs: number; readonly untilMs: number };

type Fields = ReadonlyMap<string, unknown>;
type Change = {
  readonly model: string;
  readonly change: "added" | "changed" | "retired";
  readonly after: Readonly<Record<string, unknown>> | null;
  readonly atMs: number;
};

const HAS_CHANGES = `SELECT EXISTS (SELECT FROM catalog_change WHERE starts_with(subject, 'model:')) AS "hasChanges"`;
const CHANGES = `
SELECT substr(subject, 7) AS model, change, after, extract(epoch FROM changed_at)::float8 * 1000 AS "atMs"
FROM catalog_change WHERE subject = ANY ($1::text[]) ORDER BY version NULLS FIRST, id`;
const PRICE = "price.";

/** Whether the catalog has recorded any change of a model. Without one there is nothing to compare prices with. */
export async function hasPriceHistory(look: Look): Promise<boolean> {
  return (await look<{ hasChanges: boolean }>(HAS_CHANGES))[0]?.hasChanges === true;
}

/** The spans of each model, oldest first. `presets` are in the catalog without a change. A model that was never there has none. */
export async function readPriceHistory(
  look: Look,
  { models, presets }: { models: readonly string[]; presets: readonly CatalogModel[] },
): Promise<ReadonlyMap<string, readonly PriceSpan[]>> {
  const changes = await look<Change>(CHANGES, [models.map((model) => `model:${model}`)]);
  const byModel = Map.groupBy(changes, ({ model }) => model);
  return new Map(
    models.map((model) => [
      model,
      spansOf(
        presets.find(({ id }) => id === model),
        byModel.get(model) ?? [],
      ),
    ]),
  );
}

function spansOf(preset: CatalogModel | undefined, changes: readonly Change[]): PriceSpan[] {
  const before = preset === undefined ? null : fieldsOfModel(preset);
  const states: { fields: Fields | null; fromMs: number }[] = [{ fields: before, fromMs: -Infinity }];
  for (const { change, after, atMs } of changes) {
    const last = states.at(-1)?.fields ?? new Map<string, unknown>();
    const known: Fields = change === "changed" ? last : new Map();
    states.push({ fields: change === "retired" ? before : withFields(known, after ?? {}), fromMs: atMs });
  }
  return states.flatMap(({ fields, fromMs }, index) =>
    fields === null ? [] : [{ prices: pricesIn(fields), fromMs, untilMs: states[index + 1]?.fromMs ?? Infinity }],
  );
}

/** A field that a change names as null is gone. */
function withFields(known: Fields, named: Readonly<Record<string, unknown>>): Fields {
  const fields = new Map([...known, ...Object.entries(named)]);
  for (const [name, value] of fields) if (value === null) fields.delete(name);
  return fields;
}

/** Reads the fields of prices by the reader of the file, whose rules may have changed since: only the values count. */
function pricesIn(fields: Fields): RouteCost {
  const price = new Map<string, unknown>();
  const tiers = new Map<string, Map<string, unknown>>();
  for (const [path, value] of fields) {
    if (!path.startsWith(PRICE)) continue;
    const [name = "", above, kind] = path.slice(PRICE.length).split(".");
    if (above === undefined || kind === undefined) price.set(name, value);
    else tiers.set(above, (tiers.get(above) ?? new Map([["above", Number(above)]])).set(kind, value));
  }
  if (tiers.size > 0) price.set("long_context", [...tiers.values()]);
  const field = new FileField("price", price, []);
  if (fields.get("kind") === "embeddings") return readEmbeddingsPrices(field);
  return readPrices(field, Number(fields.get("context_length")));
}
