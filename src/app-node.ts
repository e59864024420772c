// A node: what is there once, however many processes answer its callers. It opens the database (and so runs the embedded
// one, and migrates), shows the metrics, prepares the demo and announces where everything is.

import process from "node:process";
import type { Logger } from "pino";
import { dismissDemoPerson } from "./accounts/demo-person.ts";
import { hasPeople, inviteOperator } from "./accounts/operator-invites.ts";
import { announce, baseUrlOf } from "./app-announcement.ts";
import { openServiceDatabase } from "./app-database.ts";
import { prepareDemo } from "./app-demo.ts";
import { createLog } from "./app-log.ts";
import type { Serving } from "./app.ts";
import { closeOrders } from "./billing/top-ups/close-orders.ts";
import type { Config } from "./config.ts";
import type { Database } from "./database/database.ts";
import { createMetricsServer } from "./facade/metrics-server.ts";

export type Node = {
  /** Stops taking requests, lets running ones end and settle, then closes everything, the database last. */
  stop(): Promise<void>;
};

/** A scrape that is being answered when the node stops may take so long. */
const LAST_SCRAPE_MS = 1_000;

/** Starts everything and announces it. Errors: whatever keeps a part from starting; nothing is left running then. */
export async function startNode(config: Config, output: { out(text: string): void }): Promise<Node> {
  // Taken down in the opposite order: who serves first, the database last, each even if another fails.
  await using stack = new AsyncDisposableStack();
  const { logger, flush } = createLog(config.logLevel);
  stack.defer(flush);
  const database = await openServiceDatabase(config);
  stack.defer(() => database.close());
  const serving = await startAll();
  const metrics = createMetricsServer(serving.registry);
  stack.defer(() => metrics.close(LAST_SCRAPE_MS));
  stack.defer(() => serving.stop());
  const { host } = config;
  const ports = { ...serving.ports, metricsPort: await metrics.listen({ host, port: config.metricsPort }) };
  const demo = config.demo ? await prepareDemo(database) : null;
  if (!config.payments.sandbox) await closeOrders(database, "sandbox");
  const baseUrl = baseUrlOf(config, ports.httpPort);
  const setUpLink = config.demo ? null : await prepareForPeople(database, { config, baseUrl, logger });
  announce({ baseUrl, host, ports, demo, setUpLink, output });
  logger.info({ ...ports, pid: process.pid, demo: config.demo, workers: config.workers }, "serving");
  flush();
  const started = stack.move();
  return { stop: () => started.disposeAsync() };

  // Each is loaded only where it is used: a primary has no servers of its own, and a single process no workers.
  async function startAll(): Promise<Serving> {
    if (config.workers > 1) return (await import("./app-primary.ts")).startWorkers({ config, logger });
    return (await import("./app.ts")).startServing({ config, database, logger, worksForNode: true });
  }
}

/** What a service that is no demo does about people before it announces itself. Gives a link where nobody has signed up yet. */
async function prepareForPeople(
  { pool }: Database,
  { config, baseUrl, logger }: { config: Config; baseUrl: string; logger: Logger },
): Promise<string | null> {
  await dismissDemoPerson(pool);
  if (config.smtpUrl === null) logger.warn("SMTP_URL is not set, so nobody can sign up or reset a password");
  return (await hasPeople(pool)) ? null : inviteOperator(pool, baseUrl);
}
