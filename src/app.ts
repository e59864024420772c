// The composition root: builds every room and hands it to those that need it. Nothing else knows them all.

import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "pg";
import { isDatabaseAway } from "./database/transactions.ts";
import { openServiceDatabase } from "./app-database.ts";
import { presetCatalog } from "./app-catalog.ts";
import { announce, baseUrlOf } from "./app-announcement.ts";
import { prepareDemo } from "./app-demo.ts";
import { createGatewayEvents } from "./app-events.ts";
import { createLog } from "./app-log.ts";
import { createMetrics } from "./app-metrics.ts";
import { createBillingService } from "./billing/service.ts";
import { createCatalog } from "./catalog/catalog.ts";
import type { Config } from "./config.ts";
import { createServers } from "./facade/servers.ts";
import { createGateway } from "./gateway/answer-chat.ts";
import type { Gateway } from "./gateway/chat.ts";
import { createGatewayService } from "./gateway/service.ts";
import { createUpstreams } from "./gateway/upstreams/upstreams.ts";
import { systemClock } from "./kernel/clock.ts";
import { armFailpoint } from "./kernel/failpoint.ts";
import { createKeys } from "./keys/keys.ts";
import { createKeysService } from "./keys/service.ts";
import { GroupCommitLedger } from "./ledger/group-commit.ts";
import { ProcessLease } from "./ledger/process-lease.ts";
import { createPairVerifier } from "./merchant/credentials.ts";
import { createMerchantTransferService } from "./merchant/service.ts";
import { accountOf, keyCallOf, merchantOf } from "./rpc/callers.ts";
import { holdTicks } from "./workers/holds.ts";
import { partitionTick } from "./workers/partitions.ts";
import { startTicks } from "./workers/tick.ts";

export type App = {
  /** Stops taking requests, lets running ones end and settle, then closes everything. */
  stop(): Promise<void>;
};

/** How long the last requests may take to settle once the servers are closed. */
const SETTLE_LIMIT_MS = 10_000;

/** Starts everything and announces it. Errors: whatever keeps a part from starting; nothing is left running then. */
export async function startApp(config: Config, output: { out(text: string): void }): Promise<App> {
  // Taken down in the opposite order: the servers first, the database last, each even if another fails.
  await using stack = new AsyncDisposableStack();
  const { logger, flush } = createLog(config.logLevel);
  stack.defer(flush);
  if (config.failpoint !== null) {
    logger.warn(config.failpoint, "this process will kill itself at a failpoint");
    armFailpoint(config.failpoint, () => process.kill(process.pid, "SIGKILL"));
  }
  const database = await openServiceDatabase(config);
  stack.defer(() => database.close());
  const lease = await ProcessLease.take(database);
  stack.defer(() => lease.resign());
  const ledger = new GroupCommitLedger({ database, owner: () => lease.processId, lanes: config.lanes });
  // Until the ledger is closed the lease has to live: the last requests are settled under it.
  const ticks = startTicks(
    [...holdTicks({ pool: database.pool, lease, ledger }), partitionTick(database.pool)],
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
  let baseUrl = baseUrlOf(config, config.httpPort);
  const events = createGatewayEvents(logger);
  const running = trackRunning(
    createGateway({
      keys,
      ledger,
      catalog,
      upstreams,
      clock: systemClock,
      topUpUrl: () => `${baseUrl}/`,
      report: events.report,
    }),
  );
  stack.defer(() => running.idle(SETTLE_LIMIT_MS));
  const servers = createServers({
    implementations: {
      gateway: createGatewayService({ gateway: running.gateway, catalog, caller: keyCallOf }),
      keys: createKeysService({ database, accountOf }),
      billing: createBillingService({ database, accountOf }),
      merchantTransfer: createMerchantTransferService({ database, merchant: merchantOf }),
    },
    gateway: running.gateway,
    keys,
    verifyMerchant: createPairVerifier(database),
    ready: () => isReachable(database.pool),
    registry: createMetrics({ ledger, pool: database.pool, events: events.counts }),
    logger,
    host: config.host,
    ports: { http: config.httpPort, grpc: config.grpcPort, metrics: config.metricsPort },
  });
  stack.defer(() => servers.close(config.drainMs));
  const ports = await servers.listen();
  baseUrl = baseUrlOf(config, ports.httpPort);
  const demo = config.demo ? await prepareDemo(database) : null;
  announce({ baseUrl, host: config.host, ports, demo, output });
  logger.info({ ...ports, pid: process.pid, demo: config.demo }, "serving");
  flush();
  const started = stack.move();
  return { stop: () => started.disposeAsync() };
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

/** Counts the requests that are being answered, also those whose client has left: they still have to be settled. */
function trackRunning(gateway: Gateway): { gateway: Gateway; idle(limitMs: number): Promise<void> } {
  const running = new Set<Promise<void>>();
  return {
    gateway: {
      answerChat(call, sink) {
        const answer = gateway.answerChat(call, sink).finally(() => running.delete(answer));
        running.add(answer);
        return answer;
      },
    },
    async idle(limitMs) {
      await Promise.race([Promise.allSettled(running), sleep(limitMs, undefined, { ref: false })]);
    },
  };
}
