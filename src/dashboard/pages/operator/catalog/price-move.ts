// How the prices of a model change, read from the server's difference.

import type { CatalogChange, CatalogFieldChange } from "#gen/saldo/operator/v1/catalog_pb.ts";
import { OTHER_PRICES, type OtherPrice } from "../../../components/other-prices.ts";

/** A price by its name in the contract. */
export type PriceName = "input" | "output" | "cacheHit" | OtherPrice;

/** The old and the new price, decimal strings; null: there was or is none. `difference` has a sign, null: unknown. */
export type PriceMove = {
  readonly before: string | null;
  readonly after: string | null;
  readonly difference: string | null;
};

/** The change of a price that few models have. `above`: the price of requests with a longer input. */
export type OtherMove = { readonly name: PriceName; readonly above: number | null; readonly move: PriceMove };

type Change = Pick<CatalogChange, "fields" | "priceDifference">;

const FILE_NAMES = {
  input: "input",
  output: "output",
  cacheHit: "cache_hit",
  cacheWrite: "cache_write",
  cacheWrite1h: "cache_write_1h",
  audioInput: "audio_input",
  imageInput: "image_input",
  imageOutput: "image_output",
  perRequest: "per_request",
} as const satisfies Record<PriceName, string>;
const TIER_FIELD = /^price\.long_context\.(\d+)\.(\w+)$/;
const TIER_PRICES = ["input", "cacheHit", "cacheWrite", "cacheWrite1h", "output"] as const;

/** Whether a field of the file is one of the customers' prices. */
export function isPriceField({ field }: Pick<CatalogFieldChange, "field">): boolean {
  return field.startsWith("price.");
}

/** The change of one price. Null: it is the same. */
export function priceMove(change: Change, name: PriceName): PriceMove | null {
  return moveOf(change, `price.${FILE_NAMES[name]}`, change.priceDifference?.[name]);
}

/** The changes of the prices that few models have, first those of token kinds and then those of tiers. */
export function otherMoves(change: Change): OtherMove[] {
  const ofKinds = OTHER_PRICES.map((name) => ({ name, above: null, move: priceMove(change, name) }));
  const thresholds = new Set(change.fields.map(({ field }) => Number(TIER_FIELD.exec(field)?.[1])));
  const ofTiers = [...thresholds]
    .filter((above) => !Number.isNaN(above))
    .toSorted((one, next) => one - next)
    .flatMap((above) => {
      const moved = change.priceDifference?.longContext.find((tier) => tier.above === above);
      return TIER_PRICES.map((name) => {
        const field = `price.long_context.${above}.${FILE_NAMES[name]}`;
        return { name, above, move: moveOf(change, field, moved?.[name]) };
      });
    });
  return [...ofKinds, ...ofTiers].flatMap(({ move, ...of }) => (move === null ? [] : [{ ...of, move }]));
}

function moveOf({ fields }: Change, name: string, moved = "0"): PriceMove | null {
  const found = fields.find(({ field }) => field === name);
  if (found === undefined) return null;
  return { before: decimalOf(found.before), after: decimalOf(found.after), difference: moved === "0" ? null : moved };
}

/** A decimal from JSON, where it is a number or a string. */
function decimalOf(json: string): string | null {
  const text = json.replace(/^"|"$/g, "");
  return /^-?\d+(\.\d+)?$/.test(text) ? text : null;
}
