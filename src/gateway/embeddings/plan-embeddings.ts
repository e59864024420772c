// The hold of a request for vectors, and our own count of its input. No request is charged more than its hold: the same figure
// bounds what an upstream may report.

import type { CatalogModel } from "../../catalog/catalog-model.ts";
import { pricesOf } from "../../catalog/prices.ts";
import type { HoldPlan } from "../admission/hold.ts";
import { holdRates, mostCost } from "../admission/hold-rates.ts";
import { countTokens, tokensOfText } from "../metering/estimate.ts";
import type { EmbeddingsRequest } from "./read-embeddings.ts";

/** What models put around a text, such as marks of its beginning and end. */
const TOKENS_AROUND_A_TEXT = 16;
/** Longer input is counted by its bytes alone. */
const MAX_COUNTED_BYTES = 131_072;

/** Sizes the hold: each text by its bytes, and tokens as they are. No text is longer than the model reads. */
export function planEmbeddings({ inputs }: EmbeddingsRequest, model: CatalogModel): HoldPlan {
  let tokens = 0;
  for (const input of inputs) {
    tokens +=
      input.kind === "tokens" ? input.tokens : Math.min(input.bytes + TOKENS_AROUND_A_TEXT, model.contextLength);
  }
  const prices = pricesOf(model);
  const rates = holdRates(prices, { tokens, text: tokens, media: [], writesForLong: false });
  const amount = mostCost(rates, 0);
  return {
    prices,
    rates,
    inputTokens: tokens,
    mediaTokens: 0,
    inputBound: tokens,
    writesForLong: false,
    outputBound: 0,
    choices: 1,
    heldOutput: 0,
    thinksUnseen: false,
    amount,
    leastAmount: amount,
    leastOutput: 0,
  };
}

/** Our own count, for an upstream that reports none: tokens as they are, and texts by our tokenizer. */
export async function countInputs({ inputs, inputJson }: EmbeddingsRequest): Promise<number> {
  const [first] = inputs;
  if (first?.kind === "tokens")
    return inputs.reduce((sum, input) => sum + (input.kind === "tokens" ? input.tokens : 0), 0);
  if (inputJson.length > MAX_COUNTED_BYTES) return tokensOfText(inputJson);
  const texts: unknown = JSON.parse(inputJson.toString("utf8"));
  return countTokens([texts].flat().join("\n"));
}
