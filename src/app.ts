// The composition root: builds every room of a serving process and hands it to those that need it. Nothing else knows them
// all. What a node has once, however many processes serve in it, is in app-node.ts.

import process from "node:process";
import { setFlagsFromString } from "node:v8";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { isDatabaseAway } from "./database/transactions.ts";
import { presetCatalog } from "./app-catalog.ts";
import { agentsPackage } from "./agents/package.ts";
import { baseUrlOf } from "./app-announcement.ts";
import { createCallbackDeliverer } from "./app-callbacks.ts";
import { createGatewayEvents } from "./app-events.ts";
import { merchantServices } from "./app-merchant.ts";
import { createMetrics } from "./app-metrics.ts";
import { noteOrders, operatorService } from "./app-operator.ts";
import { createAppPeople } from "./app-people.ts";
import { addPayoutMetrics, createPayouts } from "./app-payouts.ts";
import { watchRequests } from "./app-requests.ts";
import { createTopUpParts } from "./app-top-ups.ts";
import { createTopUpMethods } from "./billing/proto-top-ups.ts";
import { watchUpstreams } from "./app-upstreams.ts";
import { createBillingService } from "./billing/service.ts";
import { createCatalog } from "./catalog/catalog.ts";
import type { Config } from "./config.ts";
import type { Database } from "./database/database.ts";
import { BUILT_DASHBOARD, createDashboard } from "./facade/dashboard.ts";
import { createServers } from "./facade/servers.ts";
import { createGateway } from "./gateway/answer-chat.ts";
import { DRAIN_WITHIN_MS, Drains } from "./gateway/drains.ts";
import { createGatewayService } from "./gateway/service.ts";
import { createUpstreams } from "./gateway/upstreams/upstreams.ts";
import { systemClock } from "./kernel/clock.ts";
import { armFailpoint } from "./kernel/failpoint.ts";
import { createKeys } from "./keys/keys.ts";
import { createPlaygroundKeys } from "./keys/playground-key.ts";
import { createKeysService } from "./keys/service.ts";
import { AdmissionGate } from "./ledger/admission-switch.ts";
import type { AuditReport } from "./ledger/audit.ts";
import type { AuditKind } from "./ledger/audit-run.ts";
import { GroupCommitLedger } from "./ledger/group-commit.ts";
import { ProcessLease } from "./ledger/process-lease.ts";
import { createPairVerifier } from "./merchant/credentials.ts";
import { accountOf, createKeyCallOf } from "./rpc/callers.ts";
import { switchTick } from "./workers/admission-switch.ts";
import { auditTicks } from "./workers/audit.ts";
import { callbackTick } from "./workers/callbacks.ts";
import { watchDatabase } from "./workers/database-watch.ts";
import { holdTicks } from "./workers/holds.ts";
import { partitionTick } from "./workers/partitions.ts";
import { signInTick } from "./workers/sign-in.ts";
import { usageTick } from "./workers/usage.ts";
import { figuresTick, forgetFiguresTick } from "./workers/upstream-figures.ts";
import { startTicks, type Tick } from "./workers/tick.ts";
import { topUpTicks } from "./workers/top-ups.ts";

/** A process, or several, that answer callers. */
export type Serving = {
  readonly ports: { readonly httpPort: number; readonly grpcPort: number };
  /** The metrics of all of it. */
  readonly registry: Pick<Registry, "metrics" | "contentType">;
  /** Stops taking requests, lets running ones end and settle, then lets go of everything but the database. */
  stop(): Promise<void>;
};

export type ServingOptions = {
  readonly config: Config;
  readonly database: Database;
  readonly logger: Logger;
  /** Whether this process does the background work that a node needs done by one of its processes. */
  readonly worksForNode: boolean;
};

/** How long the last requests may take to settle once the servers are closed. */
const SETTLE_LIMIT_MS = 10_000;

