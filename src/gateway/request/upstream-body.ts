// The body an upstream gets: the client's own bytes with the model's name there, usage asked for, and a cap on the output
// where the balance does not cover what was asked.

import type { ChatRequest } from "./read-request.ts";
import { type Edit, insertMembers, splice } from "./splice.ts";

/** The name an upstream gives the bound on the output. */
export type OutputCapField = "max_tokens" | "max_completion_tokens";

export type UpstreamBodyFacts = {
  /** The model's name at the upstream. */
  readonly model: string;
  /** The most tokens each answer may have; null: nothing is added, the model's own defaults stay. */
  readonly outputCap: number | null;
  /** Where the cap goes if the client sent no bound of its own. */
  readonly outputCapField: OutputCapField;
};

export function upstreamBody(request: ChatRequest, facts: UpstreamBodyFacts): Buffer {
  const edits: Edit[] = [];
  const added: string[] = [];
  const set = (name: string, text: string): void => {
    const span = request.members.get(name);
    if (span === undefined) added.push(`${JSON.stringify(name)}:${text}`);
    else edits.push({ ...span, text });
  };

  if (facts.model !== request.model) set("model", JSON.stringify(facts.model));
  if (request.stream && !request.wantsUsage) {
    set("stream_options", JSON.stringify({ ...request.streamOptions, include_usage: true }));
  }
  const { outputCap } = facts;
  if (outputCap !== null) {
    // Both of the client's fields bound the output, so neither may stay above the cap.
    if (request.maxTokens !== null) set("max_tokens", String(Math.min(request.maxTokens, outputCap)));
    if (request.maxCompletionTokens !== null) {
      set("max_completion_tokens", String(Math.min(request.maxCompletionTokens, outputCap)));
    }
    if (request.maxTokens === null && request.maxCompletionTokens === null) {
      set(facts.outputCapField, String(outputCap));
    }
  }
  // A valid body has a model, so the object is never empty.
  if (added.length > 0) edits.push(insertMembers(request.body.indexOf("{"), added.join(","), false));
  return splice(request.body, edits);
}
