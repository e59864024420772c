// What a file would change. The two are compared in the words of the file, so a change is reported as it was written.

import type { UpstreamConfig } from "./catalog-model.ts";
import type { CatalogFile } from "./catalog-file.ts";
import { type FileModel, writeModel } from "./model-file.ts";
import { comparePrices, type PriceDifference } from "./price-differences.ts";
import { pricesOf } from "./prices.ts";
import { writeUpstream } from "./upstream-file.ts";

/** One field as it was and as it will be, in the words of the file. Null: not there. */
export type FieldChange = { readonly field: string; readonly before: unknown; readonly after: unknown };

export type { PriceDifference } from "./price-differences.ts";

/** One upstream or model that a file adds, changes or, by leaving it out, retires. */
export type CatalogChange = {
  readonly kind: "upstream" | "model";
  readonly id: string;
  readonly change: "added" | "changed" | "retired";
  /** Only those that differ: all of them for what is added or retired. */
  readonly fields: readonly FieldChange[];
  /** Null where no price moves. */
  readonly priceDifference: PriceDifference | null;
};

/** Compares what is active with a file. What is equal in both is not reported. */
export function compareCatalogs(active: CatalogFile, file: CatalogFile): CatalogChange[] {
  return [
    ...compareEntries<UpstreamConfig>("upstream", active.upstreams, file.upstreams, writeUpstream, () => null),
    ...compareEntries<FileModel>("model", active.models, file.models, writeWithNamedTiers, (before, after) =>
      comparePrices(pricesOf(before), pricesOf(after)),
    ),
  ];
}

function compareEntries<Entry extends { readonly id: string }>(
  kind: CatalogChange["kind"],
  before: readonly Entry[],
  after: readonly Entry[],
  write: (entry: Entry) => object,
  priceDifference: (before: Entry, after: Entry) => PriceDifference | null,
): CatalogChange[] {
  const activeById = new Map(before.map((entry) => [entry.id, entry]));
  const namedIds = new Set(after.map(({ id }) => id));
  const changes = after.flatMap((entry): CatalogChange[] => {
    const active = activeById.get(entry.id);
    const fields = compareFields(active === undefined ? {} : write(active), write(entry));
    if (active === undefined) return [{ kind, id: entry.id, change: "added", fields, priceDifference: null }];
    if (fields.length === 0) return [];
    return [{ kind, id: entry.id, change: "changed", fields, priceDifference: priceDifference(active, entry) }];
  });
  const retired = before
    .filter(({ id }) => !namedIds.has(id))
    .map((entry): CatalogChange => {
      const fields = compareFields(write(entry), {});
      return { kind, id: entry.id, change: "retired", fields, priceDifference: null };
    });
  return [...changes, ...retired];
}

/** A model whose tiers are named by their thresholds, so that each price of each is a field: `price.long_context.200000.input`. */
function writeWithNamedTiers(model: FileModel): object {
  const written = writeModel(model);
  const { long_context: tiers, ...price } = written.price;
  if (tiers === undefined) return written;
  const named = Object.fromEntries([tiers].flat().map(({ above, ...prices }) => [above, prices]));
  return { ...written, price: { ...price, long_context: named } };
}

function compareFields(before: object, after: object): FieldChange[] {
  const [was, is] = [flatten(before), flatten(after)];
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((field) => field !== "id" && JSON.stringify(was.get(field)) !== JSON.stringify(is.get(field)))
    .map((field) => ({ field, before: was.get(field) ?? null, after: is.get(field) ?? null }));
}

/** What changes of a model name: its fields by their paths. */
export function fieldsOfModel(model: FileModel): Map<string, unknown> {
  return flatten(writeWithNamedTiers(model));
}

/** Fields by their paths: `price.input`. A list is one field, for its order has a meaning. */
function flatten(value: object, prefix = ""): Map<string, unknown> {
  return new Map(
    Object.entries(value).flatMap(([name, item]: [string, unknown]): [string, unknown][] =>
      typeof item === "object" && item !== null && !Array.isArray(item)
        ? [...flatten(item, `${prefix}${name}.`)]
        : [[prefix + name, item]],
    ),
  );
}
