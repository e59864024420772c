// The body an upstream gets: the client's own bytes with the model's name there, usage asked for, and a cap on the output
// where the balance does not cover what was asked.

import type { Span } from "./json-scan.ts";
import type { ChatRequest } from "./read-request.ts";
import { type Edit, insertMembers, splice } from "./splice.ts";

/** From here on a copy of the body costs more than all the rest of a request. */
const COPY_IS_DEAR_BYTES = 65_536;

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

/** The body for one upstream. A large one may be the request's own buffer, written over: it is good for one call. */
export function upstreamBody(request: ChatRequest, facts: UpstreamBodyFacts): Buffer {
  const edits: Edit[] = [];
  const added: string[] = [];
  const set = (name: string, text: string): void => {
    const span = request.members.get(name);
    if (span === undefined) added.push(`${JSON.stringify(name)}:${text}`);
    else edits.push({ ...span, text });
  };

  const model = JSON.stringify(facts.model);
  if (!isWrittenAt(request.body, request.members.get("model"), model)) set("model", model);
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
  const [only, ...others] = edits;
  if (only !== undefined && others.length === 0 && request.body.length >= COPY_IS_DEAR_BYTES) {
    if (writeInPlace(request.body, only)) return request.body;
  }
  return splice(request.body, edits);
}

/** Looks at the bytes: the call before a retry may have put another name there. */
function isWrittenAt(body: Buffer, span: Span | undefined, text: string): boolean {
  return span !== undefined && body.toString("utf8", span.start, span.end).trimEnd() === text;
}

/** Writes over a value that is no shorter; spaces behind a value mean nothing in JSON. */
function writeInPlace(body: Buffer, { start, end, text }: Edit): boolean {
  if (Buffer.byteLength(text) > end - start) return false;
  body.fill(" ", start + body.write(text, start), end);
  return true;
}
