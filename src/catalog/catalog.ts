// The door of the room: what is sold, at which price, and who answers. The operator's side is in apply-catalog.ts.

import type { Database } from "../database/database.ts";
import { isDatabaseAway } from "../database/transactions.ts";
import { systemClock, type Clock } from "../kernel/clock.ts";
import { UpstreamBusy } from "../kernel/errors.ts";
import type { OtherPrices } from "../kernel/token-prices.ts";
import { createFreshCopy } from "./fresh-copy.ts";
import { readCatalogAtOnce } from "./store.ts";

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

/** One way to an upstream: its id, the model's name there, and what it costs us where the operator has said so. */
export type Route = {
  readonly upstream: string;
  readonly model: string;
  readonly cost?: RouteCost;
  /** How long the first byte of an answer may take before the next route is tried. Absent: the gateway's default. */
  readonly firstByteTimeoutMs?: number;
  /** Whether a request that this upstream may have charged for may be sent again, at the operator's cost. Absent: false. */
  readonly mayRepeatPaid?: boolean;
};

/** A model that is sold. Prices are micro-rupiah per 1M tokens. */
export type CatalogModel = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly badge: string | null;
  readonly inputModalities: readonly Modality[];
  readonly contextLength: number;
  readonly maxOutputTokens: number;
  /** Tokens that are held for one part of each kind, and billed where an upstream does not say how many it counted. */
  readonly mediaTokens: Readonly<Record<MediaModality, number>>;
  /**
   * Whether it writes output that is charged and not shown as it is produced, such as reasoning that is kept back. Then what
   * was relayed does not tell what a stream costs, and the whole bound of its output is held.
   */
  readonly hiddenOutput: boolean;
  readonly inputPrice: bigint;
  readonly outputPrice: bigint;
  readonly cacheHitPrice: bigint | null;
  /** Prices of kinds of tokens that few models charge apart. Absent or null: none. */
  readonly otherPrices?: OtherPrices | null;
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
  /** The one field in which this upstream reads the bound on its output. Absent: `max_tokens`. */
  readonly outputCapField?: OutputCapField;
  /** Whether this upstream charges for writing to its prompt cache when a request asks for it. Absent: false. */
  readonly chargesCacheWrites?: boolean;
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

export interface Catalog {
  /** The catalog, at most 60 seconds old. Errors: UpstreamBusy when it cannot be read that fresh. */
  snapshot(): Promise<CatalogSnapshot>;
}

/** A node's own catalog, which can also say how old it is. */
export interface NodeCatalog extends Catalog {
  /** Seconds since the read of what serves began; null before the first. */
  ageSeconds(): number | null;
}

export type CatalogDependencies = {
  readonly database: Pick<Database, "pool">;
  /** Tells when a snapshot was taken. */
  readonly clock?: Clock;
  /** Ages are counted on a clock that never goes back, whatever happens to the time of day. */
  readonly monotonicClock?: Clock;
  /** Upstreams of the environment. One of the same id in the catalog stands before it. */
  readonly presetUpstreams?: readonly UpstreamConfig[];
  /** Models that are there without a file, such as those of the demo. One of the same id in the catalog stands before it. */
  readonly presetModels?: readonly CatalogModel[];
};

/** Makes the catalog of one node. A route may name a preset upstream that is gone since; then it leads nowhere. */
export function createCatalog({
  database,
  clock = systemClock,
  monotonicClock = { now: () => performance.now() },
  presetUpstreams = [],
  presetModels = [],
}: CatalogDependencies): NodeCatalog {
  let latestReadMs: number | null = null;
  async function takeSnapshot(): Promise<CatalogSnapshot> {
    const takenAtMs = clock.now();
    const readAtMs = monotonicClock.now();
    try {
      const { models, upstreams } = await readCatalogAtOnce(database);
      latestReadMs = readAtMs;
      return {
        takenAtMs,
        models: inOrder(new Map([...presetModels, ...models].map((model) => [model.id, model]))),
        upstreams: new Map([...presetUpstreams, ...upstreams].map((upstream) => [upstream.id, upstream])),
      };
    } catch (error) {
      throw isDatabaseAway(error) ? new UpstreamBusy(undefined, { cause: error }) : error;
    }
  }
  return {
    snapshot: createFreshCopy({ read: takeSnapshot, clock: monotonicClock }),
    ageSeconds: () => (latestReadMs === null ? null : (monotonicClock.now() - latestReadMs) / 1_000),
  };
}

/** A preset and a row come in two lists; callers see one, by id. */
function inOrder(models: ReadonlyMap<string, CatalogModel>): ReadonlyMap<string, CatalogModel> {
  return new Map([...models].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
