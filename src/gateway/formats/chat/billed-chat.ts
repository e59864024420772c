// Puts our own facts into an upstream's JSON, by replacing members where they lie: the completion's id, the catalog
// model, and in the usage what it cost.

import { inputTokensOf, outputTokensOf } from "../../../billing/cost.ts";
import type { BilledUsage } from "../../metering/bill.ts";
import { costIdr } from "../../metering/cost-idr.ts";
import { type ObjectScan, scanObject, type Span } from "../../request/json-scan.ts";
import { type Edit, insertMembers, splice } from "../../request/splice.ts";

const OPEN_BRACE = 0x7b;

/** A JSON object and where its members lie. */
type FoundMembers = { readonly json: Buffer; readonly members: ObjectScan["members"] };

/** A complete answer with our id, the catalog model and the billed usage. */
export function billedAnswer(answer: FoundMembers, facts: { id: string; model: string; billed: BilledUsage }): Buffer {
  return withMembers(answer, { id: JSON.stringify(facts.id), model: JSON.stringify(facts.model) }, facts.billed);
}

/** A chunk of a stream with the billed usage in it. */
export function billedChunk(json: string, billed: BilledUsage): string {
  const bytes = Buffer.from(json);
  return withMembers({ json: bytes, members: scanObject(bytes).members }, {}, billed).toString("utf8");
}

/** Our own usage object, in OpenAI's shape: the totals have every kind of token, the details only kinds that were used. */
export function usageJson({ counts, reasoningTokens, ...billed }: BilledUsage): string {
  const { inputTokensCached, otherTokens } = counts;
  const { cacheWrite = 0, cacheWrite1h = 0, audioInput = 0, imageInput = 0, imageOutput = 0 } = otherTokens ?? {};
  const promptTokens = inputTokensOf(counts);
  const completionTokens = outputTokensOf(counts);
  const completionDetails = withoutZeros({ reasoning_tokens: reasoningTokens, image_tokens: imageOutput });
  return JSON.stringify({
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: {
      cached_tokens: inputTokensCached,
      ...withoutZeros({
        cache_write_tokens: cacheWrite + cacheWrite1h,
        cache_write_1h_tokens: cacheWrite1h,
        audio_tokens: audioInput,
        image_tokens: imageInput,
      }),
    },
    ...(Object.keys(completionDetails).length === 0 ? {} : { completion_tokens_details: completionDetails }),
    cost_idr: costIdr(billed),
  });
}

function withoutZeros(counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(counts).filter(([, tokens]) => tokens > 0));
}

function withMembers(
  { json, members }: FoundMembers,
  values: Readonly<Record<string, string>>,
  billed: BilledUsage,
): Buffer {
  const edits: Edit[] = [];
  const added: string[] = [];
  for (const [name, text] of Object.entries(values)) {
    const span = members.get(name);
    if (span === undefined) added.push(`${JSON.stringify(name)}:${text}`);
    else edits.push({ ...span, text });
  }
  const usage = members.get("usage");
  if (usage === undefined) added.push(`"usage":${usageJson(billed)}`);
  else edits.push(usageEdit(json, usage, billed));
  if (added.length > 0) edits.push(insertMembers(json.indexOf("{"), added.join(","), members.size === 0));
  return splice(json, edits);
}

/** The upstream's usage object with the cost added. Where it differs from the bill, our own object replaces it. */
function usageEdit(json: Buffer, usage: Span, billed: BilledUsage): Edit {
  const isBilled = billed.basis === "exact" && billed.isAsReported && json[usage.start] === OPEN_BRACE;
  if (!isBilled) return { ...usage, text: usageJson(billed) };
  return { start: usage.end - 1, end: usage.end - 1, text: `,"cost_idr":${JSON.stringify(costIdr(billed))}` };
}
