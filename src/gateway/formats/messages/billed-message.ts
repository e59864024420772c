// Our own facts in a message: its id, the catalog's model, and in the usage what it cost.

import type { BilledUsage } from "../../metering/bill.ts";
import { costIdr } from "../../metering/cost-idr.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { type Edit, insertMembers, splice } from "../../request/splice.ts";
import type { FoundAnswer } from "../answer-format.ts";
import type { ShownNames } from "../shown-format.ts";

/** The billed usage in Anthropic's names. What else the upstream reports beside the same counts stays. */
export function billedUsage(reported: unknown, billed: BilledUsage): JsonObject {
  const { inputTokensUncached, inputTokensCached, outputTokens, otherTokens } = billed.counts;
  const { cacheWrite = 0, cacheWrite1h = 0, audioInput = 0, imageInput = 0, imageOutput = 0 } = otherTokens ?? {};
  const isBilled = billed.basis === "exact" && billed.isAsReported && isObject(reported);
  return {
    ...(isBilled ? reported : {}),
    input_tokens: inputTokensUncached + audioInput + imageInput,
    cache_creation_input_tokens: cacheWrite + cacheWrite1h,
    cache_read_input_tokens: inputTokensCached,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: cacheWrite1h },
    output_tokens: outputTokens + imageOutput,
    output_tokens_details: { thinking_tokens: billed.reasoningTokens },
    cost_idr: costIdr(billed),
  };
}

/** A whole message with our names and the billed usage. All other bytes stay. */
export function billedMessage({ json, members, usage }: FoundAnswer, names: ShownNames, billed: BilledUsage): Buffer {
  const values = { ...names, usage: billedUsage(usage, billed) };
  const edits: Edit[] = [];
  const added: string[] = [];
  for (const [name, value] of Object.entries(values)) {
    const span = members.get(name);
    if (span === undefined) added.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
    else edits.push({ ...span, text: JSON.stringify(value) });
  }
  if (added.length > 0) edits.push(insertMembers(json.indexOf("{"), added.join(","), members.size === 0));
  return splice(json, edits);
}
