// Prices in the words of the file: read and judged, written back as they were read, and read again from the database, which
// keeps the less common ones in the same words.

import type { LongContextPrices, OtherPrices } from "../kernel/token-prices.ts";
import type { RouteCost } from "./catalog-model.ts";
import type { FileField } from "./file-field.ts";
import { formatPrice, MAX_PRICE, parsePrice, PRICE_SCALE } from "./prices.ts";

const MAX_TIERS = 16;
const MAX_THRESHOLD = 100_000_000;

/** The prices of kinds that few models charge apart, without the tiers, by their names in the file. */
export const OTHER_NAMES = {
  cacheWrite: "cache_write",
  cacheWrite1h: "cache_write_1h",
  audioInput: "audio_input",
  imageInput: "image_input",
  imageOutput: "image_output",
  perRequest: "per_request",
} as const satisfies Record<OtherKind, string>;
/** The kinds that may have a price of their own. */
export const OTHER_KINDS = Object.keys(OTHER_NAMES) as readonly OtherKind[];

/** A kind that has a price of its own beside input, output and cached input. */
export type OtherKind = Exclude<keyof OtherPrices, "longContext">;
type OtherName = (typeof OTHER_NAMES)[OtherKind];

type WrittenTier = {
  readonly above: number;
  readonly input: string;
  readonly output: string;
  readonly cache_hit?: string;
  readonly cache_write?: string;
  readonly cache_write_1h?: string;
};
/** Less common prices in the words of the file. One tier is a mapping and several are a list. */
export type WrittenOtherPrices = { readonly [Name in OtherName]?: string } & {
  readonly long_context?: WrittenTier | readonly WrittenTier[];
};
/** Prices in the words of the file. */
export type WrittenPrices = WrittenOtherPrices & {
  readonly input: string;
  readonly output: string;
  readonly cache_hit?: string;
};

/** Reads `price` of a model or `cost` of one of its routes. */
export function readPrices(field: FileField, contextLength: number): RouteCost {
  const at = field.mapping(["input", "output", "cache_hit", ...Object.values(OTHER_NAMES), "long_context"]);
  if (at === null) return { input: 0n, output: 0n, cacheHit: null };
  const plain = {
    input: readPrice(at.input),
    output: readPrice(at.output),
    cacheHit: at.cache_hit.isAbsent ? null : readPrice(at.cache_hit),
  };
  const kinds: { [Kind in OtherKind]?: bigint } = {};
  for (const kind of OTHER_KINDS) {
    const named = at[OTHER_NAMES[kind]];
    if (!named.isAbsent) kinds[kind] = readPrice(named);
  }
  const required = { cacheHit: plain.cacheHit !== null, cacheWrite: kinds.cacheWrite !== undefined };
  const longContext = at.long_context.isAbsent ? [] : readTiers(at.long_context, { contextLength, required });
  const other: OtherPrices = { ...kinds, ...(longContext.length === 0 ? {} : { longContext }) };
  return Object.keys(other).length === 0 ? plain : { ...plain, other };
}

/** The same of an embeddings model: vectors are no tokens of output, and no such model has a prompt cache. */
export function readEmbeddingsPrices(field: FileField): RouteCost {
  const at = field.mapping(["input", "output", "per_request"]);
  if (at === null) return { input: 0n, output: 0n, cacheHit: null };
  if (!at.output.isAbsent && readPrice(at.output) > 0n) {
    at.output.note("embeddings", "must be 0 or left out of an embeddings model");
  }
  const plain = { input: readPrice(at.input), output: 0n, cacheHit: null };
  return at.per_request.isAbsent ? plain : { ...plain, other: { perRequest: readPrice(at.per_request) } };
}

type TierRules = {
  readonly contextLength: number;
  /** What a tier has to name because the prices outside the tiers name it. */
  readonly required: { readonly cacheHit: boolean; readonly cacheWrite: boolean };
};

