// How much is held for a request before its cost is known: enough for every answer within its estimate and bound, and no
// more, so that a small balance can still pay for other requests.

import type { CatalogModel, Modality } from "../../catalog/catalog-model.ts";
import { pricesOf } from "../../catalog/prices.ts";
import type { PriceSnapshot } from "../../ledger/ledger.ts";
import { type HeldDocuments, NO_DOCUMENTS } from "./held-documents.ts";
import { heldMedia, type MediaReaders, MOST_OF_A_PICTURE, MOST_OF_A_VIDEO } from "./held-media.ts";
import { type HoldRates, holdRates, mostCost, outputWithin } from "./hold-rates.ts";
import type { UsageBounds } from "../metering/meter.ts";
import { denseTokens } from "../request/dense-text.ts";
import type { ChatRequest } from "../request/read-request.ts";
import { unaskedBound } from "../request/unasked-bound.ts";

/** What a message costs beside its text: role, separators. */
const TOKENS_PER_MESSAGE = 16;
/** Of what is beside the chat form, mostly signatures of thoughts, which have fewer tokens than a text of their length. */
const OTHER_BYTES_PER_TOKEN = 2;
/** The least output that makes a request useful. A balance that does not cover it is too low. */
export const LEAST_USEFUL_TOKENS = 256;
/** The first hold of a stream for its output, and the size of each extension. */
export const SLAB_TOKENS = 4_096;

/** A usage record keeps counts as 32-bit integers. */
const MAX_COUNT = 2_147_483_647;

/**
 * The most tokens of one part of media, beside its bytes: large pictures have 50 000 tokens, an hour of video a million. It
 * bounds an upstream's report. What is held is in `held-media.ts`.
 */
const MEDIA_BOUND: Readonly<Record<Modality, number>> = {
  text: 0,
  image: MOST_OF_A_PICTURE,
  audio: 65_536,
  video: MOST_OF_A_VIDEO,
};

/**
 * Tokens that providers put before a prompt and charge for: instructions of their tools, a prompt of their own. A short request
 * can have more tokens than bytes.
 */
const PROVIDER_PROMPT_TOKENS = 1_024;

/** The hold that a request asks the ledger for, and the figures behind it. */
export type HoldPlan = {
  readonly prices: PriceSnapshot;
  /** The most that the held input and its output can cost. */
  readonly rates: HoldRates;
  /** Tokens of input in the hold. */
  readonly inputTokens: number;
  /** The tokens of pictures, sound and video by the catalog's figures, which are billed where no upstream counts them. */
  readonly mediaTokens: number;
  /** No honest count of the input is larger than this. */
  readonly inputBound: number;
  /** Whether cache writes that are kept for an hour are asked for, and held for. */
  readonly writesForLong: boolean;
  /** The most tokens of output of one choice. */
  readonly outputBound: number;
  readonly choices: number;
  /** The tokens of output of one choice that are held at first: the whole bound, or a slab of it where more can be held later. */
  readonly heldOutput: number;
  /** Whether the model may think for minutes without output: it is marked in the catalog, or asked to by this request. */
  readonly thinksUnseen: boolean;
  /** Micro-rupiah. */
  readonly amount: bigint;
  readonly leastAmount: bigint;
  /** The least output of one choice that makes the request useful; `leastAmount` covers it. */
  readonly leastOutput: number;
};

/** What a request can cost at its routes beside what its chat form shows. */
export type HoldAdditions = MediaReaders & {
  readonly documents: HeldDocuments;
  /** The tokens of the densest tokenizer among its models for one of most tokenizers. */
  readonly perToken: number;
  /** Tokens of input. */
  readonly inputTokens: number;
  /** Bytes that are not in the chat form. */
  readonly bytes: number;
  /** Whether it asks for cache writes that are kept for an hour. */
  readonly writesForLong: boolean;
  /** Tokens that are set aside for thoughts. An upstream refuses a bound that is not above them. */
  readonly thoughtBudget: number;
  /** Whether the model may think where nothing or a part of it is shown. */
  readonly thinksUnseen: boolean;
};

export const NO_ADDITIONS: HoldAdditions = {
  documents: NO_DOCUMENTS,
  readers: [],
  pictureTokens: null,
  perToken: 1,
  inputTokens: 0,
  bytes: 0,
  writesForLong: false,
  thoughtBudget: 0,
  thinksUnseen: false,
};

