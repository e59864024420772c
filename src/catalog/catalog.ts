// What the request path reads of the catalog: what is sold, at which price, and who answers. The operator's side is in apply-catalog.ts.

import type { Database } from "../database/database.ts";
import { isDatabaseAway } from "../database/transactions.ts";
import { systemClock, type Clock } from "../kernel/clock.ts";
import { ServiceBusy } from "../kernel/errors.ts";
import { createFreshCopy } from "./fresh-copy.ts";
import { readCatalogAtOnce } from "./store.ts";
import type { CatalogModel, CatalogSnapshot, UpstreamConfig } from "./catalog-model.ts";

export interface Catalog {
  /** The catalog, at most 60 seconds old. Errors: ServiceBusy when it cannot be read that fresh. */
  snapshot(): Promise<CatalogSnapshot>;
}

/** A node's own catalog, which also knows its age. */
export interface NodeCatalog extends Catalog {
  /** Seconds since the read of what serves began; null before the first. */
  ageSeconds(): number | null;
}

export type CatalogDependencies = {
  readonly database: Pick<Database, "pool">;
  /** Called when a snapshot was taken. */
  readonly clock?: Clock;
  /** Ages are counted on a clock that never goes back, even when the time of day is set back. */
  readonly monotonicClock?: Clock;
  /** Upstreams of the environment. One of the same id in the catalog replaces it. */
  readonly presetUpstreams?: readonly UpstreamConfig[];
  /** Models that are there without a file, such as those of the demo. One of the same id in the catalog replaces it. */
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
      throw isDatabaseAway(error) ? new ServiceBusy(undefined, { cause: error }) : error;
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
