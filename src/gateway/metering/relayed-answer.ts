import { countAnswer, estimateAnswer } from "./estimate.ts";
import type { Span } from "../request/json-scan.ts";
import type { RelayedTokens } from "./relayed-tokens.ts";

/** Text of more bytes for each token than this is worth counting: two tokenizers do not differ so much. */
export const BYTES_PER_REPORTED_TOKEN = 8;
/** What a choice has beside its text, and a text whose tokens do not matter. */
const BYTES_AROUND_A_CHOICE = 512;

/** The output of a client that left before it got any. */
export const NOTHING_RELAYED: RelayedTokens = {
  mayExceedTwice: () => false,
  estimateTokens: nothingRelayed,
  estimateMediaTokens: nothingRelayed,
};

export function nothingRelayed(): Promise<number> {
  return Promise.resolve(0);
}

/** A whole answer that goes out in one piece. `choices`: where they lie in it. */
export function relayedAnswer(json: Buffer, choices: Span | undefined): RelayedTokens {
  const bytes = choices === undefined ? json.length : choices.end - choices.start;
  return {
    mayExceedTwice: (tokens) => bytes > tokens * BYTES_PER_REPORTED_TOKEN + BYTES_AROUND_A_CHOICE,
    estimateTokens: () => estimateAnswer(json),
    estimateMediaTokens: async () => (await countAnswer(json)).media,
  };
}
