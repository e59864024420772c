import type { TokenCounts } from "../../kernel/token-prices.ts";
import type { CountReader } from "./count.ts";

/** All input, with its parts as they were reported. */
export type InputSide = {
  readonly tokens: number;
  readonly cached: number;
  readonly written: number;
  readonly written1h: number;
  readonly audio: number;
  readonly image: number;
};

/** All output, with its parts as they were reported. */
export type OutputSide<Tokens = number> = {
  readonly tokens: Tokens;
  readonly reasoning: number;
  readonly image: number;
};

/**
 * Takes the parts out of their wholes. Parts of sound and pictures may have been read from the cache too, and are then
 * counted as cached: nothing is counted twice.
 */
export function disjointCounts(input: InputSide, output: OutputSide, reader: CountReader): TokenCounts {
  const cached = reader.part(input.cached, input.tokens);
  const written = reader.part(input.written, input.tokens - cached);
  const written1h = Math.min(input.written1h, written);
  let rest = input.tokens - cached - written;
  const audio = Math.min(reader.part(input.audio, input.tokens), rest);
  rest -= audio;
  const image = Math.min(reader.part(input.image, input.tokens), rest);
  const imageOutput = reader.part(output.image, output.tokens);
  // Every request passes here, and most have none of the rarer kinds.
  if (written + audio + image + imageOutput === 0) {
    return { inputTokensUncached: rest, inputTokensCached: cached, outputTokens: output.tokens };
  }
  return countsOf({
    inputTokensUncached: rest - image,
    inputTokensCached: cached,
    outputTokens: output.tokens - imageOutput,
    otherTokens: {
      cacheWrite: written - written1h,
      cacheWrite1h: written1h,
      audioInput: audio,
      imageInput: image,
      imageOutput,
    },
  });
}

/** Counts without the kinds that have none: most requests have only the three. */
export function countsOf({ otherTokens, ...counts }: TokenCounts): TokenCounts {
  if (!otherTokens) return counts;
  const others = Object.entries(otherTokens).filter(([, tokens]) => tokens > 0);
  if (others.length === 0) return counts;
  return { ...counts, otherTokens: Object.fromEntries(others) };
}

/** Whether two counts agree in every kind. */
export function isSameCounts(one: TokenCounts, other: TokenCounts): boolean {
  if (one.inputTokensUncached !== other.inputTokensUncached || one.inputTokensCached !== other.inputTokensCached) {
    return false;
  }
  if (one.outputTokens !== other.outputTokens) return false;
  if (!one.otherTokens && !other.otherTokens) return true;
  const [ours, theirs] = [one.otherTokens ?? {}, other.otherTokens ?? {}];
  return KINDS.every((kind) => (ours[kind] ?? 0) === (theirs[kind] ?? 0));
}

const KINDS = ["cacheWrite", "cacheWrite1h", "audioInput", "imageInput", "imageOutput"] as const;
