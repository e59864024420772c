// The process of one worker, forked by primary.ts with its number as its only argument. It serves until a message stops it, or
// until its primary is gone: then it gets no more connections, and it must not linger.

import cluster from "node:cluster";
import { flushCompileCache } from "node:module";
import process from "node:process";
import { openServiceDatabase } from "../compose/database.ts";
import { ignoreLostOutput, watchFaults } from "./last-resort.ts";
import { primaryLog, readSourceLog, schemaWaitLog } from "../observability/events.ts";
import { createLog } from "../observability/log.ts";
import { type FromWorker, isToWorker, WORKS_FOR_NODE } from "./messages.ts";
import { startServing } from "../compose/app.ts";
import { takeConfig } from "../config/config.ts";

const number = Number(process.argv[2]);
const stopRequested = Promise.withResolvers<void>();

// A signal from a terminal reaches the workers too; the primary decides what they do.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => stopRequested.resolve());
process.on("message", (message) => {
  if (isToWorker(message) && message.kind === "stop") stopRequested.resolve();
});
cluster.worker?.once("disconnect", () => {
  // Otherwise node:cluster would end the process on the spot, with requests running.
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
  stopRequested.resolve();
});

process.exit(await work());

async function work(): Promise<number> {
  const config = takeConfig();
  const { logger, flush, linesLost } = createLog(config.logLevel, { worker: number });
  ignoreLostOutput();
  const faults = watchFaults(config);
  faults.logTo(logger);
  try {
    await using stack = new AsyncDisposableStack();
    const database = await openServiceDatabase(config, {
      asWorker: true,
      onPrimary: primaryLog(logger),
      onReadSource: readSourceLog(logger),
      onSchemaWait: schemaWaitLog(logger),
    });
    stack.defer(() => database.close());
    const serving = await startServing({
      config,
      database,
      logger,
      linesLost,
      worksForNode: number === WORKS_FOR_NODE,
    });
    stack.defer(() => serving.stop());
    serving.registry.setDefaultLabels({ worker: String(number) });
    process.on("message", (message) => {
      if (!isToWorker(message) || message.kind !== "send metrics") return;
      // A collector that fails leaves this worker out of the scrape.
      serving.registry.getMetricsAsJSON().then(
        (metrics) => void send({ kind: "metrics", metrics }),
        (err: unknown) => logger.error({ event: "process.metrics.failed", err }, "the metrics could not be read"),
      );
    });
    await send({ kind: "serving", ports: serving.ports });
    flushCompileCache();
    logger.info({ event: "process.worker.serving", pid: process.pid }, "worker serving");
    const hasFault = await Promise.race([stopRequested.promise.then(() => false), faults.first.then(() => true)]);
    return hasFault ? 1 : 0;
  } catch (err) {
    logger.error({ event: "process.worker.failed", err }, "the worker failed");
    await send({ kind: "failed", reason: err instanceof Error ? err.message : String(err) });
    return 1;
  } finally {
    flush();
  }
}

/** Sends a message to the primary; returns when it is sent. */
async function send(message: FromWorker): Promise<void> {
  // Without a primary there is no receiver.
  if (process.connected) await new Promise((sent) => process.send?.(message, undefined, undefined, sent));
}