/** The tiers by rising threshold, independent of their order in the file: a change of order is no change. */
function readTiers(field: FileField, rules: TierRules): LongContextPrices[] {
  const seen = new Set<number>();
  const tiers = field.oneOrList({ min: 1, max: MAX_TIERS }).flatMap((item) => {
    const at = item.mapping(["above", "input", "output", "cache_hit", "cache_write", "cache_write_1h"]);
    if (at === null) return [];
    const above = at.above.integer({ min: 1, max: MAX_THRESHOLD });
    if (above >= rules.contextLength) at.above.note("long_context.above", "must be below context_length");
    if (seen.has(above)) at.above.note("long_context.unique", "must be a threshold that no other tier has");
    seen.add(above);
    for (const [name, needs] of [
      ["cache_hit", rules.required.cacheHit],
      ["cache_write", rules.required.cacheWrite],
    ] as const) {
      if (needs && at[name].isAbsent) at[name].note("required", `must be given, because there is a ${name} below it`);
    }
    const tier: LongContextPrices = {
      above,
      input: readPrice(at.input),
      output: readPrice(at.output),
      cacheHit: at.cache_hit.isAbsent ? null : readPrice(at.cache_hit),
      ...(at.cache_write.isAbsent ? {} : { cacheWrite: readPrice(at.cache_write) }),
      ...(at.cache_write_1h.isAbsent ? {} : { cacheWrite1h: readPrice(at.cache_write_1h) }),
    };
    return [tier];
  });
  return tiers.toSorted((one, next) => one.above - next.above);
}

function readPrice(field: FileField): bigint {
  return field.decimal({ scale: PRICE_SCALE, max: MAX_PRICE, limit: `${formatPrice(MAX_PRICE)} rupiah` });
}

/** Prices in the words of the file. */
export function writePrices({ input, output, cacheHit, other }: RouteCost): WrittenPrices {
  return {
    input: formatPrice(input),
    output: formatPrice(output),
    ...(cacheHit === null ? {} : { cache_hit: formatPrice(cacheHit) }),
    ...(other ? writeOtherPrices(other) : {}),
  };
}

/** The less common prices in the words of the file. */
export function writeOtherPrices(other: OtherPrices): WrittenOtherPrices {
  const written: { [Name in OtherName]?: string } = {};
  for (const kind of OTHER_KINDS) {
    const price = other[kind];
    if (price !== undefined) written[OTHER_NAMES[kind]] = formatPrice(price);
  }
  const tiers = (other.longContext ?? []).map(writeTier);
  const [only] = tiers;
  if (only === undefined) return written;
  return { ...written, long_context: tiers.length === 1 ? only : tiers };
}

function writeTier({ above, input, output, cacheHit, cacheWrite, cacheWrite1h }: LongContextPrices): WrittenTier {
  return {
    above,
    input: formatPrice(input),
    output: formatPrice(output),
    ...(cacheHit === null ? {} : { cache_hit: formatPrice(cacheHit) }),
    ...(cacheWrite === undefined ? {} : { cache_write: formatPrice(cacheWrite) }),
    ...(cacheWrite1h === undefined ? {} : { cache_write_1h: formatPrice(cacheWrite1h) }),
  };
}

/** Prices out of what `writePrices` made of them. */
export function parsePrices({ input, output, cache_hit: cacheHit, ...other }: WrittenPrices): RouteCost {
  return {
    input: parsePrice(input),
    output: parsePrice(output),
    cacheHit: cacheHit === undefined ? null : parsePrice(cacheHit),
    ...(Object.keys(other).length === 0 ? {} : { other: parseOtherPrices(other) }),
  };
}

/** The less common prices out of what `writeOtherPrices` made of them. */
export function parseOtherPrices(written: WrittenOtherPrices): OtherPrices {
  const parsed: { [Kind in OtherKind]?: bigint } = {};
  for (const kind of OTHER_KINDS) {
    const text = written[OTHER_NAMES[kind]];
    if (text !== undefined) parsed[kind] = parsePrice(text);
  }
  if (written.long_context === undefined) return parsed;
  return { ...parsed, longContext: [written.long_context].flat().map(parseTier) };
}

function parseTier(tier: WrittenTier): LongContextPrices {
  return {
    above: tier.above,
    input: parsePrice(tier.input),
    output: parsePrice(tier.output),
    cacheHit: tier.cache_hit === undefined ? null : parsePrice(tier.cache_hit),
    ...(tier.cache_write === undefined ? {} : { cacheWrite: parsePrice(tier.cache_write) }),
    ...(tier.cache_write_1h === undefined ? {} : { cacheWrite1h: parsePrice(tier.cache_write_1h) }),
  };
}
