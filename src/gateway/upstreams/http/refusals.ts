// Why an upstream finds a request wrong, where its client can act on it: an input that is too long is shortened, content that is
// refused is changed. Each upstream has its own form for it; codes count before wording.

import type { ValidationReason } from "../../../kernel/errors.ts";
import { parseForeignJson } from "../../../kernel/foreign-json.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";

/** The facts of an error body: its code-like members, in small letters, and its messages. */
export type ErrorWords = { readonly codes: readonly string[]; readonly messages: readonly string[] };

const CODES: ReadonlyMap<string, ValidationReason> = new Map([
  ["context_length_exceeded", "context_length_exceeded"],
  ["context_window_exceeded", "context_length_exceeded"],
  ["model_context_window_exceeded", "context_length_exceeded"],
  ["model_max_prompt_tokens_exceeded", "context_length_exceeded"],
  // llama.cpp, Anthropic, Zhipu.
  ["exceed_context_size_error", "context_length_exceeded"],
  ["request_too_large", "context_length_exceeded"],
  ["1261", "context_length_exceeded"],
  ["content_policy_violation", "content_policy_violation"],
  ["content_filter", "content_policy_violation"],
  ["content_filtered", "content_policy_violation"],
  ["responsibleaipolicyviolation", "content_policy_violation"],
  ["moderation_blocked", "content_policy_violation"],
  ["cyber_policy_violation", "content_policy_violation"],
  ["prohibited_content", "content_policy_violation"],
  // DashScope, Zhipu, and a member of OpenRouter's that holds the refused text.
  ["data_inspection_failed", "content_policy_violation"],
  ["datainspectionfailed", "content_policy_violation"],
  ["1301", "content_policy_violation"],
  ["flagged_input", "content_policy_violation"],
]);

/** Longer messages are judged by how they begin. */
const MAX_JUDGED_CHARACTERS = 2_000;

/** Limits that a shorter conversation does not help against, or not alone. */
const NOT_TOO_LONG = /rate.?limit|too many requests|per (?:minute|day)|quota|\bTPM\b/i;

const TOO_LONG: readonly RegExp[] = [
  // Most of them, OpenAI, OpenRouter, DeepSeek, vLLM, SGLang, Mistral, llama.cpp, LM Studio, MiniMax and Ollama among them.
  /(?:exceed|maximum|longer|larger|greater|too (?:long|large)|limit|only)[^]*context[ _-]?(?:length|window|size|limit)/i,
  /context[ _-]?(?:length|window|size|limit)[^]*(?:exceed|maximum|longer|larger|greater|too (?:long|large)|limit|only)/i,
  // Anthropic, Bedrock, Fireworks, Moonshot, Zhipu.
  /\b(?:prompt|input)\b[^.]{0,40}\btoo long\b/i,
  /prompt[^.]{0,10}超长/i,
  // Gemini, Azure.
  /\binput token(?:s| count)\b[^.]{0,60}\bexceed/i,
  // xAI, vLLM.
  /maximum (?:prompt|model|allowed input|input) length/i,
  // Groq, OpenAI.
  /reduce the length of (?:the|your) (?:messages|prompt|input)/i,
  // Moonshot, Cohere, others.
  /exceed\w{0,3}[^.]{0,30}token limit|token limit exceeded|tokens in the prompt[^.]{0,20}exceed|too many (?:input )?tokens/i,
  // DashScope, text-generation-inference, Cerebras, LiteLLM.
  /range of input length should be|`inputs`[^.]*\btokens\b|current length is \d+ while limit is|ContextWindowExceeded/i,
];

const AGAINST_POLICY: readonly RegExp[] = [
  // OpenAI, Azure, Anthropic, LiteLLM.
  /content[ _-]?(?:management )?(?:polic|filter)|usage (?:polic|guideline)|ContentPolicyViolation/i,
  /safety (?:system|reason|polic|check|filter)/i,
  // DeepSeek, Moonshot, DashScope, Zhipu.
  /content exists risk|considered high risk|inappropriate content|unsafe or sensitive|不安全|敏感内容/i,
  // OpenRouter, xAI, Gemini.
  /\b(?:was|been|input|content) flagged\b|flagged (?:by|for)\b|SAFETY_CHECK|prohibited[ _]content/i,
];

/** The reason for a refusal, or null where it is none that a client could act on. */
export function refusalReason(words: ErrorWords): ValidationReason | null {
  const byCode = reasonByCode(words);
  if (byCode !== null) return byCode;
  const text = words.messages.join("\n").slice(0, MAX_JUDGED_CHARACTERS);
  if (!NOT_TOO_LONG.test(text) && TOO_LONG.some((pattern) => pattern.test(text))) return "context_length_exceeded";
  return AGAINST_POLICY.some((pattern) => pattern.test(text)) ? "content_policy_violation" : null;
}

/** Whether a 403 refuses the content of one request, as OpenRouter and xAI do. Other words may be about the operator's account. */
export function isForbiddenContent(words: ErrorWords): boolean {
  if (reasonByCode(words) === "content_policy_violation") return true;
  return words.messages.some((message) => FORBIDDEN_CONTENT.test(message.slice(0, MAX_JUDGED_CHARACTERS)));
}

const FORBIDDEN_CONTENT = /content violates|SAFETY_CHECK|your input was flagged/i;

/** The reason for a refusal by its codes, or null. */
export function reasonByCode({ codes }: ErrorWords): ValidationReason | null {
  for (const code of codes) {
    const reason = CODES.get(code);
    if (reason !== undefined) return reason;
  }
  return null;
}

/** Reads an error body, in the shapes upstreams use. A web page or a fragment has no facts. */
export function readErrorWords(body: string): ErrorWords {
  return wordsOfError(parseForeignJson(body));
}

/** The same of what is parsed already: an error body, or the error in it. */
export function wordsOfError(error: unknown): ErrorWords {
  const codes: string[] = [];
  const messages: string[] = [];
  gather(error, codes, messages, MAX_NESTING);
  return { codes, messages };
}

/** A gateway's error holds a provider's, and that one its cause. */
const MAX_NESTING = 4;

function gather(value: unknown, codes: string[], messages: string[], depth: number): void {
  // Gemini's endpoint wraps its error in an array.
  const answer: unknown = Array.isArray(value) ? value[0] : value;
  if (!isObject(answer) || depth === 0) return;
  for (const name of ["code", "type", "status", "error_type"]) {
    const code = answer[name];
    if (typeof code === "string") codes.push(code.toLowerCase());
  }
  const { error } = answer;
  for (const message of [answer["message"], answer["detail"], error]) {
    if (typeof message === "string") messages.push(message);
  }
  gather(error, codes, messages, depth - 1);
  gather(answer["innererror"], codes, messages, depth - 1);
  const { metadata } = answer;
  if (isObject(metadata)) gatherWrapped(metadata, codes, messages, depth);
}

/** OpenRouter passes on the provider's error as text, and what its own moderation flagged. */
function gatherWrapped(metadata: JsonObject, codes: string[], messages: string[], depth: number): void {
  if (typeof metadata["flagged_input"] === "string") codes.push("flagged_input");
  const { raw } = metadata;
  if (typeof raw === "string") gather(parseForeignJson(raw), codes, messages, depth - 1);
}
