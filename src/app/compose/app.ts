// The composition root: builds every room of a serving process and passes it to those that need it. No other file knows them
// all. What a node has once, however many processes serve in it, is in process/node.ts.

import process from "node:process";
import { setFlagsFromString } from "node:v8";
import type { Registry } from "prom-client";
import { isDatabaseAway } from "../../database/transactions.ts";
import { presetCatalog, usesRealUpstreams } from "./catalog.ts";
import { agentsPackage } from "../../agents/package.ts";
import { baseUrlOf } from "./announcement.ts";
import { addBackupMetric, receiveLog, type Receiving } from "./backup.ts";
import { createAlertPoster, createCallbackDeliverer, webhookRules } from "./callbacks.ts";
import { createGatewayEvents, lateLog } from "../observability/events.ts";
import { merchantServices } from "./merchant.ts";
import { nodeTicks } from "./node-ticks.ts";
import { callerLimits } from "./limits.ts";
import { addIntakeMetrics, intakeSettings } from "./intake.ts";
import {
  addLogMetric,
  addPortMetric,
  addPrimaryMetric,
  addReadMetrics,
  addStandbyMetrics,
  createMetrics,
} from "../observability/metrics.ts";
import { recordCallsOnAccounts, operatorServices } from "./operator.ts";
import { createAppPeople } from "./people.ts";
import { createProofTick } from "./proof.ts";
import { addPayoutMetrics, createPayouts } from "./payouts.ts";
import { readTicks, watchStandby } from "./standby.ts";
import { statusService } from "./status.ts";
import { traceFrom } from "./traces.ts";
import { watchRequests } from "../observability/requests.ts";
import { createReceiptParts } from "./receipts.ts";
import { createTopUpParts } from "./top-ups.ts";
import { createAlertService } from "../../billing/alert-service.ts";
import { createAutoTopUpService } from "../../billing/auto-top-up-service.ts";
import { createTopUpMethods } from "../../billing/proto-top-ups.ts";
import { watchUpstreams } from "./upstreams.ts";
import { readSealedAge } from "../../billing/proof/seal-store.ts";
import { createBillingService } from "../../billing/service.ts";
import { createCatalog } from "../../catalog/catalog.ts";
import type { Config } from "../config/config.ts";
import { type Database, forRequests } from "../../database/database.ts";
import { Reachability } from "../../database/reachability.ts";
import { BUILT_DASHBOARD, createDashboard } from "../../transport/web/dashboard.ts";
import { createServers } from "../../transport/server/servers.ts";
import { cookiePlanOf, readCookie } from "../../identity/session-cookie.ts";
import { signingSecret } from "../../identity/signing-secret.ts";
import { createGateway } from "../../gateway/answer/answer-chat.ts";
import { DRAIN_WITHIN_MS, Drains } from "../../gateway/answer/drains.ts";
import { prepareTokenizer } from "../../gateway/metering/estimate.ts";
import { createRetries } from "../../gateway/retries/retries.ts";
import { createCountWindows } from "../../gateway/conversation/count-window.ts";
import { createGeminiService } from "../../gateway/gemini-service.ts";
import { createMessagesService } from "../../gateway/messages-service.ts";
import { createResponsesService } from "../../gateway/responses-service.ts";
import { createEmbeddingsService } from "../../gateway/embeddings/service.ts";
import { createPublicCatalogService } from "../../gateway/public-catalog-service.ts";
import { createGatewayService } from "../../gateway/service.ts";
import { LearnedModels } from "../../gateway/upstreams/learned-models.ts";
import { UpstreamMarks } from "../../gateway/upstreams/upstream-marks.ts";
import { createUpstreams } from "../../gateway/upstreams/upstreams.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";
import { systemClock } from "../../kernel/clock.ts";
import { ownKey } from "../../keys/own-key.ts";
import { readKeyMakers, readKeyNames } from "../../keys/issued-keys-store.ts";
import { createKeys } from "../../keys/keys.ts";
import { recordActivity } from "../../identity/members/activity.ts";
import { requireKeyRole } from "../../identity/members/member-roles.ts";
import { visibleKeysOf } from "./visible-keys.ts";
import { createPlaygroundKeys } from "../../keys/playground-key.ts";
import { createKeysService } from "../../keys/service.ts";
import { AdmissionGate } from "../../ledger/admission-switch.ts";
import { GroupCommitLedger } from "../../ledger/group-commit/group-commit.ts";
import { OwedSpool, owedFolder } from "../../ledger/group-commit/owed-spool.ts";
import { ProcessLease } from "../../ledger/process-lease.ts";
import { createPairVerifier } from "../../merchant/merchants/credentials.ts";
import {
  accountOf,
  allowedModelsOf,
  createKeyCallOf,
  isOperator,
  keyOf,
  memberOf,
} from "../../transport/calls/callers.ts";
import { PortRefusals } from "../../transport/grpc/port-refusals.ts";
import { switchTick } from "../../ledger/jobs/admission-switch.ts";
import { callbackTick } from "../../merchant/jobs/callbacks.ts";
import { watchDatabase } from "../observability/database-watch.ts";
import { holdTicks } from "../../ledger/jobs/holds.ts";
import { postAlertsTick } from "../../billing/jobs/alerts.ts";
import { figuresTick, learnedFactsTick } from "../../gateway/jobs/upstream-figures.ts";
import { startTicks } from "../../workers/tick.ts";
import { receivableTick, topUpTicks } from "../../billing/jobs/top-ups.ts";

