// Writes a conversation as the body of a chat request. It is read and checked like a client's own, so nothing is checked here
// that `request/` checks.

import { ValidationError } from "../../../kernel/errors.ts";
import { type JsonObject, problem } from "../../request/field-rules.ts";
import { shortCacheKey } from "../cache-key.ts";
import {
  type Conversation,
  flatName,
  fullDescription,
  type OutputFormat,
  type Tool,
  type ToolChoice,
} from "../conversation.ts";
import { FREEFORM_INPUT } from "../freeform-input.ts";
import { chatMessages } from "./write-chat-messages.ts";

/** The body of a chat request. Errors: ValidationError where the conversation cannot be written as one. */
export function writeChatRequest(conversation: Conversation): Buffer {
  return Buffer.from(JSON.stringify(chatRequestOf(conversation)));
}

/** What the body of a chat request holds. Errors: those of `writeChatRequest`. */
export function chatRequestOf(conversation: Conversation): JsonObject {
  const { model, outputCap, stop, temperature, topP, effort, outputFormat, cacheKey, stream } = conversation;
  return {
    model,
    messages: chatMessages(conversation),
    ...toolMembers(conversation),
    ...(outputCap === null ? {} : { max_completion_tokens: outputCap }),
    ...(stop.length === 0 ? {} : { stop }),
    // `topK` has no member here, and the upstreams that have one name it differently or refuse it.
    ...(temperature === null ? {} : { temperature }),
    ...(topP === null ? {} : { top_p: topP }),
    ...(effort === null ? {} : { reasoning_effort: effort === "max" ? "xhigh" : effort }),
    ...(outputFormat === null ? {} : { response_format: responseFormatOf(outputFormat) }),
    ...(cacheKey === null ? {} : { prompt_cache_key: shortCacheKey(cacheKey) }),
    // The billed usage is a part of every other protocol's answer.
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
  };
}

/** Without tools upstreams refuse the members that are about them. */
function toolMembers({ tools, toolChoice, parallelCalls }: Conversation): object {
  if (tools.length === 0) return {};
  refuseSameNames(tools);
  return {
    tools: tools.map(toolOf),
    ...(toolChoice === null ? {} : { tool_choice: choiceOf(toolChoice) }),
    ...(parallelCalls === null ? {} : { parallel_tool_calls: parallelCalls }),
  };
}

/** Nothing would show which of two tools a call is for. */
function refuseSameNames(tools: readonly Tool[]): void {
  const names = new Set<string>();
  for (const tool of tools) {
    const name = flatName(tool);
    if (names.has(name)) {
      throw new ValidationError([problem("tools", "unique", `name ${JSON.stringify(name.slice(0, 100))} twice`)]);
    }
    names.add(name);
  }
}

function toolOf(tool: Tool): object {
  const { schema, strict } = tool;
  const description = fullDescription(tool);
  const definition = {
    name: flatName(tool),
    ...(description === "" ? {} : { description }),
    parameters: schema ?? FREEFORM_INPUT,
    ...(strict === null ? {} : { strict }),
  };
  return { type: "function", function: definition };
}

function choiceOf(choice: ToolChoice): string | object {
  if (choice.kind === "tool") return { type: "function", function: { name: flatName(choice.tool) } };
  return choice.kind === "any" ? "required" : choice.kind;
}

function responseFormatOf(format: OutputFormat): object {
  if (format.kind === "json") return { type: "json_object" };
  const { name, schema, strict } = format;
  return { type: "json_schema", json_schema: { name, schema, ...(strict === null ? {} : { strict }) } };
}