/** Sizes the hold of a request. */
export function planHold(request: ChatRequest, model: CatalogModel, additions = NO_ADDITIONS): HoldPlan {
  const prices = pricesOf(model);
  const { documents } = additions;
  const mediaTokens = sumOfMedia(request, model.mediaTokens) + documents.likelyTokens;
  const text = heldText(request, model, additions) + TOKENS_PER_MESSAGE * request.messageCount + additions.inputTokens;
  const media = heldMedia(request, model.mediaTokens, additions);
  // A page is charged as text and as a picture.
  if (documents.tokens > 0) media.set("image", (media.get("image") ?? 0) + documents.tokens);
  const heldForMedia = sumOf(media.values());
  const estimate = text + heldForMedia;
  const inputTokens = Math.min(estimate, model.contextLength);
  const mediaBound = Math.max(
    sumOfMedia(request, MEDIA_BOUND) + mediaTokens,
    Math.min(heldForMedia, model.contextLength),
  );
  const asked = Math.max(request.maxTokens ?? 0, request.maxCompletionTokens ?? 0);
  const most = Math.min(model.maxOutputTokens, model.contextLength, Math.floor(MAX_COUNT / request.choices));
  const { contextLength } = model;
  const wanted =
    asked === 0 ? unaskedBound(request, { contextLength, highest: estimate, ofMedia: mediaTokens }) : asked;
  const outputBound = Math.min(wanted, most);
  const writesForLong = request.cacheWrites === "long" || additions.writesForLong;
  const rates = holdRates(prices, { tokens: inputTokens, text, media: [...media], writesForLong });
  const isSeen = !additions.thinksUnseen && showsItsOutput(request, model, rates);
  const heldOutput = isSeen ? Math.min(outputBound, SLAB_TOKENS) : outputBound;
  const leastOutput = Math.min(outputBound, LEAST_USEFUL_TOKENS + additions.thoughtBudget);
  const amountFor = (outputTokens: number): bigint => mostCost(rates, outputTokens * request.choices);
  return {
    prices,
    rates,
    inputTokens,
    mediaTokens,
    inputBound: Math.min(
      request.body.length + additions.bytes + additions.inputTokens + mediaBound + PROVIDER_PROMPT_TOKENS,
      MAX_COUNT,
    ),
    writesForLong,
    outputBound,
    choices: request.choices,
    heldOutput,
    thinksUnseen: additions.thinksUnseen || model.hiddenOutput,
    amount: amountFor(heldOutput),
    leastAmount: amountFor(leastOutput),
    leastOutput,
  };
}

/** The tokens of the text in the hold. What is billed where an upstream reports nothing is counted in `../metering`. */
function heldText(request: ChatRequest, { contextLength }: CatalogModel, { perToken, bytes }: HoldAdditions): number {
  const bounds = { without: request.media.dataSpans, enough: contextLength };
  const tokens = denseTokens(request.body, bounds);
  // No tokenizer makes more tokens of a text than it has bytes, but for the few characters that `denseTokens` knows.
  const most = Math.max(tokens, request.asciiBytes + request.otherBytes);
  return Math.min(Math.ceil(tokens * perToken), most) + Math.ceil(bytes / OTHER_BYTES_PER_TOKEN);
}

/** Whether the relayed text shows the cost of a request so far, so that its output can be held slab by slab. */
function showsItsOutput(request: ChatRequest, model: CatalogModel, { rates }: HoldRates): boolean {
  // The data of a picture does not show how many tokens it is charged as.
  if (model.hiddenOutput || model.otherPrices?.imageOutput !== undefined) return false;
  // Output that costs nothing needs no second hold.
  return request.stream && request.choices === 1 && rates.some(({ perOutput }) => perOutput > 0n);
}

/** The tokens that a hold is sized for: its input, and the output of all choices that is held at first. */
export function heldTokens({ inputTokens, heldOutput, choices }: HoldPlan): number {
  return Math.min(inputTokens + heldOutput * choices, MAX_COUNT);
}

/** The fewest tokens with which a request is useful: its input, and the least output of all choices. */
export function leastTokens({ inputTokens, leastOutput, choices }: HoldPlan): number {
  return Math.min(inputTokens + leastOutput * choices, MAX_COUNT);
}

/** The plan with its output cut to so many tokens in all, `leastTokens` or more. All that the output can cost is then held at first. */
export function planWithin(plan: HoldPlan, tokens: number): HoldPlan {
  const output = Math.floor((tokens - plan.inputTokens) / plan.choices);
  if (output >= plan.heldOutput) return plan;
  const amount = mostCost(plan.rates, output * plan.choices);
  return { ...plan, outputBound: output, heldOutput: output, amount };
}

/** The cap on the output of each choice that the granted amount covers; null where the whole amount was granted. */
export function outputCap(plan: HoldPlan, granted: bigint): number | null {
  if (granted >= plan.amount) return null;
  // With nothing charged for output the whole bound is covered by any grant; the ledger grants no less than the least.
  if (plan.rates.rates.every(({ perOutput }) => perOutput === 0n)) return null;
  return Math.max(1, coveredOutput(plan, granted));
}

/** The tokens of output of each choice that an amount covers beside the input. */
export function coveredOutput({ rates, outputBound, choices }: HoldPlan, amount: bigint): number {
  const within = outputWithin(rates, amount);
  const covered = within === null ? null : within / BigInt(choices);
  return covered !== null && covered < BigInt(outputBound) ? Number(covered) : outputBound;
}

/** What has to be held for the input and so many tokens of output of the only choice. */
export function amountCovering({ rates }: HoldPlan, outputTokens: number): bigint {
  return mostCost(rates, outputTokens);
}

/** What no honest report of the answer exceeds. `cap`: what was sent in place of the plan's bound, null where that was sent. */
export function usageBounds(
  { inputBound, outputBound, choices, writesForLong }: HoldPlan,
  cap: number | null,
): UsageBounds {
  return { input: inputBound, output: (cap ?? outputBound) * choices, writesForLong };
}

function sumOfMedia(request: ChatRequest, perPart: Readonly<Partial<Record<Modality, number>>>): number {
  let tokens = 0;
  for (const [modality, count] of request.media.parts) tokens += (perPart[modality] ?? 0) * count;
  return tokens;
}

function sumOf(numbers: Iterable<number>): number {
  let sum = 0;
  for (const number of numbers) sum += number;
  return sum;
}
