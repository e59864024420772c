// The text of a request that its model reads, for an estimate of the input.

import { knownTextOf, otherTextOf, textOf } from "../metering/output-text.ts";
import { isObject, type JsonObject } from "./field-rules.ts";

/**
 * Members of a body that set how a model answers or how a provider works, and are no part of the prompt. Every other member is
 * taken for a part of it: proxies and servers put `system`, `documents`, `prompt` or `chat_template` before the messages, and
 * an unknown member would be free in a stream that is cut.
 */
const NO_PROMPT: ReadonlySet<string> = new Set(
  [
    "model messages stream stream_options metadata user safety_identifier store service_tier n seed stop logit_bias",
    "temperature top_p top_k min_p top_a typical_p frequency_penalty presence_penalty repetition_penalty",
    "max_tokens max_completion_tokens logprobs top_logprobs parallel_tool_calls tool_choice function_call modalities",
    "reasoning reasoning_effort reasoning_split thinking enable_thinking thinking_budget verbosity include_reasoning",
    "chat_template_kwargs extra_body usage safety_settings cache_control prompt_cache_breakpoint prompt_cache_key",
    "prompt_cache_retention guided_json guided_regex guided_choice guided_grammar structured_outputs options",
    "keep_alive stop_token_ids bad_words session_id trace tags",
  ].flatMap((names) => names.split(" ")),
);

/** Members of a message whose text is read by name, or is none. */
const KNOWN_OF_MESSAGE: ReadonlySet<string> = new Set([
  "role",
  "content",
  "refusal",
  "reasoning",
  "reasoning_content",
  "reasoning_details",
  "tool_calls",
  "function_call",
  "audio",
  "images",
  "cache_control",
]);

/** Messages, tools, the form of the answer, and all other text that a model may read; without media. */
export function inputTextOf(body: JsonObject): string {
  const texts: string[] = [];
  const messages = Array.isArray(body["messages"]) ? body["messages"].filter(isObject) : [];
  for (const message of messages) texts.push(textOfInputMessage(message));
  for (const name of Object.keys(body)) {
    const member = body[name];
    if (NO_PROMPT.has(name)) continue;
    if (typeof member === "string") texts.push(member);
    else if (typeof member === "object" && member !== null) texts.push(JSON.stringify(member));
  }
  return texts.join("\n");
}

function textOfInputMessage(message: JsonObject): string {
  const { content } = message;
  let text = Array.isArray(content) ? otherTextOf({ content }) : textOf(content);
  text += knownTextOf({ ...message, content: "" });
  for (const name of Object.keys(message)) {
    if (!KNOWN_OF_MESSAGE.has(name)) text += otherTextOf({ [name]: message[name] });
  }
  return text;
}
