// A node: what is there once, however many processes answer its callers. It opens the database (and so runs the embedded
// one, and migrates), shows the metrics, prepares the demo and announces where everything is.

import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { isatty } from "node:tty";
import { hasOperator, inviteOperator } from "../../identity/operator-invites.ts";
import { announce, baseUrlOf } from "../compose/announcement.ts";
import { ignoredUpstreams } from "../compose/catalog.ts";
import { openServiceDatabase } from "../compose/database.ts";
import { prepareSecrets } from "../compose/secrets.ts";
import { waitForStandby } from "../compose/wait-for-standby.ts";
import { prepareDemo } from "../demo/demo.ts";
import { primaryLog, readSourceLog, schemaWaitLog } from "../observability/events.ts";
import { createLog, type ProcessLog } from "../observability/log.ts";
import type { Serving } from "../compose/app.ts";
import { closeOrders } from "../../billing/top-ups/close-orders.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../../database/database.ts";
import { claimPurpose } from "../../database/purpose.ts";
import { createMetricsServer } from "../../transport/server/metrics-server.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";

export type Node = {
  /** Stops taking requests, waits until running ones end and settle, then closes everything, the database last. */
  stop(): Promise<void>;
};

export type NodeOutput = {
  out(text: string): void;
  /** Called with the log as soon as there is one. */
  onLog(logger: EventLogger): void;
};

const STANDARD_OUTPUT = 1;
/** A scrape that is being answered when the node stops may take so long. */
const LAST_SCRAPE_MS = 1_000;

/**
 * Starts everything and announces it. Errors: those of a part that does not start; the reason of `stopping` where the start still waits.
 * Nothing is left running then.
 */
export async function startNode(
  config: Config,
  output: NodeOutput,
  { logger, flush, linesLost }: ProcessLog = createLog(config.logLevel),
  stopping: AbortSignal = new AbortController().signal,
): Promise<Node> {
  // Closed in the opposite order: the servers first, the database last, each even if another fails.
  await using stack = new AsyncDisposableStack();
  output.onLog(logger);
  stack.defer(flush);
  for (const advice of config.fileAdvice()) logger.warn({ event: "config.file.open" }, advice);
  const receiver = config.backupSynchronous
    ? (await import("../compose/backup.ts")).synchronousReceiver({ config, logger })
    : null;
  stack.defer(() => receiver?.stop());
  const database = await openServiceDatabase(config, {
    onPrimary: primaryLog(logger),
    onReadSource: readSourceLog(logger),
    onSchemaWait: schemaWaitLog(logger),
    ...receiver?.open,
  });
  stack.defer(() => database.close());
  // Behind the last commit, and before the server ends.
  stack.defer(() => receiver?.stop());
  await receiver?.requireWaiting(database.pool);
  await waitForStandby({ config, database, logger, stopping });
  await claimPurpose(database.pool, config.demo ? "demo" : "production");
  await prepareSecrets(database, config, logger);
  const serving = await startAll();
  const metrics = createMetricsServer(serving.registry, config.metricsTls);
  stack.defer(() => metrics.close(LAST_SCRAPE_MS));
  stack.defer(() => serving.stop());
  const { grpcHost, metricsHost, metricsTls } = config;
  const metricsPort = await metrics.listen({ host: metricsHost, port: config.metricsPort });
  const ports = { ...serving.ports, metricsPort };
  const demo = config.demo ? await prepareDemo(database) : null;
  const upstreams = ignoredUpstreams(config);
  if (upstreams.length > 0)
    logger.warn(
      { event: "demo.upstreams.ignored", upstreams },
      "a demo calls no real upstream without SALDO_DEMO_ALLOW=upstreams",
    );
  if (!config.payments.sandbox) await closeOrders(database, "sandbox");
  const baseUrl = baseUrlOf(config, ports.httpPort);
  const setUpLink = config.demo ? null : await prepareForPeople(database, { config, baseUrl, logger });
  const setUpFile = setUpLink === null || isatty(STANDARD_OUTPUT) ? null : await writeSetUpLink(config, setUpLink);
  announce({ baseUrl, grpcHost, metricsHost, metricsTls, ports, demo, setUpLink, setUpFile, output });
  logger.info(
    { event: "process.serving", ...ports, pid: process.pid, demo: config.demo, workers: config.workers },
    "serving",
  );
  flush();
  const started = stack.move();
  return { stop: () => started.disposeAsync() };

  // Each is loaded only where it is used: a primary has no servers of its own, and a single process no workers.
  async function startAll(): Promise<Serving> {
    if (config.workers > 1) return (await import("./primary.ts")).startWorkers({ config, logger, linesLost, receiver });
    return (await import("../compose/app.ts")).startServing({
      config,
      database,
      logger,
      linesLost,
      receiver,
      worksForNode: true,
    });
  }
}

/** What a service that is no demo does about people before it announces itself. Gives a link where there is no operator. */
async function prepareForPeople(
  { pool }: Database,
  { config, baseUrl, logger }: { config: Config; baseUrl: string; logger: EventLogger },
): Promise<string | null> {
  if (config.smtpUrl === null)
    logger.warn(
      { event: "identity.mail.unset" },
      "SMTP_URL is not set: signing up and resetting a password do not work",
    );
  return (await hasOperator(pool)) ? null : inviteOperator(pool, baseUrl);
}

/** Writes the link where only the owner of the service reads it. Gives the file. */
async function writeSetUpLink({ dataDir }: Config, link: string): Promise<string> {
  const file = join(dataDir, "operator-link");
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  // One that is there may be open to others, or lead elsewhere.
  await rm(file, { force: true });
  await writeFile(file, `${link}\n`, { mode: 0o600, flag: "wx" });
  return file;
}
