// Our own facts in a response: its id, the catalog's model, and in the usage what it cost.

import { inputTokensOf, outputTokensOf } from "../../../billing/cost.ts";
import type { BilledUsage } from "../../metering/bill.ts";
import { costIdr } from "../../metering/cost-idr.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { splice } from "../../request/splice.ts";
import type { FoundAnswer } from "../answer-format.ts";
import type { NativeClient, ShownNames } from "../shown-format.ts";
import { responseEdits } from "./shown-response.ts";

/** The billed usage in OpenAI's names. The upstream's own object stays where it agrees with the bill. */
export function billedUsage(reported: unknown, billed: BilledUsage): JsonObject {
  const cost = { cost_idr: costIdr(billed) };
  if (billed.basis === "exact" && billed.isAsReported && isObject(reported)) return { ...reported, ...cost };
  const { counts, reasoningTokens } = billed;
  const {
    cacheWrite = 0,
    cacheWrite1h = 0,
    audioInput = 0,
    imageInput = 0,
    imageOutput = 0,
  } = counts.otherTokens ?? {};
  const [input, output] = [inputTokensOf(counts), outputTokensOf(counts)];
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: counts.inputTokensCached,
      cache_write_tokens: cacheWrite + cacheWrite1h,
      cache_write_tokens_details: { ttl_30m_tokens: cacheWrite, ttl_12h_tokens: cacheWrite1h },
      ...(audioInput > 0 ? { audio_tokens: audioInput } : {}),
      ...(imageInput > 0 ? { image_tokens: imageInput } : {}),
    },
    output_tokens: output,
    output_tokens_details: {
      reasoning_tokens: reasoningTokens,
      ...(imageOutput > 0 ? { image_tokens: imageOutput } : {}),
    },
    total_tokens: input + output,
    ...cost,
  };
}

/** A whole response with our names and the billed usage. All other bytes stay. */
export function billedResponse(
  { json, members, usage }: FoundAnswer,
  names: ShownNames,
  billed: BilledUsage,
  native?: NativeClient,
): Buffer {
  const whole = { start: 0, end: json.length, members };
  return splice(json, responseEdits(json, whole, { names, native }, { usage: billedUsage(usage, billed) }));
}