/** A process, or several, that answer callers. */
export type Serving = {
  readonly ports: { readonly httpPort: number; readonly grpcPort: number };
  /** The metrics of all of it. */
  readonly registry: Pick<Registry, "metrics" | "contentType" | "getMetricsAsJSON">;
  /** Stops taking requests, waits until running ones end and settle, then closes everything but the database. */
  stop(): Promise<void>;
};

export type ServingOptions = {
  readonly config: Config;
  readonly database: Database;
  readonly logger: EventLogger;
  /** How many lines of the log were lost. */
  readonly linesLost: () => number;
  /** The receiver of the log, where commits wait for it. */
  readonly receiver?: Pick<Receiving, "ageSeconds"> | null;
  /** Whether this process does the background work that a node needs done by one of its processes. */
  readonly worksForNode: boolean;
};

/**
 * How long the last requests may take to settle where streams used up all of the drain. With the commits of the ledger a stop takes
 * five seconds more than the drain.
 */
const LAST_SETTLE_MS = 3_000;
/** How long after its start production loads the tokenizer. */
const TOKENIZER_AFTER_MS = 1_000;

/** Serves from this process. Errors: those of a part that does not start; nothing is left running then. */
export async function startServing(given: ServingOptions): Promise<Serving & { readonly registry: Registry }> {
  const { config, database } = given;
  // Request bodies lie outside V8's heap. Counted on their own they made it collect everything every thirty large requests.
  setFlagsFromString("--external-memory-accounted-in-global-limit");
  // Taken down in the opposite order: the servers first, the lease last, each even if another fails.
  await using stack = new AsyncDisposableStack();
  const { logger, tracing, tracedTick } = await traceFrom(given);
  stack.defer(() => tracing?.stop());
  const options = { ...given, logger };
  if (config.failpoint !== null) {
    logger.warn(
      { event: "process.failpoint.armed", ...config.failpoint },
      "this process will kill itself at a failpoint",
    );
    const { armFailpoint } = await import("./arm-failpoint.ts");
    armFailpoint(config.failpoint, () => process.kill(process.pid, "SIGKILL"));
  }
  // A receiver that commits wait for runs in the process that opened the database, from before its first commit.
  const receiving = options.worksForNode && !config.backupSynchronous ? receiveLog(options) : null;
  stack.defer(() => receiving?.stop());
  // What a chat request waits for has connections of its own.
  const requests = forRequests(database);
  const lease = await ProcessLease.take(database);
  stack.defer(() => lease.resign());
  const ledger = new GroupCommitLedger({
    database: requests,
    owner: (requestId) => lease.ownerOf(requestId),
    lanes: config.lanes,
    onLate: lateLog(logger),
    spool: new OwedSpool(owedFolder(config.dataDir)),
  });
  // Until the ledger is closed the lease has to live: the last requests are settled under it.
  const gate = new AdmissionGate(requests.pool);
  await gate.refresh();
  const standby = watchStandby(options);
  await standby.watch.look();
  const events = createGatewayEvents(logger);
  const watched = watchUpstreams(ledger, events.report);
  const watch = options.worksForNode ? watchDatabase(database.pool, { dataDir: config.dataDir, readSealedAge }) : null;
  let [baseUrl, httpPort] = [baseUrlOf(config, config.httpPort), config.httpPort];
  const people = createAppPeople({ config, database, logger, baseUrl: () => baseUrl });
  stack.defer(() => people.securityLog.close());
  stack.defer(() => people.breachedPasswords.close());
  const payments = createTopUpParts(options, { baseUrl: () => baseUrl, httpPort: () => httpPort });
  stack.defer(() => payments.close());
  const { topUps } = payments;
  const receipts = createReceiptParts(config, database);
  stack.defer(() => receipts.close());
  const payouts = await createPayouts({ config, database, logger });
  stack.defer(() => payouts.stop());
  const callbacks = createCallbackDeliverer(database, options);
  stack.defer(() => callbacks.stop());
  const alerts = createAlertPoster(database, options);
  stack.defer(() => alerts.stop());
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
  const ticks = startTicks(
    [
      ...holdTicks({ pool: database.pool, lease, ledger }),
      switchTick(gate),
      standby.tick,
      ...readTicks(database),
      ...topUpTicks(topUps),
      figuresTick(database.pool, watched.counts),
      learnedFactsTick(database.pool, { marks, learned, onMark: upstreams.markMixedUp }),
      ...(watch === null
        ? []
        : [
            watch.tick,
            people.lowBalanceTick,
            people.alertTick,
            standby.whileConfirmed(payments.autoTopUpTick),
            people.autoTopUpMailTick,
            postAlertsTick(alerts),
            receivableTick(database.pool),
            receipts.tick,
            callbackTick(callbacks),
            createProofTick(database.pool, { config, mailer: people.mailer }),
            ...nodeTicks(database.pool, { logger, config, chains: payouts.chains }),
            ...payouts.ticks.map(standby.whileConfirmed),
          ]),
    ].map(tracedTick),
    (tick, err) =>
      logger[isDatabaseAway(err) ? "warn" : "error"]({ event: "job.failed", job: tick, err }, "job failed"),
  );
  stack.defer(() => ticks.stop());
  stack.defer(() => ledger.close());
  await ledger.open();
  const owed = await ledger.takeOverOwed();
  if (owed.foreign > 0)
    logger.warn(
      { event: "ledger.owed.foreign", settlements: owed.foreign },
      "settlements that are owed in another history of the books are not settled: saldo recover report",
    );

  const keys = createKeys({ database: requests });
  const catalog = createCatalog({ database: requests, ...presetCatalog(config) });
  stack.defer(() => upstreams.close());
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
      topUpUrl: () => `${baseUrl}/billing`,
      retries: createRetries(requests.pool, () => signingSecret(requests.pool, config.authSecrets)),
      report: watched.report,
    }),
    { isStopped: () => gate.isStopped || standby.watch.isMissing, withExemplars: tracing !== null },
  );
  let drainUntil = 0;
  stack.defer(() => running.idle(Math.max(LAST_SETTLE_MS, drainUntil - performance.now())));
  stack.defer(() => drains.stop());
  const verifyMerchant = createPairVerifier(database);
  const reachability = new Reachability(() => database.connect());
  stack.defer(() => reachability.close());
  const refusals = new PortRefusals();
  const caller = createKeyCallOf(createPlaygroundKeys(requests, requireKeyRole));
  const { takeCountSlot, takeCountedBytes } = createCountWindows();
  const servers = createServers({
    implementations: {
      accounts: people.accounts,
      members: people.members,
      gateway: createGatewayService({
        gateway: running.gateway,
        catalog,
        caller,
        allowedModelsOf,
        ownKey: (context) => ownKey(database, keyOf(context)),
      }),
      messages: createMessagesService({
        gateway: running.gateway,
        keys,
        catalog,
        takeCountedBytes,
        caller,
      }),
      gemini: createGeminiService({ gateway: running.gateway, keys, catalog, takeCountedBytes, caller }),
      responses: createResponsesService({
        gateway: running.gateway,
        keys,
        takeCountedBytes,
        caller,
      }),
      embeddings: createEmbeddingsService({ gateway: running.gateway, caller }),
      publicCatalog: createPublicCatalogService(catalog),
      status: statusService({ ...options, catalog, payouts, mayServe: () => !standby.watch.isMissing }),
      keys: createKeysService({ database, accountOf, memberOf, requireRole: requireKeyRole }),
      billing: {
        ...createBillingService({
          database,
          requests,
          accountOf,
          visibleKeysOf: visibleKeysOf(database),
          isOperator,
          keyNames: (accountId) => readKeyNames(database.pool, accountId),
          keyMakers: (accountId) => readKeyMakers(database.pool, accountId),
        }),
        ...createTopUpMethods({ topUps, accountOf }),
      },
      autoTopUps: createAutoTopUpService({ database, topUps, accountOf }),
      alerts: createAlertService({ database, accountOf, rules: webhookRules(config) }),
      ...receipts.services,
      ...merchantServices(database, config, payouts),
      ...operatorServices(options, { topUps, payouts }),
    },
    gateway: running.gateway,
    keys,
    takeCountSlot,
    verifyMerchant,
    recordCall: recordCallsOnAccounts(database),
    recordActivity: (line) => recordActivity(database.pool, line),
    ...callerLimits({ config, database, people, keys, verifyMerchant }),
    ...people,
    publicUrl: config.publicUrl,
    trustedProxies: config.trustedProxies,
    tls: config.httpTls,
    tracing: tracing ?? undefined,
    mayServe: () => !standby.watch.isMissing,
    ready: async () => !standby.watch.isMissing && (await reachability.isReachable()),
    grpc: {
      host: config.grpcHost,
      tls: config.grpcTls,
      reflection: config.grpcReflection,
      onRefused: (reason) => refusals.note(reason),
    },
    agentsPackage: agentsPackage(() => baseUrl),
    docs: { catalog, baseUrl: () => baseUrl },
    dashboard: createDashboard({
      folder: BUILT_DASHBOARD,
      isDemo: config.demo,
      hasSession: (cookies) => readCookie(cookies, cookiePlanOf(baseUrl).sessionName) !== null,
    }),
    payments,
    logger,
    ...intakeSettings(config),
    host: config.host,
    ports: { http: config.httpPort, grpc: config.grpcPort },
  });
  stack.defer(() => {
    drainUntil = performance.now() + config.drainMs;
    return servers.close(config.drainMs);
  });
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
  addStandbyMetrics(registry, standby.watch);
  addPrimaryMetric(registry, database);
  addReadMetrics(registry, database.reads);
  addLogMetric(registry, options.linesLost);
  addPortMetric(registry, refusals);
  addIntakeMetrics(registry, servers, config);
  if (options.worksForNode) {
    addPayoutMetrics(registry, payouts);
    addBackupMetric(registry, given.receiver ?? receiving);
  }
  // Not before the first callers are served, and not where short-lived servers are tested and tried.
  if (config.production) setTimeout(() => void prepareTokenizer(), TOKENIZER_AFTER_MS).unref();
  const started = stack.move();
  return { ports, registry, stop: () => started.disposeAsync() };
}