/** Serves from this process. Errors: whatever keeps a part from starting; nothing is left running then. */
export async function startServing(options: ServingOptions): Promise<Serving & { readonly registry: Registry }> {
  const { config, database, logger } = options;
  // Request bodies lie outside V8's heap. Counted on their own they made it collect everything every thirty large requests.
  setFlagsFromString("--external-memory-accounted-in-global-limit");
  // Taken down in the opposite order: the servers first, the lease last, each even if another fails.
  await using stack = new AsyncDisposableStack();
  if (config.failpoint !== null) {
    logger.warn(config.failpoint, "this process will kill itself at a failpoint");
    armFailpoint(config.failpoint, () => process.kill(process.pid, "SIGKILL"));
  }
  const lease = await ProcessLease.take(database);
  stack.defer(() => lease.resign());
  const ledger = new GroupCommitLedger({ database, owner: () => lease.owner(), lanes: config.lanes });
  // Until the ledger is closed the lease has to live: the last requests are settled under it.
  const gate = new AdmissionGate(database.pool);
  await gate.refresh();
  const events = createGatewayEvents(logger);
  const watched = watchUpstreams(ledger, events.report);
  const watch = options.worksForNode ? watchDatabase(database.pool) : null;
  let [baseUrl, httpPort] = [baseUrlOf(config, config.httpPort), config.httpPort];
  const people = createAppPeople({ config, database, logger, baseUrl: () => baseUrl });
  const payments = createTopUpParts(options, { baseUrl: () => baseUrl, httpPort: () => httpPort });
  stack.defer(() => payments.close());
  const { topUps } = payments;
  const payouts = await createPayouts({ config, database, logger });
  stack.defer(() => payouts.stop());
  const callbacks = createCallbackDeliverer(database, options);
  stack.defer(() => callbacks.stop());
  const ticks = startTicks(
    [
      ...holdTicks({ pool: database.pool, lease, ledger }),
      switchTick(gate),
      ...topUpTicks(topUps),
      figuresTick(database.pool, watched.counts),
      ...(watch === null
        ? []
        : [
            watch.tick,
            people.lowBalanceTick,
            callbackTick(callbacks),
            ...nodeTicks(database.pool, logger),
            ...payouts.ticks,
          ]),
    ],
    (tick, err) => logger[isDatabaseAway(err) ? "warn" : "error"]({ tick, err }, "tick failed"),
  );
  stack.defer(() => ticks.stop());
  stack.defer(() => ledger.close());
  await ledger.open();

  const keys = createKeys({ database });
  const catalog = createCatalog({ database, ...presetCatalog(config) });
  const upstreams = createUpstreams({
    credential: config.variable,
    demo: { tokenIntervalMs: config.demoPaceMs },
  });
  stack.defer(() => upstreams.close());
  const drains = new Drains({ most: config.maxDrains, withinMs: DRAIN_WITHIN_MS });
  const waitingStreams = new Set();
  const running = watchRequests(
    createGateway({
      drains,
      waitingStreams,
      keys,
      ledger: watched.ledger,
      catalog,
      upstreams,
      clock: systemClock,
      topUpUrl: () => `${baseUrl}/billing`,
      report: watched.report,
    }),
    () => gate.isStopped,
  );
  stack.defer(() => running.idle(SETTLE_LIMIT_MS));
  stack.defer(() => drains.stop());
  const servers = createServers({
    implementations: {
      accounts: people.accounts,
      gateway: createGatewayService({
        gateway: running.gateway,
        catalog,
        caller: createKeyCallOf(createPlaygroundKeys(database)),
      }),
      keys: createKeysService({ database, accountOf }),
      billing: { ...createBillingService({ database, accountOf }), ...createTopUpMethods({ topUps, accountOf }) },
      ...merchantServices(database, config, payouts),
      operator: operatorService(options, { topUps, payouts }),
    },
    gateway: running.gateway,
    keys,
    verifyMerchant: createPairVerifier(database),
    noteOrder: noteOrders(database),
    ...people,
    publicUrl: config.publicUrl,
    trustedProxies: config.trustedProxies,
    ready: () => isReachable(database.pool),
    agentsPackage: agentsPackage(() => baseUrl),
    docs: { catalog, baseUrl: () => baseUrl },
    dashboard: createDashboard({ folder: BUILT_DASHBOARD, isDemo: config.demo, publicUrl: config.publicUrl }),
    payments,
    logger,
    host: config.host,
    ports: { http: config.httpPort, grpc: config.grpcPort },
  });
  stack.defer(() => servers.close(config.drainMs));
  stack.defer(() => topUps.endWatching());
  const ports = await servers.listen();
  ({ httpPort } = ports);
  baseUrl = baseUrlOf(config, httpPort);
  const registry = createMetrics({
    ledger,
    events: events.counts,
    requests: running,
    isStopped: () => gate.isStopped,
    streams: { drains, waiting: waitingStreams },
    catalogAgeSeconds: () => catalog.ageSeconds(),
    database: watch?.facts ?? null,
  });
  if (options.worksForNode) addPayoutMetrics(registry, payouts);
  const started = stack.move();
  return { ports, registry, stop: () => started.disposeAsync() };
}

/** Work that one process of a node does for all of them. */
function nodeTicks(pool: Pool, logger: Pick<Logger, "error">): Tick[] {
  const onViolations = (audit: AuditKind, { violations, hasMore }: AuditReport): void =>
    logger.error({ audit, violations, hasMore }, "the books are not in order");
  const onMissed = (accountIds: readonly string[]): void =>
    logger.error({ accountIds }, "roll-ups of usage had missed a record and were made anew");
  return [
    partitionTick(pool),
    forgetFiguresTick(pool),
    signInTick(pool),
    usageTick(pool, onMissed),
    ...auditTicks({ pool, onViolations }),
  ];
}

/** A database that takes longer for nothing is not ready. */
const READY_WITHIN_MS = 2_000;

async function isReachable(pool: Pool): Promise<boolean> {
  try {
    const query = { text: "SELECT", query_timeout: READY_WITHIN_MS };
    await pool.query(query);
    return true;
  } catch {
    return false; // why is said by whoever needed the database
  }
}
