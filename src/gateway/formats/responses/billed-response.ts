// Our own facts in a response: its id, the catalog's model, and in the usage what it cost.

import { inputTokensOf, outputTokensOf } from "../../../billing/cost.ts";
import type { BilledUsage } from "../../metering/bill.ts";
import { costIdr } from "../../metering/cost-idr.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { type Edit, insertMembers, splice } from "../../request/splice.ts";
import type { FoundAnswer } from "../answer-format.ts";
import type { ShownNames } from "../shown-format.ts";

/** Names under which a provider knows our customer. A response repeats them. */
const PSEUDONYMS = ["safety_identifier", "prompt_cache_key", "user"] as const;

/** A response as its client sees it, but for the usage. */
export function shownResponse(response: JsonObject, names: ShownNames): JsonObject {
  const hidden = PSEUDONYMS.filter((name) => Object.hasOwn(response, name)).map((name) => [name, null]);
  return { ...response, ...names, ...Object.fromEntries(hidden) };
}

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
export function billedResponse({ json, members, usage }: FoundAnswer, names: ShownNames, billed: BilledUsage): Buffer {
  const edits: Edit[] = [];
  const added: string[] = [];
  for (const [name, value] of Object.entries({ ...names, usage: billedUsage(usage, billed) })) {
    const span = members.get(name);
    if (span === undefined) added.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
    else edits.push({ ...span, text: JSON.stringify(value) });
  }
  for (const name of PSEUDONYMS) {
    const span = members.get(name);
    if (span !== undefined) edits.push({ ...span, text: "null" });
  }
  if (added.length > 0) edits.push(insertMembers(json.indexOf("{"), added.join(","), members.size === 0));
  return splice(json, edits);
}
