// A conversation in no protocol's own form. A request whose protocol is not the upstream's is read into this form and written in
// the other protocol. One reader and one writer for each protocol do for all pairs.

import type { JsonObject } from "../request/field-rules.ts";

/** What was sent to be answered. Null: the client sent none, and the model's own default applies. */
export type Conversation = {
  /** The id of a catalog model. */
  readonly model: string;
  readonly stream: boolean;
  /** Instructions before the first turn, in their order. */
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | null;
  /** Whether several tools may be called in one turn. */
  readonly parallelCalls: boolean | null;
  /** The most tokens of output, reasoning included. */
  readonly outputCap: number | null;
  readonly stop: readonly string[];
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
  readonly effort: Effort | null;
  /** How much of what a model thinks is shown, where the client chose. Absent: the protocol's default. */
  readonly reasoningSummary?: ReasoningSummary;
  /** How long answers are, where the client chose. */
  readonly verbosity?: Verbosity;
  readonly outputFormat: OutputFormat | null;
  /** Which conversations share a prompt cache. It is the client's own text. */
  readonly cacheKey: string | null;
};

/** How much a model thinks before it answers. */
export type Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

export type ReasoningSummary = "auto" | "concise" | "detailed";

export type Verbosity = "low" | "medium" | "high";

export type OutputFormat =
  | { readonly kind: "json" }
  | { readonly kind: "schema"; readonly name: string; readonly schema: JsonObject; readonly strict: boolean | null };

/** `system`: instructions in mid-conversation. */
export type Turn = { readonly role: "system" | "user" | "assistant"; readonly parts: readonly Part[] };

export type Part = TextPart | ImagePart | DocumentPart | AudioPart | CallPart | ResultPart | ReasoningPart;

/** `cacheMark`: the prompt up to here is to be cached, for five minutes or an hour. */
export type TextPart = { readonly kind: "text"; readonly text: string; readonly cacheMark?: "5m" | "1h" };

/** Base64 data of a media type, or an address. */
export type ImagePart = {
  readonly kind: "image";
  readonly source:
    | { readonly kind: "data"; readonly mediaType: string; readonly data: string }
    | { readonly kind: "url"; readonly url: string };
  /** `low`, `high` or `auto`; null: not given. */
  readonly detail: string | null;
};

/** A file by its base64 data. */
export type DocumentPart = {
  readonly kind: "document";
  readonly mediaType: string;
  readonly data: string;
  readonly name: string | null;
  /** The field of the client's body, for a refusal. */
  readonly where: string;
};

export type AudioPart = { readonly kind: "audio"; readonly format: string; readonly data: string };

/** A call of a tool. `input` is JSON text, or any text for a freeform tool. */
export type CallPart = {
  readonly kind: "call";
  readonly id: string;
  readonly tool: ToolName;
  readonly input: string;
  readonly opaque?: Opaque;
};

/** What the client's tool returned for a call of the turn before. */
export type ResultPart = {
  readonly kind: "result";
  readonly callId: string;
  readonly parts: readonly (TextPart | ImagePart | DocumentPart)[];
  readonly isError: boolean;
};

/**
 * What a provider adds to reasoning or to a call and wants back unchanged: a signature, encrypted reasoning. `origin` is the id of the
 * upstream that made it. It goes back only there.
 */
export type Opaque = { readonly origin: string; readonly blob: string };

/** Reasoning of an earlier answer. */
export type ReasoningPart = {
  readonly kind: "reasoning";
  readonly text: string;
  readonly opaque: Opaque | null;
};

/** The name of a tool. A namespace groups tools; protocols without one get the flat name of `flatName`. */
export type ToolName = { readonly name: string; readonly namespace: string | null };

export type Tool = ToolName & {
  readonly description: string;
  /** The JSON schema of the input. Null: a freeform tool, whose input is any text. */
  readonly schema: JsonObject | null;
  readonly strict: boolean | null;
  /** The description of the namespace, at its first tool. */
  readonly namespaceDescription?: string;
  /** What the input of a freeform tool has to match. */
  readonly grammar?: { readonly syntax: string; readonly definition: string };
};

export type ToolChoice =
  | { readonly kind: "auto" | "any" | "none" }
  | { readonly kind: "tool"; readonly tool: ToolName };

/** Between the parts of a flat name. Names of tools hold letters, digits, `_` and `-`. */
const NAMESPACE_END = "__";

/** A tool's name for protocols without namespaces. */
export function flatName({ name, namespace }: ToolName): string {
  return namespace === null ? name : `${namespace}${NAMESPACE_END}${name}`;
}

/** A tool's description for protocols without namespaces and grammars: only it can teach a model those. */
export function fullDescription({ description, namespaceDescription = "", grammar }: Tool): string {
  const rule = grammar ? `The input must match this ${grammar.syntax} grammar:\n${grammar.definition}` : "";
  return [namespaceDescription, description, rule].filter((text) => text !== "").join("\n\n");
}
