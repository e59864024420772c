// Writes a conversation as the body of a Responses request. The chat form of the same request has been checked by then.

import { ValidationError } from "../../../kernel/errors.ts";
import { problem, type JsonObject } from "../../request/field-rules.ts";
import { shortCacheKey } from "../cache-key.ts";
import type { Conversation, OutputFormat, Tool, ToolChoice } from "../conversation.ts";
import { inputItems } from "./write-input.ts";

/** Where a request goes, and what is decided there. */
export type ResponsesTarget = {
  /** The id of the upstream: opaque text of another does not go there. */
  readonly upstream: string;
  /** The model's name there. */
  readonly model: string;
  /** The bound on all output. */
  readonly outputCap: number;
  /** Whether the model thinks. Others refuse the members about it. */
  readonly thinks: boolean;
  /** Whether the upstream knows service tiers. */
  readonly takesServiceTier: boolean;
  /** Stands for the customer in reports of abuse. Absent: nothing is sent. */
  readonly userTag?: string;
};

/** The body. Errors: ValidationError where the conversation cannot be written as one. */
export function writeResponsesRequest(conversation: Conversation, target: ResponsesTarget): Buffer {
  const { stop, temperature, topP, cacheKey, stream, system } = conversation;
  if (stop.length > 0) {
    throw new ValidationError([problem("stop", "unsupported", "is not offered by this model; leave it out")]);
  }
  const [instructions = null] = system;
  const body = {
    model: target.model,
    ...(instructions === null ? {} : { instructions: instructions.text }),
    input: inputItems(conversation, target.upstream),
    ...toolMembers(conversation),
    max_output_tokens: target.outputCap,
    ...(temperature === null ? {} : { temperature }),
    ...(topP === null ? {} : { top_p: topP }),
    ...(target.thinks ? reasoningMembers(conversation) : {}),
    ...textMembers(conversation),
    ...(cacheKey === null ? {} : { prompt_cache_key: shortCacheKey(cacheKey) }),
    store: false,
    // A provider's project may have a dearer tier for requests that name none.
    ...(target.takesServiceTier ? { service_tier: "default" } : {}),
    ...(target.userTag === undefined ? {} : { safety_identifier: target.userTag }),
    ...(stream ? { stream } : {}),
  };
  return Buffer.from(JSON.stringify(body));
}

/** Without encrypted reasoning a model that thinks would think again in each turn: nothing is stored. */
function reasoningMembers({ effort, reasoningSummary: summary }: Conversation): JsonObject {
  const reasoning = {
    ...(effort === null ? {} : { effort: effort === "max" ? "xhigh" : effort }),
    ...(summary === undefined ? {} : { summary }),
  };
  const include = ["reasoning.encrypted_content"];
  return Object.keys(reasoning).length === 0 ? { include } : { reasoning, include };
}

function textMembers({ outputFormat, verbosity }: Conversation): JsonObject {
  if (outputFormat === null && verbosity === undefined) return {};
  return {
    text: {
      ...(outputFormat === null ? {} : { format: formatOf(outputFormat) }),
      ...(verbosity === undefined ? {} : { verbosity }),
    },
  };
}

function formatOf(format: OutputFormat): JsonObject {
  if (format.kind === "json") return { type: "json_object" };
  const { name, schema, strict } = format;
  return { type: "json_schema", name, schema, ...(strict === null ? {} : { strict }) };
}

function toolMembers({ tools, toolChoice, parallelCalls }: Conversation): JsonObject {
  if (tools.length === 0) return {};
  return {
    tools: toolsOf(tools),
    ...(toolChoice === null ? {} : { tool_choice: choiceOf(toolChoice, tools) }),
    ...(parallelCalls === null ? {} : { parallel_tool_calls: parallelCalls }),
  };
}

/** The tools of a namespace are in one member, at the place of the first of them. */
function toolsOf(tools: readonly Tool[]): JsonObject[] {
  const written: JsonObject[] = [];
  const namespaces = new Map<string, JsonObject[]>();
  for (const tool of tools) {
    const { namespace } = tool;
    if (namespace === null) {
      written.push(toolOf(tool));
      continue;
    }
    const group = namespaces.get(namespace);
    if (group !== undefined) {
      group.push(toolOf(tool));
      continue;
    }
    const begun = [toolOf(tool)];
    namespaces.set(namespace, begun);
    const description = tool.namespaceDescription ?? namespace;
    written.push({ type: "namespace", name: namespace, description, tools: begun });
  }
  return written;
}

/** Strictness is written always: this protocol takes a tool without it for strict, and the others for not. */
function toolOf({ name, description, schema, strict, grammar }: Tool): JsonObject {
  const about = { name, ...(description === "" ? {} : { description }) };
  if (schema !== null) return { type: "function", ...about, parameters: schema, strict: strict ?? false };
  return { type: "custom", ...about, ...(grammar ? { format: { type: "grammar", ...grammar } } : {}) };
}

function choiceOf(choice: ToolChoice, tools: readonly Tool[]): string | JsonObject {
  if (choice.kind !== "tool") return choice.kind === "any" ? "required" : choice.kind;
  const { name, namespace } = choice.tool;
  const tool = tools.find((each) => each.name === name && each.namespace === namespace);
  const type = tool?.schema === null ? "custom" : "function";
  return { type, name, ...(namespace === null ? {} : { namespace }) };
}
