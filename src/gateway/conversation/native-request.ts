import type { Accepts } from "../../catalog/catalog-model.ts";
import type { CacheWrites } from "../request/cache-marks.ts";
import type { JsonObject } from "../request/field-rules.ts";

/** A request for an upstream that speaks its client's own protocol, and what it asks of it that its chat form does not have. */
export type NativeRequest = {
  /** Whether it asks the model to think: thoughts are charged in full and shown in part, or not at all. */
  readonly thinks: boolean;
  /** The prompt cache writes that it asks for, and the field that asks for most; empty where none does. */
  readonly cacheWrites: CacheWrites;
  readonly cacheField: string;
  /** The tokens that it sets aside for thoughts: the bound of the output has to be above them. */
  readonly thoughtBudget: number;
  /** The most tokens of text that it has beside its chat form. Absent: none, or what is sealed alone. */
  readonly unseenTokens?: number;
  /** Members that differ at the upstream, and that the answer repeats as the client wrote them. Absent: answers repeat none. */
  readonly repeated?: JsonObject;
  /** The most tokens of a picture at the resolution that it asks for. Absent: it asks for none. */
  readonly pictureTokens?: number | null;
  /** Refuses what the model does not take. Errors: ValidationError. */
  readonly check: (facts: NativeLimits) => void;
  /** Whether it has what a provider of its protocol made and wants back. */
  readonly isSealed: boolean;
  /** The client's own bytes, with what has to differ at one upstream. */
  readonly write: (facts: NativeFacts) => NativeCall;
};

/** What a model takes of a request. */
export type NativeLimits = {
  /** Null: the operator has not set it, so the provider decides. */
  readonly accepts: Accepts | null;
  /** The most tokens of output: what is held for. */
  readonly outputBound: number;
};

/** What is written over the client's bytes, and what decides on it. */
export type NativeFacts = NativeLimits & {
  /** The id of the upstream. */
  readonly origin: string;
  /** The model's name at the upstream. */
  readonly model: string;
  /** Stands for the customer in reports of abuse. */
  readonly userTag: string;
  /** Whether the upstream knows service tiers. */
  readonly takesServiceTier: boolean;
  /** Whether the upstream is Anthropic itself, whose clients send it `safeguards`. */
  readonly knowsSafeguards: boolean;
  /** The headers of the client that belong to its protocol. */
  readonly headers: Readonly<Record<string, string>>;
  /** What the catalog sells of the model. */
  readonly contextLength: number;
  /** Whether the model thinks. */
  readonly canThink: boolean;
};

/** Headers are names and values in turn. */
export type NativeCall = { readonly body: Buffer; readonly headers: readonly string[] };
