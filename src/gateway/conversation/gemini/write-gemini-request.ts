// Writes a conversation as the body of a Gemini request, for clients of other protocols. The model, and whether the answer streams,
// are in the path of the call.

import type { JsonObject } from "../../request/field-rules.ts";
import {
  type Conversation,
  type Effort,
  flatName,
  fullDescription,
  type OutputFormat,
  type Tool,
} from "../conversation.ts";
import { FREEFORM_INPUT } from "../freeform-input.ts";
import { refuseForGemini } from "./refuse-for-gemini.ts";
import { writeContents } from "./write-contents.ts";

/** What a request is written for. */
export type GeminiRequestFacts = {
  /** The id of the upstream: a thought signature goes back to where it is from. */
  readonly origin: string;
  /** The most tokens of output, thoughts included. */
  readonly outputBound: number;
  /** Whether the model thinks. Others refuse the members about it. */
  readonly thinks: boolean;
};

const MOST_STOPS = 5;

/** The body. Errors: ValidationError where the conversation cannot be written as one. */
export function writeGeminiRequest(conversation: Conversation, facts: GeminiRequestFacts): Buffer {
  const { system, stop } = conversation;
  if (stop.length > MOST_STOPS) {
    throw refuseForGemini("stop", "max_items", `must hold at most ${MOST_STOPS} texts: this model takes no more`);
  }
  const instructions = system.filter(({ text }) => text !== "").map(({ text }) => ({ text }));
  const body = {
    ...(instructions.length === 0 ? {} : { systemInstruction: { parts: instructions } }),
    contents: writeContents(conversation, facts),
    ...toolMembers(conversation),
    generationConfig: {
      maxOutputTokens: facts.outputBound,
      ...samplingMembers(conversation),
      ...(stop.length === 0 ? {} : { stopSequences: stop }),
      ...formatMembers(conversation.outputFormat),
      ...(facts.thinks ? { thinkingConfig: thinkingOf(conversation, facts) } : {}),
    },
  };
  return Buffer.from(JSON.stringify(body));
}

function samplingMembers({ temperature, topP, topK }: Conversation): JsonObject {
  return {
    ...(temperature === null ? {} : { temperature }),
    ...(topP === null ? {} : { topP }),
    ...(topK === null || topK === 0 ? {} : { topK }),
  };
}

function formatMembers(format: OutputFormat | null): JsonObject {
  if (format === null) return {};
  const schema = format.kind === "schema" ? { responseJsonSchema: withoutDialect(format.schema) } : {};
  return { responseMimeType: "application/json", ...schema };
}

function toolMembers({ tools, toolChoice: choice }: Conversation): JsonObject {
  if (tools.length === 0) return {};
  const declared = { tools: [{ functionDeclarations: tools.map(functionOf) }] };
  if (choice === null) return declared;
  const config =
    choice.kind === "tool"
      ? { mode: "ANY", allowedFunctionNames: [flatName(choice.tool)] }
      : { mode: choice.kind.toUpperCase() };
  return { ...declared, toolConfig: { functionCallingConfig: config } };
}

function functionOf(tool: Tool): JsonObject {
  const description = fullDescription(tool);
  return {
    name: flatName(tool),
    ...(description === "" ? {} : { description }),
    parametersJsonSchema: withoutDialect(tool.schema ?? FREEFORM_INPUT),
  };
}

/** Google refuses the member that names the version of JSON Schema. */
function withoutDialect(schema: JsonObject): JsonObject {
  const { $schema: _, ...rest } = schema;
  return rest;
}

/**
 * Budgets, which all of its models take: levels are known to the newest alone. The least is the smallest that each of them takes, since
 * some cannot be kept from thinking.
 */
const BUDGETS: Readonly<Record<Effort, number>> = {
  none: 512,
  minimal: 512,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 24_576,
  max: 24_576,
};

/** Thoughts are billed whether they are shown or not, so they are always asked for. A part of the bound is left for the answer. */
function thinkingOf({ effort }: Conversation, { outputBound }: GeminiRequestFacts): JsonObject {
  const shown = { includeThoughts: true };
  if (effort === null) return shown;
  const budget = Math.min(BUDGETS[effort], Math.floor((outputBound * 3) / 4));
  return budget < BUDGETS.minimal ? shown : { ...shown, thinkingBudget: budget };
}
