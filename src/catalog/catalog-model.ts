// The content of a catalog: models, their prices and routes, and upstreams.

import type { OtherPrices } from "../kernel/token-prices.ts";

/** What a model understands besides text. */
export type Modality = "text" | "image" | "audio" | "video";

/** Kinds of content parts that no byte count gives the tokens of. */
export type MediaModality = Exclude<Modality, "text">;

/** What an upstream charges us, in micro-rupiah per 1M tokens. `cacheHit` null: cached tokens cost as much as other input. */
export type RouteCost = {
  readonly input: bigint;
  readonly output: bigint;
  readonly cacheHit: bigint | null;
  readonly other?: OtherPrices | null;
};

/** One way to an upstream: its id, the model's name there, and what it costs us where the operator has set it. */
export type Route = {
  readonly upstream: string;
  readonly model: string;
  readonly cost?: RouteCost;
  /** How long the first byte of an answer may take before the next route is tried. Absent: the gateway's default. */
  readonly firstByteTimeoutMs?: number;
  /** Whether a request that this upstream may have charged for may be sent again, at the operator's cost. Absent: false. */
  readonly mayRepeatPaid?: boolean;
};

/** What a model answers with: a conversation, or the vectors of texts. */
export type ModelKind = "chat" | "embeddings";

/**
 * What a model takes of a request at an upstream whose models differ in it. `thinking`: it decides by itself how much it thinks
 * (`adaptive`), is given a budget (`manual`), or does not think. `sampling`: temperature and its kin. `prefill`: a last turn of its own
 * that it continues. `cacheMarkers`: translated requests are marked for its prompt cache.
 */
export type Accepts = {
  readonly thinking: "adaptive" | "manual" | "none";
  readonly sampling: boolean;
  readonly prefill: boolean;
  readonly cacheMarkers: boolean;
};

/** What every model accepts. */
export const LEAST_ACCEPTED: Accepts = { thinking: "none", sampling: false, prefill: false, cacheMarkers: true };

/** A model that is sold. Prices are micro-rupiah per 1M tokens. */
export type CatalogModel = {
  readonly id: string;
  readonly kind: ModelKind;
  readonly name: string;
  readonly description: string;
  readonly badge: string | null;
  readonly inputModalities: readonly Modality[];
  /** Of an embeddings model: the tokens of one of the texts. */
  readonly contextLength: number;
  /** 0: an embeddings model. */
  readonly maxOutputTokens: number;
  /** Tokens that are held for one part of each kind, and billed where an upstream does not report how many it counted. */
  readonly mediaTokens: Readonly<Record<MediaModality, number>>;
  /**
   * Whether it writes output that is charged and not shown as it is produced, such as reasoning that is kept back. Then what
   * was relayed does not determine what a stream costs, and the whole bound of its output is held.
   */
  readonly hiddenOutput: boolean;
  /** Absent: what every model accepts. */
  readonly accepts?: Accepts;
  readonly inputPrice: bigint;
  readonly outputPrice: bigint;
  readonly cacheHitPrice: bigint | null;
  /** Prices of kinds of tokens that few models charge apart. Absent or null: none. */
  readonly otherPrices?: OtherPrices | null;
  /** In the order in which they are tried; at least one. */
  readonly routes: readonly Route[];
  readonly createdAt: Date;
};

/** The protocol that an upstream answers in. `openai-compatible` and `demo`: chat completions. */
export type UpstreamKind = "openai-compatible" | "openai-responses" | "anthropic" | "gemini" | "demo";

/** An upstream as the operator set it up. The credential itself is in the environment, under `apiKeyEnv`. */
export type UpstreamConfig = {
  readonly id: string;
  readonly kind: UpstreamKind;
  readonly baseUrl: string;
  readonly apiKeyEnv: string | null;
  readonly allowPrivateAddress: boolean;
  readonly connectTimeoutMs: number;
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** The one field in which this upstream reads the bound on its output. Absent: `max_tokens`. */
  readonly outputCapField?: OutputCapField;
  /** Whether this upstream charges for writing to its prompt cache when a request asks for it. Absent: false. */
  readonly chargesCacheWrites?: boolean;
  /** Whether this upstream knows `service_tier`, so that requests name the tier that has a price. Absent: as its kind and host do. */
  readonly takesServiceTier?: boolean;
};

/** The names that upstreams give the bound on the output of a chat completion. */
export type OutputCapField = "max_tokens" | "max_completion_tokens";

/** The catalog at one moment: it serves `/v1/models` and the admission prices alike. */
export type CatalogSnapshot = {
  /** When its read began, in milliseconds of Unix time. */
  readonly takenAtMs: number;
  readonly models: ReadonlyMap<string, CatalogModel>;
  readonly upstreams: ReadonlyMap<string, UpstreamConfig>;
};
