// How one price of a model moves, read from the difference that the server made.

import type { CatalogChange, CatalogFieldChange } from "#gen/saldo/operator/v1/catalog_pb.ts";

/** A price by its name in the contract. */
export type PriceName = "input" | "output" | "cacheHit";

/** A price as it was and will be, decimal strings; null: it was not there, or is gone. `difference` has a sign, null: unknown. */
export type PriceMove = {
  readonly before: string | null;
  readonly after: string | null;
  readonly difference: string | null;
};

const FIELDS = {
  input: "price.input",
  output: "price.output",
  cacheHit: "price.cache_hit",
} as const satisfies Record<PriceName, string>;

/** Whether a field of the file is one of the prices that customers pay. */
export function isPriceField({ field }: Pick<CatalogFieldChange, "field">): boolean {
  return Object.values<string>(FIELDS).includes(field);
}

/** The move of one price. Null: it stays. */
export function priceMove(
  change: Pick<CatalogChange, "fields" | "priceDifference">,
  name: PriceName,
): PriceMove | null {
  const found = change.fields.find(({ field }) => field === FIELDS[name]);
  if (found === undefined) return null;
  const moved = change.priceDifference?.[name] ?? "0";
  return { before: decimalOf(found.before), after: decimalOf(found.after), difference: moved === "0" ? null : moved };
}

/** A decimal out of JSON, where it is a number or a text. */
function decimalOf(json: string): string | null {
  const text = json.replace(/^"|"$/g, "");
  return /^-?\d+(\.\d+)?$/.test(text) ? text : null;
}
