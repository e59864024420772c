// A start while commits wait for a standby that is not there. Everything that serves writes first, and would end with the time limit of
// that write. So the process shows that it lives and is not ready, and begins once commits are confirmed.

import { setTimeout as sleep } from "node:timers/promises";
import { Registry } from "prom-client";
import type { Database } from "../../database/database.ts";
import { isDatabaseAway } from "../../database/transactions.ts";
import { StandbyWatch, wouldCommitsWait } from "../../database/standby-watch.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";
import { createMetricsServer } from "../../transport/server/metrics-server.ts";
import { createWaitingServer } from "../../transport/server/waiting-server.ts";
import { addStandbyMetrics } from "../observability/metrics.ts";
import type { Config } from "../config/config.ts";

const LOOK_MS = 500;
/** What is being answered when the wait ends may take so long. */
const LAST_ANSWER_MS = 1_000;

export type WaitOptions = {
  readonly config: Pick<
    Config,
    "host" | "httpPort" | "httpTls" | "metricsHost" | "metricsPort" | "metricsTls" | "requireSyncStandby"
  >;
  readonly database: Pick<Database, "pool">;
  readonly logger: Pick<EventLogger, "info" | "error">;
  /** Ends the wait: the process was asked to stop. */
  readonly stopping: AbortSignal;
};

/** Returns at once where commits do not wait. Errors: the reason of `stopping`; a port that is taken. */
export async function waitForStandby({ config, database: { pool }, logger, stopping }: WaitOptions): Promise<void> {
  if (!(await wouldCommitsWait(pool))) return;
  logger.error({ event: "database.standby.missing" }, "no standby confirms commits, so nothing is served");
  const registry = new Registry();
  addStandbyMetrics(registry, new StandbyWatch({ pool, isRequired: true }));
  const http = createWaitingServer(config.httpTls);
  const metrics = createMetricsServer(registry, config.metricsTls);
  try {
    await http.listen({ host: config.host, port: config.httpPort });
    await metrics.listen({ host: config.metricsHost, port: config.metricsPort });
    do {
      await sleep(LOOK_MS, undefined, { signal: stopping });
    } while (await mustWaitOn(pool));
  } finally {
    await Promise.all([http.close(LAST_ANSWER_MS), metrics.close(LAST_ANSWER_MS)]);
  }
  logger.info({ event: "database.standby.attached" }, "a standby confirms commits again");
}

async function mustWaitOn(pool: Database["pool"]): Promise<boolean> {
  try {
    return await wouldCommitsWait(pool);
  } catch (error) {
    if (isDatabaseAway(error)) return true;
    throw error;
  }
}
