// The model for an agent's small tasks, such as titles and summaries.

import { type CatalogModel, isSafeInSettings } from "./gateway.ts";

/** A summary of a page or a file has to fit. */
const LEAST_CONTEXT = 100_000;
const PRICE_SCALE = 12;
const PRICE = /^(\d{1,20})(?:\.(\d{1,12}))?$/;

/**
 * The cheapest model beside the chosen one, of the same maker: code that a person gives to one maker does not go to another.
 * The chosen one where none is cheaper.
 */
export function smallModelFor(chosen: CatalogModel, models: readonly CatalogModel[]): CatalogModel {
  const least = Math.min(chosen.contextLength, LEAST_CONTEXT);
  return models
    .filter((each) => makerOf(each) === makerOf(chosen) && each.contextLength >= least && isSafeInSettings(each))
    .reduce((cheapest, each) => (isCheaper(each, cheapest) ? each : cheapest), chosen);
}

function makerOf({ id }: CatalogModel): string {
  return id.slice(0, Math.max(0, id.indexOf("/")));
}

function isCheaper(one: CatalogModel, other: CatalogModel): boolean {
  const [price, otherPrice] = [priceOf(one), priceOf(other)];
  // A free model is a sample or has limits of its own: a person chooses it, and nothing else does.
  return price !== null && otherPrice !== null && price > 0n && price < otherPrice;
}

/** The price of input and of output together; null where it is not known. */
function priceOf({ price }: CatalogModel): bigint | null {
  const [input, output] = [unitsOf(price?.input), unitsOf(price?.output)];
  return input === null || output === null ? null : input + output;
}

function unitsOf(price = ""): bigint | null {
  const [, whole, fraction = ""] = PRICE.exec(price) ?? [];
  return whole === undefined ? null : BigInt(whole + fraction.padEnd(PRICE_SCALE, "0"));
}
