import { countAnswer, estimateAnswer } from "./estimate.ts";
import type { Span } from "../request/json-scan.ts";
import type { OutputReader } from "./output-reader.ts";
import type { RelayedTokens } from "./relayed-tokens.ts";

/** Text of more bytes for each token than this is worth counting: two tokenizers do not differ so much. */
export const BYTES_PER_REPORTED_TOKEN = 8;
/** What a choice has beside its text, and a text whose tokens do not matter. */
const BYTES_AROUND_A_CHOICE = 512;

/** `output`: where it lies in the answer. */
type RelayedWhole = { readonly json: Buffer; readonly output: Span | undefined };

/** The output of a client that left before it got any. */
export const NOTHING_RELAYED: RelayedTokens = {
  mayExceedTwice: () => false,
  estimateTokens: nothingRelayed,
  estimateMediaTokens: nothingRelayed,
};

export function nothingRelayed(): Promise<number> {
  return Promise.resolve(0);
}

/** A whole answer that goes out in one piece. */
export function relayedAnswer({ json, output }: RelayedWhole, reader: OutputReader): RelayedTokens {
  const bytes = output === undefined ? json.length : output.end - output.start;
  return {
    mayExceedTwice: (tokens) => bytes > tokens * BYTES_PER_REPORTED_TOKEN + BYTES_AROUND_A_CHOICE,
    estimateTokens: () => estimateAnswer(json, reader),
    estimateMediaTokens: async () => (await countAnswer(json, reader)).media,
  };
}
