// The gateway of one database: its keys, its catalog, the upstreams it calls, and the services of model requests.

import { ownKey } from "../../keys/own-key.ts";
import { createKeys, type Keys } from "../../keys/keys.ts";
import { createPlaygroundKeys } from "../../keys/playground-key.ts";
import { keyRoleOf } from "./members.ts";
import { signingSecret } from "../../identity/signing-secret.ts";
import { createCatalog } from "../../catalog/catalog.ts";
import { createGateway } from "../../gateway/answer/answer-chat.ts";
import { DRAIN_WITHIN_MS, Drains } from "../../gateway/answer/drains.ts";
import { createCountWindows } from "../../gateway/conversation/count-window.ts";
import { createEmbeddingsService } from "../../gateway/embeddings/service.ts";
import { createGeminiService } from "../../gateway/gemini-service.ts";
import { createMessagesService } from "../../gateway/messages-service.ts";
import { createPublicCatalogService } from "../../gateway/public-catalog-service.ts";
import { createResponsesService } from "../../gateway/responses-service.ts";
import { createRetries } from "../../gateway/retries/retries.ts";
import { createGatewayService } from "../../gateway/service.ts";
import { learnedFactsTick } from "../../gateway/jobs/upstream-figures.ts";
import { LearnedModels } from "../../gateway/upstreams/learned-models.ts";
import { UpstreamMarks } from "../../gateway/upstreams/upstream-marks.ts";
import { createUpstreams } from "../../gateway/upstreams/upstreams.ts";
import { type Database, forRequests } from "../../database/database.ts";
import { systemClock } from "../../kernel/clock.ts";
import type { ProcessLease } from "../../ledger/process-lease.ts";
import { watchRequests } from "../observability/requests.ts";
import { allowedModelsOf, createKeyCallOf, keyOf } from "../../transport/calls/callers.ts";
import type { Config } from "../config/config.ts";
import { presetCatalog, usesRealUpstreams } from "./catalog.ts";
import type { WatchedUpstreams } from "./upstreams.ts";

export type GatewayPartsOptions = {
  readonly config: Config;
  readonly database: Database;
  /** The database that has the people. */
  readonly people: Pick<Database, "pool">;
  readonly lease: Pick<ProcessLease, "term">;
  readonly watched: WatchedUpstreams;
  /** Whether no request may be admitted now. */
  readonly isStopped: () => boolean;
  readonly baseUrl: () => string;
  readonly withExemplars: boolean;
};

export type GatewayParts = Awaited<ReturnType<typeof createGatewayParts>>;

/** Builds it. */
export async function createGatewayParts(options: GatewayPartsOptions) {
  const { config, database, people, lease, watched, isStopped, baseUrl, withExemplars } = options;
  // What a chat request waits for has connections of its own. Their login reads no secret and makes no key.
  const requests = forRequests(database);
  const secret = await signingSecret(database.pool, config.authSecrets);
  const [marks, learned] = [new UpstreamMarks(), new LearnedModels()];
  const upstreams = createUpstreams({
    credential: config.variable,
    demo: { tokenIntervalMs: config.demoPaceMs },
    ...(usesRealUpstreams(config) ? {} : { onlyDemoUnless: "SALDO_DEMO_ALLOW" }),
    onMixedUp(upstream) {
      marks.add(upstream);
      watched.report({ kind: "upstream_mixed_up", requestId: null, upstream });
    },
  });
  const keys = createKeys({ database: requests });
  const catalog = createCatalog({ database: requests, ...presetCatalog(config) });
  const drains = new Drains({ most: config.maxDrains, withinMs: DRAIN_WITHIN_MS });
  const waitingStreams = new Set();
  const running = watchRequests(
    createGateway({
      drains,
      keepAliveMs: config.keepAliveMs,
      learned,
      waitingStreams,
      keys,
      ledger: watched.ledger,
      catalog,
      upstreams,
      clock: systemClock,
      term: () => lease.term(),
      topUpUrl: () => `${baseUrl()}/billing`,
      retries: createRetries(requests.pool, () => Promise.resolve(secret)),
      report: watched.report,
    }),
    { isStopped, withExemplars },
  );
  const { takeCountSlot, takeCountedBytes } = createCountWindows();
  return {
    keys,
    catalog,
    upstreams,
    drains,
    waitingStreams,
    running,
    takeCountSlot,
    learnedFacts: learnedFactsTick(database.pool, { marks, learned, onMark: upstreams.markMixedUp }),
    services: modelServices(database, { people, gateway: running.gateway, keys, catalog, takeCountedBytes }),
  };
}

type Asked = Pick<Parameters<typeof createMessagesService>[0], "gateway" | "catalog" | "takeCountedBytes"> & {
  readonly keys: Keys;
  readonly people: Pick<Database, "pool">;
};

/** The services of the protocols that models are asked by. */
function modelServices(database: Database, { people, gateway, keys, catalog, takeCountedBytes }: Asked) {
  const caller = createKeyCallOf(createPlaygroundKeys(database, keyRoleOf(database, people)));
  return {
    gateway: createGatewayService({
      gateway,
      catalog,
      caller,
      allowedModelsOf,
      ownKey: (context) => ownKey(database, keyOf(context)),
    }),
    messages: createMessagesService({ gateway, keys, catalog, allowedModelsOf, takeCountedBytes, caller }),
    gemini: createGeminiService({ gateway, keys, catalog, allowedModelsOf, takeCountedBytes, caller }),
    responses: createResponsesService({ gateway, keys, allowedModelsOf, takeCountedBytes, caller }),
    embeddings: createEmbeddingsService({ gateway, caller }),
    publicCatalog: createPublicCatalogService(catalog),
  };
}
