// Writes a conversation as the body of a Messages request, for clients of other protocols. What the model does not accept is left out
// where a client always sends it, and refused where the answer would be another one.

import type { Accepts } from "../../../catalog/catalog-model.ts";
import type { CacheWrites } from "../../request/cache-marks.ts";
import type { JsonObject } from "../../request/field-rules.ts";
import { FREEFORM_INPUT } from "../freeform-input.ts";
import { type Conversation, flatName, fullDescription, type Tool, type ToolChoice } from "../conversation.ts";
import { markForCache } from "./mark-for-cache.ts";
import { refuseForModel, refusePrefill } from "./refuse-for-model.ts";
import { writtenThinking } from "./written-thinking.ts";
import { systemBlocks, writeTurns } from "./write-turns.ts";

/** What a request is written for. */
export type MessagesRequestFacts = {
  /** The model's name at the upstream. */
  readonly model: string;
  /** The id of the upstream: reasoning goes back to where it is from. */
  readonly origin: string;
  /** The most tokens of output, which are held for. The protocol demands a bound. */
  readonly outputBound: number;
  readonly accepts: Accepts;
  /** What may be written to the prompt cache at most: what the request is held for and the catalog has a price for. */
  readonly cacheWrites: CacheWrites;
  /** Whether the tokens of documents are held for. */
  readonly takesDocuments: boolean;
  /** Whether the upstream knows service tiers. */
  readonly takesServiceTier: boolean;
  /** Stands for the customer in reports of abuse. Null: nothing is sent. */
  readonly userTag: string | null;
};

/** Names of tools at Anthropic's service. */
const TOOL_NAME = /^[\w-]{1,128}$/;

/** The body of a Messages request. Errors: ValidationError where the conversation cannot be written as one. */
export function writeMessagesRequest(conversation: Conversation, facts: MessagesRequestFacts): Buffer {
  const { stream, stop, outputFormat } = conversation;
  const messages = writeTurns(conversation, facts);
  const isBegun = messages.at(-1)?.role === "assistant";
  if (isBegun && !facts.accepts.prefill) throw refusePrefill();
  const thinking = writtenThinking(conversation, { ...facts, messages, isBegun });
  const format =
    outputFormat?.kind === "schema" ? { format: { type: "json_schema", schema: outputFormat.schema } } : {};
  const output = { ...(thinking?.effort === undefined ? {} : { effort: thinking.effort }), ...format };
  const parts = { tools: writtenTools(conversation), system: systemBlocks(conversation), messages };
  markForCache(parts, { conversation, facts });
  const body = {
    model: facts.model,
    max_tokens: facts.outputBound,
    ...(parts.system.length === 0 ? {} : { system: parts.system }),
    messages,
    ...(parts.tools.length === 0 ? {} : { tools: parts.tools, ...choiceMember(conversation) }),
    ...(thinking === null ? {} : { thinking: thinking.thinking }),
    ...(Object.keys(output).length === 0 ? {} : { output_config: output }),
    ...(stop.length === 0 ? {} : { stop_sequences: stop.map(writtenStop) }),
    // A model that thinks takes no sampling values.
    ...(thinking === null && facts.accepts.sampling ? samplingMembers(conversation) : {}),
    // A provider's project may have a dearer tier for requests that name none.
    ...(facts.takesServiceTier ? { service_tier: "standard_only" } : {}),
    ...(facts.userTag === null ? {} : { metadata: { user_id: facts.userTag } }),
    ...(stream ? { stream } : {}),
  };
  return Buffer.from(JSON.stringify(body));
}

/** A tool as it is written. A mark may be added. */
export type WrittenTool = { readonly name: string; cache_control?: object } & JsonObject;

/**
 * Anthropic refuses calls of earlier turns in a request without tools, as agents send it when they ask for a summary of a
 * conversation: such a request has the tools that were called.
 */
function writtenTools({ tools, turns }: Conversation): WrittenTool[] {
  if (tools.length > 0) return tools.map(toolOf);
  const parts = turns.flatMap((turn) => turn.parts);
  const called = new Set(parts.flatMap((part) => (part.kind === "call" ? [flatName(part.tool)] : [])));
  return [...called].map((name) => ({ name: checkedName(name), input_schema: { type: "object" } }));
}

function checkedName(name: string): string {
  if (TOOL_NAME.test(name)) return name;
  throw refuseForModel("tools", "pattern", "must have names of 1 to 128 letters, digits, underscores and hyphens");
}

function toolOf(tool: Tool): WrittenTool {
  const name = checkedName(flatName(tool));
  const description = fullDescription(tool);
  return {
    name,
    ...(description === "" ? {} : { description }),
    // The type may be left out elsewhere.
    input_schema: { type: "object", ...(tool.schema ?? FREEFORM_INPUT) },
    ...(tool.strict === true ? { strict: true } : {}),
  };
}

function choiceMember({ tools, toolChoice, parallelCalls }: Conversation): { tool_choice?: object } {
  if (tools.length === 0) return { tool_choice: { type: "none" } };
  if (toolChoice === null && parallelCalls !== false) return {};
  const choice = toolChoice ?? { kind: "auto" };
  const oneCall = parallelCalls === false && choice.kind !== "none" ? { disable_parallel_tool_use: true } : {};
  return { tool_choice: { ...choiceOf(choice), ...oneCall } };
}

function choiceOf(choice: ToolChoice): object {
  return choice.kind === "tool" ? { type: "tool", name: flatName(choice.tool) } : { type: choice.kind };
}

function writtenStop(stop: string): string {
  if (stop.trim() === "")
    throw refuseForModel("stop", "blank", "must hold other characters than blanks for this model");
  return stop;
}

/** Several models refuse a temperature beside `top_p`, and none takes one above 1. */
function samplingMembers({ temperature, topP, topK }: Conversation): object {
  return {
    ...(temperature === null ? {} : { temperature: Math.min(temperature, 1) }),
    ...(topP === null || temperature !== null ? {} : { top_p: topP }),
    ...(topK === null ? {} : { top_k: topK }),
  };
}
