/** What a model understands besides text. */
export type Modality = "text" | "image" | "audio" | "video";

/** One way to an upstream: its id and the model's name there. */
export type Route = { readonly upstream: string; readonly model: string };

/** A model that is sold. Prices are micro-rupiah per 1M tokens. */
export type CatalogModel = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly badge: string | null;
  readonly inputModalities: readonly Modality[];
  readonly contextLength: number;
  readonly maxOutputTokens: number;
  readonly inputPrice: bigint;
  readonly outputPrice: bigint;
  readonly cacheHitPrice: bigint | null;
  /** In the order in which they are tried; at least one. */
  readonly routes: readonly Route[];
  readonly createdAt: Date;
};

export type UpstreamKind = "openai-compatible" | "demo";

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
};

/** The catalog at one moment: it serves `/v1/models` and the admission prices alike. */
export type CatalogSnapshot = {
  readonly takenAtMs: number;
  readonly models: ReadonlyMap<string, CatalogModel>;
  readonly upstreams: ReadonlyMap<string, UpstreamConfig>;
};

export interface Catalog {
  /** The catalog, at most 60 seconds old. */
  snapshot(): Promise<CatalogSnapshot>;
}
