// The primary of a node with several workers. It answers no caller: it forks the workers, deals the connections out to them
// in turn, starts another where one died, and adds their metrics up. A worker that is asked to stop, or whose primary is
// gone, drains by itself (worker.ts).

import cluster, { type Worker } from "node:cluster";
import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { collectDefaultMetrics, AggregatorRegistry, Counter, Gauge, Registry } from "prom-client";
import { addLogMetric } from "../observability/metrics.ts";
import type { Serving, ServingOptions } from "../compose/app.ts";
import { isFromWorker, type MetricObjects, type ToWorker, WORKS_FOR_NODE } from "./messages.ts";

const WORKER_ENTRY = fileURLToPath(new URL("./worker.ts", import.meta.url));
/** How long a worker may take to serve; the database may have to come back first. */
const SERVING_WITHIN_MS = 60_000;
/** A worker that dies is replaced after a pause, which doubles as long as its followers die young. */
const RESTART_PAUSE_MS = { first: 100, most: 10_000 } as const;
const YOUNG_MS = 30_000;
/** What a worker needs after its drain to settle what was running and to close. */
const SETTLE_AND_CLOSE_MS = 10_000;
/** A worker that does not send its metrics by then is left out of the scrape. */
const METRICS_WITHIN_MS = 2_000;

type Ports = Serving["ports"];
/** A place among the workers: its present worker, and how many in a row died soon after their start. */
type Place = { readonly number: number; worker: Worker; servingSince: number | null; diedYoung: number };

type PrimaryOptions = Pick<ServingOptions, "config" | "logger" | "linesLost" | "receiver">;

/** Starts the workers and waits until each of them serves. Errors: what kept the first from starting; none is left then. */
export async function startWorkers({ config, logger, linesLost, receiver }: PrimaryOptions): Promise<Serving> {
  const restarts = new AbortController();
  const places: Place[] = [];
  const registry = new Registry();
  const { serving, restarted } = nodeMetrics(registry, places);
  addLogMetric(registry, linesLost);
  if (receiver) (await import("../compose/backup.ts")).addBackupMetric(registry, receiver);

  // Only the worker that works for the node pays, so only it has the keys of wallets.
  const withoutKeys =
    config.chains.length === 0
      ? config.variables()
      : await (await import("../compose/payouts.ts")).withoutWalletKeys(config);
  const variablesOf = (number: number): Readonly<Record<string, string>> =>
    number === WORKS_FOR_NODE ? config.variables() : withoutKeys;

  async function take(place: Place): Promise<Ports> {
    const { worker } = place;
    worker.once("exit", (code, signal) => {
      if (restarts.signal.aborted) return;
      const livedMs = place.servingSince === null ? 0 : Date.now() - place.servingSince;
      place.diedYoung = livedMs < YOUNG_MS ? place.diedYoung + 1 : 0;
      place.servingSince = null;
      const pauseMs = Math.min(RESTART_PAUSE_MS.first * 2 ** place.diedYoung, RESTART_PAUSE_MS.most);
      const facts = { worker: place.number, code, signal, livedMs, pauseMs };
      logger.error({ event: "process.worker.ended", ...facts }, "a worker ended; another follows");
      restarted.inc({ worker: String(place.number) });
      const timer = setTimeout(() => {
        if (restarts.signal.aborted) return;
        place.worker = fork(place.number, variablesOf(place.number));
        // Its exit is another event, which leads here again.
        take(place).catch(() => {});
      }, pauseMs);
      restarts.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
    });
    const ports = await untilServing(worker);
    place.servingSince = Date.now();
    return ports;
  }

  async function stop(): Promise<void> {
    restarts.abort();
    const outcomes = await Promise.all(places.map(({ worker }) => stopWorker(worker, config.drainMs)));
    const bad = outcomes.filter((outcome) => outcome !== null);
    if (bad.length > 0) throw new Error(bad.join(" "));
  }

  for (let number = 1; number <= config.workers; number += 1) {
    places.push({ number, worker: fork(number, variablesOf(number)), servingSince: null, diedYoung: 0 });
  }
  try {
    const [ports] = await Promise.all(places.map(take));
    if (ports === undefined) throw new Error("a node has workers");
    const collect = () => collectFrom(serving());
    return {
      ports,
      registry: {
        contentType: registry.contentType,
        metrics: async () => AggregatorRegistry.aggregate(await collect()).metrics(),
        getMetricsAsJSON: async () => (await collect()).flat(),
      },
      stop,
    };
  } catch (error) {
    await stop().catch(() => {}); // why it could not start is the news
    throw error;
  }

  /** Every series has its worker's number as a label, so that nothing is added up and a counter restarts with its process. */
  function collectFrom(workers: readonly Worker[]): Promise<MetricObjects[]> {
    return Promise.all([registry.getMetricsAsJSON(), ...workers.map(metricsOf)]);
  }
}

