// What of a chat request no other protocol has. A request with any of it is for routes that speak chat.

import type { FieldProblem } from "../../../kernel/errors.ts";
import { isObject, type JsonObject, problem } from "../../request/field-rules.ts";
import { MAX_PROBLEMS } from "../../request/check-messages.ts";

/** Collects the fields that have no form in a conversation, the first few. */
export class ChatAlone {
  readonly fields: FieldProblem[] = [];

  get isFull(): boolean {
    return this.fields.length >= MAX_PROBLEMS;
  }

  /** `message`: what it must be for upstreams of other protocols. */
  add(field: string, rule: string, message: string): void {
    if (!this.isFull) this.fields.push(problem(field, rule, `${message} for this model`));
  }
}

type Harmless = (value: unknown) => boolean;

const isZero: Harmless = (value) => value === 0;
const isEmpty: Harmless = (value) => isObject(value) && Object.keys(value).length === 0;
const isTextAlone: Harmless = (value) => Array.isArray(value) && value.every((kind) => kind === "text");

/**
 * The parameters that change the answer in a way that other protocols do not offer, and their values that change nothing. What only
 * names the caller, or only makes an answer repeatable where an upstream can (`seed`), is left out instead.
 */
const PARAMETERS: readonly (readonly [name: string, isHarmless: Harmless, must: string])[] = [
  ["n", (value) => value === 1, "must be 1"],
  ["logprobs", (value) => value === false, "must be false"],
  ["logit_bias", isEmpty, "must be empty"],
  ["frequency_penalty", isZero, "must be 0"],
  ["presence_penalty", isZero, "must be 0"],
  ["modalities", isTextAlone, "must be text alone"],
];

/** Adds the parameters of a body that only chat has. */
export function findChatAlone(body: JsonObject, found: ChatAlone): void {
  for (const [name, isHarmless, must] of PARAMETERS) {
    const value = body[name];
    if (value !== undefined && value !== null && !isHarmless(value)) found.add(name, "unsupported", must);
  }
}
