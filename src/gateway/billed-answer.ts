// Puts our own facts into an upstream's JSON, by replacing members where they lie: the completion's id, the catalog
// model, and in the usage what it cost.

import { formatMoney, idr } from "../kernel/money.ts";
import type { BilledUsage } from "./bill.ts";
import { type ObjectScan, scanObject, type Span } from "./request/json-scan.ts";
import { type Edit, insertMembers, splice } from "./request/splice.ts";

const OPEN_BRACE = 0x7b;

/** A JSON object and where its members lie. */
type FoundMembers = { readonly json: Buffer; readonly members: ObjectScan["members"] };

/** What a caller paid, a decimal string in rupiah. */
export function costIdr(billed: BilledUsage): string {
  return formatMoney(idr(billed.settled.charge));
}

/** A complete answer with our id, the catalog model and the billed usage. */
export function billedAnswer(answer: FoundMembers, facts: { id: string; model: string; billed: BilledUsage }): Buffer {
  return withMembers(answer, { id: JSON.stringify(facts.id), model: JSON.stringify(facts.model) }, facts.billed);
}

/** A chunk of a stream with the billed usage in it. */
export function billedChunk(json: string, billed: BilledUsage): string {
  const bytes = Buffer.from(json);
  return withMembers({ json: bytes, members: scanObject(bytes).members }, {}, billed).toString("utf8");
}

/** The usage object as we write it ourselves, in OpenAI's shape. */
export function usageJson(billed: BilledUsage): string {
  const { inputTokensUncached, inputTokensCached, outputTokens } = billed.counts;
  const promptTokens = inputTokensUncached + inputTokensCached;
  return JSON.stringify({
    prompt_tokens: promptTokens,
    completion_tokens: outputTokens,
    total_tokens: promptTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: inputTokensCached },
    cost_idr: costIdr(billed),
  });
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

/** The upstream's usage stays as it is and gains the cost, unless it is not what was billed. */
function usageEdit(json: Buffer, usage: Span, billed: BilledUsage): Edit {
  const isBilled = billed.basis === "exact" && !billed.clamped && json[usage.start] === OPEN_BRACE;
  if (!isBilled) return { ...usage, text: usageJson(billed) };
  return { start: usage.end - 1, end: usage.end - 1, text: `,"cost_idr":${JSON.stringify(costIdr(billed))}` };
}
