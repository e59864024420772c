// Tokens and prices of the rarer kinds, and the origin of counts, as the JSON of their columns. Most rows have none. Numbers are
// text, so that no price passes through a JavaScript number.

import type { OtherPrices, OtherTokens, PriceSnapshot, TokenCounts } from "../../kernel/token-prices.ts";
import type { Metering, RequestFailure } from "../ledger.ts";

/** The kinds of tokens beyond input, output and cached input, with their names in the database. */
export const OTHER_KINDS = {
  cacheWrite: "cache_write",
  cacheWrite1h: "cache_write_1h",
  audioInput: "audio_input",
  imageInput: "image_input",
  imageOutput: "image_output",
} as const satisfies Record<keyof OtherTokens, string>;

const KINDS = Object.entries(OTHER_KINDS) as readonly [keyof OtherTokens, string][];

/** A JSON object whose numbers are text. */
export type OtherTokensJson = Readonly<Record<string, string>>;
export type OtherPricesJson = Readonly<Record<string, string | readonly Readonly<Record<string, string>>[]>>;

/** The column `other_tokens`; null where there are none. */
export function otherTokensColumn({ otherTokens }: Pick<TokenCounts, "otherTokens">): string | null {
  if (!otherTokens) return null;
  const json: Record<string, string> = {};
  for (const [kind, name] of KINDS) {
    const tokens = otherTokens[kind] ?? 0;
    if (tokens > 0) json[name] = String(tokens);
  }
  return Object.keys(json).length === 0 ? null : JSON.stringify(json);
}

/** Reads the column `other_tokens`. */
export function readOtherTokens(json: OtherTokensJson | null): OtherTokens | null {
  if (json === null) return null;
  const named = KINDS.filter(([, name]) => json[name] !== undefined);
  return Object.fromEntries(named.map(([kind, name]) => [kind, Number(json[name])]));
}

/** The column `other_prices`, in micro-rupiah; null where there are none. */
export function otherPricesColumn({ other }: Pick<PriceSnapshot, "other">): string | null {
  if (!other) return null;
  const json: Record<string, unknown> = {};
  for (const [kind, name] of KINDS) if (other[kind] !== undefined) json[name] = String(other[kind]);
  if (other.perRequest !== undefined) json["per_request"] = String(other.perRequest);
  if (other.longContext !== undefined && other.longContext.length > 0) {
    json["long_context"] = other.longContext.map(({ above, input, output, cacheHit, cacheWrite, cacheWrite1h }) => ({
      above: String(above),
      input: String(input),
      output: String(output),
      ...(cacheHit === null ? {} : { cache_hit: String(cacheHit) }),
      ...(cacheWrite === undefined ? {} : { cache_write: String(cacheWrite) }),
      ...(cacheWrite1h === undefined ? {} : { cache_write_1h: String(cacheWrite1h) }),
    }));
  }
  return Object.keys(json).length === 0 ? null : JSON.stringify(json);
}

/** Reads the column `other_prices`. */
export function readOtherPrices(json: OtherPricesJson | null): OtherPrices | null {
  if (json === null) return null;
  const priceOf = (name: string): bigint | undefined => {
    const text = json[name];
    return typeof text === "string" ? BigInt(text) : undefined;
  };
  const prices: { -readonly [Name in keyof OtherPrices]: OtherPrices[Name] } = {};
  for (const [kind, name] of KINDS) {
    const price = priceOf(name);
    if (price !== undefined) prices[kind] = price;
  }
  const perRequest = priceOf("per_request");
  if (perRequest !== undefined) prices.perRequest = perRequest;
  const tiers = json["long_context"];
  if (typeof tiers === "object") {
    prices.longContext = tiers.map((tier) => ({
      above: Number(tier["above"]),
      input: BigInt(tier["input"] ?? 0),
      output: BigInt(tier["output"] ?? 0),
      cacheHit: tier["cache_hit"] === undefined ? null : BigInt(tier["cache_hit"]),
      ...(tier["cache_write"] === undefined ? {} : { cacheWrite: BigInt(tier["cache_write"]) }),
      ...(tier["cache_write_1h"] === undefined ? {} : { cacheWrite1h: BigInt(tier["cache_write_1h"]) }),
    }));
  }
  return prices;
}

/** The column `metering`; null where the counts are exactly those that the upstream reported. */
export function meteringColumn({ metering }: { readonly metering?: Metering | null }): string | null {
  if (!metering) return null;
  const { reported, rules = [], reportedCostUsd, failure } = metering;
  if (reported === undefined && rules.length === 0 && reportedCostUsd === undefined && failure === undefined)
    return null;
  const other = reported === undefined ? null : otherTokensColumn(reported);
  return JSON.stringify({
    ...(rules.length === 0 ? {} : { rules }),
    ...(reportedCostUsd === undefined ? {} : { reported_cost_usd: reportedCostUsd }),
    ...(failure === undefined
      ? {}
      : { failure: { code: failure.code, ...(failure.inStream ? { in_stream: true } : {}) } }),
    ...(reported === undefined
      ? {}
      : {
          reported: {
            input_uncached: String(reported.inputTokensUncached),
            input_cached: String(reported.inputTokensCached),
            output: String(reported.outputTokens),
            ...(other === null ? {} : (JSON.parse(other) as OtherTokensJson)),
          },
        }),
  });
}

/** The JSON of the column `metering`. */
export type MeteringJson = {
  readonly rules?: readonly string[];
  readonly reported_cost_usd?: string;
  readonly reported?: OtherTokensJson;
  /** Written since 0.2: records of before have none. */
  readonly failure?: { readonly code: RequestFailure["code"]; readonly in_stream?: boolean };
};

/** Reads the column `metering`. */
export function readMetering(json: MeteringJson | null): Metering | null {
  if (json === null) return null;
  const { rules, reported, reported_cost_usd: reportedCostUsd, failure } = json;
  const others = {
    ...(rules === undefined ? {} : { rules }),
    ...(reportedCostUsd === undefined ? {} : { reportedCostUsd }),
    ...(failure === undefined ? {} : { failure: { code: failure.code, inStream: failure.in_stream === true } }),
  };
  if (reported === undefined) return others;
  const otherTokens = readOtherTokens(reported);
  return {
    ...others,
    reported: {
      inputTokensUncached: Number(reported["input_uncached"]),
      inputTokensCached: Number(reported["input_cached"]),
      outputTokens: Number(reported["output"]),
      ...(otherTokens === null || Object.keys(otherTokens).length === 0 ? {} : { otherTokens }),
    },
  };
}
