// The composition root: what a serving process has once. It opens the books of its database and puts the servers before them. What a
// node has once, however many processes serve in it, is in process/node.ts.

import process from "node:process";
import { setFlagsFromString } from "node:v8";
import type { Registry } from "prom-client";
import type { ProcessMetrics } from "../observability/cell-metrics.ts";
import { agentsPackage } from "../../agents/package.ts";
import { baseUrlOf } from "./announcement.ts";
import { addBackupMetric, receiveLog, type Receiving } from "./backup.ts";
import { metricSources, openBooks } from "./books.ts";
import type { OpenCells } from "./open-cells.ts";
import { placementOf, requireCells } from "./open-in-cell.ts";
import { addIntakeMetrics, intakeSettings } from "./intake.ts";
import {
  addLogMetric,
  addPortMetric,
  addPrimaryMetric,
  addReadMetrics,
  addStandbyMetrics,
  createMetrics,
} from "../observability/metrics.ts";
import { addPayoutMetrics } from "./payouts.ts";
import { traceFrom } from "./traces.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../../database/database.ts";
import { BUILT_DASHBOARD, createDashboard } from "../../transport/web/dashboard.ts";
import { createServers } from "../../transport/server/servers.ts";
import { cookiePlanOf, readCookie } from "../../identity/session-cookie.ts";
import { prepareTokenizer } from "../../gateway/metering/estimate.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";
import { PortRefusals } from "../../transport/grpc/port-refusals.ts";

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
  readonly receiver?: Pick<Receiving, "ageSeconds" | "folder"> | null;
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
export async function startServing(given: ServingOptions): Promise<Serving & { readonly registry: ProcessMetrics }> {
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
  let [baseUrl, httpPort] = [baseUrlOf(config, config.httpPort), config.httpPort];
  const place = { baseUrl: () => baseUrl, httpPort: () => httpPort };
  let drainUntil = 0;
  const settleWithinMs = (): number => Math.max(LAST_SETTLE_MS, drainUntil - performance.now());
  const common = { ...options, place, tracedTick, withExemplars: tracing !== null };
  await requireCells(database.pool, config);
  const placeAccount = placementOf(config, database.pool);
  let others: OpenCells | null = null;
  const otherDatabaseOf = async (accountId: string) => (await others?.otherDatabaseOf(accountId)) ?? null;
  const books = await openBooks({ ...common, home: null, placeAccount, otherDatabaseOf }, settleWithinMs);
  stack.defer(() => books.close());
  // Loaded only where there are others.
  others =
    config.cells.length === 0
      ? null
      : await (await import("./open-cells.ts")).openCells(books, { ...common, home: null }, settleWithinMs);
  stack.defer(() => others?.close());
  const served = others === null ? books.ports : others.ports;
  const refusals = new PortRefusals();
  const servers = createServers({
    ...served,
    publicUrl: config.publicUrl,
    trustedProxies: config.trustedProxies,
    tls: config.httpTls,
    tracing: tracing ?? undefined,
    grpc: {
      host: config.grpcHost,
      tls: config.grpcTls,
      reflection: config.grpcReflection,
      onRefused: (reason) => refusals.note(reason),
    },
    agentsPackage: agentsPackage(() => baseUrl),
    docs: { catalog: books.catalog, baseUrl: () => baseUrl },
    dashboard: createDashboard({
      folder: BUILT_DASHBOARD,
      isDemo: config.demo,
      hasSession: (cookies) => readCookie(cookies, cookiePlanOf(baseUrl).sessionName) !== null,
    }),
    logger,
    ...intakeSettings(config),
    host: config.host,
    ports: { http: config.httpPort, grpc: config.grpcPort },
  });
  stack.defer(() => {
    drainUntil = performance.now() + config.drainMs;
    return servers.close(config.drainMs);
  });
  stack.defer(() => {
    books.endWatching();
    others?.endWatching();
  });
  const ports = await servers.listen();
  ({ httpPort } = ports);
  baseUrl = baseUrlOf(config, httpPort);
  const registry = createMetrics(metricSources(books));
  addStandbyMetrics(registry, books.standby);
  addPrimaryMetric(registry, database);
  addReadMetrics(registry, database.reads);
  addLogMetric(registry, options.linesLost);
  addPortMetric(registry, refusals);
  addIntakeMetrics(registry, servers, config);
  if (options.worksForNode) {
    addPayoutMetrics(registry, books.payouts);
    addBackupMetric(registry, given.receiver ?? receiving);
  }
  // Not before the first callers are served, and not where short-lived servers are tested and tried.
  if (config.production) setTimeout(() => void prepareTokenizer(), TOKENIZER_AFTER_MS).unref();
  const started = stack.move();
  return { ports, registry: others?.metricsWith(registry) ?? registry, stop: () => started.disposeAsync() };
}