function fork(number: number, variables: Readonly<Record<string, string>>): Worker {
  // execArgv goes on as it is: a worker has the V8 flags of its primary.
  cluster.setupPrimary({ exec: WORKER_ENTRY, args: [String(number)] });
  // Node returns the folder of its own version inside the given one.
  const compiled = getCompileCacheDir();
  // The settings are not in the environment of this process any more.
  return cluster.fork({ ...variables, ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) }) });
}

/** The primary's own metrics. */
function nodeMetrics(registry: Registry, places: readonly Place[]) {
  registry.setDefaultLabels({ worker: "primary" });
  collectDefaultMetrics({ register: registry });
  const serving = (): Worker[] => places.flatMap(({ worker, servingSince }) => (servingSince === null ? [] : [worker]));
  const gauge: Gauge = new Gauge({
    name: "saldo_workers_serving",
    help: "Workers that serve; alarm while below SALDO_WORKERS",
    registers: [registry],
    collect: () => gauge.set(serving().length),
  });
  const restarted = new Counter({
    name: "saldo_worker_restarts_total",
    help: "Workers that ended by themselves and were replaced; alarm when it rises",
    labelNames: ["worker"],
    registers: [registry],
  });
  return { serving, restarted };
}

/** Waits for a worker's message that it serves. Errors: the one that the worker sends, or that it ended. */
function untilServing(worker: Worker): Promise<Ports> {
  return new Promise<Ports>((resolve, reject) => {
    const giveUp = setTimeout(() => {
      worker.process.kill("SIGKILL");
      reject(new Error(`A worker did not serve within ${SERVING_WITHIN_MS} ms.`));
    }, SERVING_WITHIN_MS);
    const ended = (code: number | null, signal: string | null): void => {
      clearTimeout(giveUp);
      reject(new Error(`A worker ended with ${signal ?? code} before it served.`));
    };
    worker.once("exit", ended);
    worker.on("message", function listen(message: unknown) {
      if (!isFromWorker(message) || message.kind === "metrics") return;
      clearTimeout(giveUp);
      worker.off("message", listen);
      worker.off("exit", ended);
      if (message.kind === "serving") resolve(message.ports);
      else reject(new Error(message.reason));
    });
  });
}

/** Stops a worker and waits for its end. Returns the failure, or null. */
function stopWorker(worker: Worker, drainMs: number): Promise<string | null> {
  const { pid, exitCode, signalCode } = worker.process;
  if (exitCode !== null || signalCode !== null) return Promise.resolve(null);
  return new Promise((resolve) => {
    const kill = setTimeout(() => worker.process.kill("SIGKILL"), drainMs + SETTLE_AND_CLOSE_MS);
    worker.once("exit", (code, signal) => {
      clearTimeout(kill);
      resolve(code === 0 ? null : `Worker ${pid} ended with ${signal ?? code}.`);
    });
    send(worker, { kind: "stop" });
  });
}

/** What a worker has measured; nothing when it is too busy, or gone. */
function metricsOf(worker: Worker): Promise<MetricObjects> {
  return new Promise((resolve) => {
    const done = (metrics: MetricObjects): void => {
      clearTimeout(giveUp);
      worker.off("message", listen);
      worker.off("exit", gone);
      resolve(metrics);
    };
    const giveUp = setTimeout(() => done([]), METRICS_WITHIN_MS);
    const gone = (): void => done([]);
    const listen = (message: unknown): void => {
      if (isFromWorker(message) && message.kind === "metrics") done(message.metrics);
    };
    worker.on("message", listen);
    worker.once("exit", gone);
    send(worker, { kind: "send metrics" });
  });
}

function send(worker: Worker, message: ToWorker): void {
  // A worker that gets no more messages is ending, and its exit is waited for.
  if (worker.isConnected()) worker.send(message, () => {});
}
