// Every round runs every target once at every load point, in turns, so that whatever else the machine does meets all of
// them alike. The order is reversed every second round; the first round warms up twice as long.

import { setTimeout as sleep } from "node:timers/promises";
import type { RequestKind } from "./chat-request.ts";
import type { LoadResult } from "./closed-loop.ts";
import { runLoad } from "./load.ts";
import { meterProcesses, type Metered } from "./process-meter.ts";
import { runSseLoad } from "./sse-load.ts";
import type { Target, TargetName } from "./target.ts";

/** One way to load a target. */
export type LoadPoint = {
  readonly name: string;
  readonly title: string;
  readonly connections: number;
  /** Left out: a short chat. */
  readonly kind?: RequestKind;
  readonly bodyKb: number;
  /** Null for answers in one piece. */
  readonly stream: { readonly chunks: number; readonly delayMs: number } | null;
  readonly targets: readonly TargetName[];
  /** Whose keys are used; left out: those of the run. */
  readonly keysOf?: "one account";
  /** Another task of the gateway's database during the load. */
  readonly beside?: "audit";
};

/** The result of one target at one load point in one round. A unit is a request, or 1 000 chunks of a stream. */
export type Sample = {
  readonly perSecond: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  readonly gatewayCpuMs: number | null;
  readonly databaseCpuMs: number | null;
  readonly loadCpuMs: number;
  readonly peakMb: number | null;
  readonly answered: number;
  readonly failures: number;
  readonly firstFailure: string | null;
};

/** The samples of a target at a load point, one per round. */
export type Results = Map<string, Map<TargetName, Sample[]>>;

export type RoundOptions = {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** How many requests each gateway and proxy answers before the first round. */
  readonly warmUpRequests: number;
  readonly upstream: URL;
  readonly targets: readonly Target[];
  readonly points: readonly LoadPoint[];
  readonly keys: readonly string[];
  /** As many keys that are all of one account. */
  readonly hotKeys: readonly string[];
  /** The most connections at any point, the warm-up included. */
  readonly mostConnections: number;
  /** Starts audits, one after the other, and returns the function that ends them. */
  readonly startAudits: () => Promise<() => Promise<void>>;
};

const CHUNKS_PER_UNIT = 1000;
const KEYS_PER_CONNECTION = 4;
// Sockets close and garbage is collected before the next target is loaded.
const PAUSE_MS = 200;

/** The name under which the answers before the first round are kept: they are billed like the others. */
const WARM_UP = "warm-up";
const WARM_UP_CONNECTIONS = 256;
const WARM_UP_WINDOW_SECONDS = 2;

/**
 * A service runs for weeks, so the code that runs then is measured: Node compiles hot code in several steps, and takes
 * the last of them only after tens of thousands of requests.
 */
export async function warmUp(options: RoundOptions): Promise<Results> {
  const samples = new Map<TargetName, Sample[]>();
  const seconds = Math.min(WARM_UP_WINDOW_SECONDS, options.seconds);
  for (const target of options.targets.filter(({ gateway }) => gateway !== null)) {
    const ofTarget: Sample[] = [];
    for (let answered = 0; answered < options.warmUpRequests; answered += ofTarget.at(-1)?.answered ?? 0) {
      const sample = await runOnce(WARM_UP_POINT, target, { ...options, seconds }, 0);
      ofTarget.push(sample);
      if (sample.failures > 0) break;
    }
    samples.set(target.name, ofTarget);
    console.error(`${WARM_UP}  ${target.name}`);
  }
  return new Map([[WARM_UP, samples]]);
}

const WARM_UP_POINT: LoadPoint = {
  name: WARM_UP,
  title: "",
  connections: WARM_UP_CONNECTIONS,
  bodyKb: 0,
  stream: null,
  targets: [],
};

/** Runs all rounds, and prints the result of each load on standard error. */
export async function runRounds(options: RoundOptions): Promise<Results> {
  const results: Results = new Map();
  for (let round = 0; round < options.rounds; round++) {
    for (const point of options.points) {
      if (point.stream !== null) await configure(options.upstream, point.stream);
      const targets = options.targets.filter(({ name }) => point.targets.includes(name));
      for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
        const stopAudits = point.beside === "audit" ? await options.startAudits() : null;
        const sample = await runOnce(point, target, options, round === 0 ? 2 : 1);
        await stopAudits?.();
        const ofPoint = results.get(point.name) ?? new Map<TargetName, Sample[]>();
        results.set(point.name, ofPoint.set(target.name, [...(ofPoint.get(target.name) ?? []), sample]));
        const failed = sample.failures === 0 ? "" : `  ${sample.failures} FAILED: ${sample.firstFailure}`;
        console.error(`round ${round + 1}  ${point.name}  ${target.name}  ${sample.perSecond.toFixed(1)}/s${failed}`);
        await sleep(PAUSE_MS);
      }
    }
  }
  return results;
}

async function runOnce(point: LoadPoint, target: Target, options: RoundOptions, warmUps: number): Promise<Sample> {
  const connections = Math.min(point.connections, options.mostConnections);
  const load = {
    origin: target.origin,
    // A client keeps to a few keys. A thousand over one connection would measure how often a key is looked up again.
    keys: keysOf(point, target, options).slice(0, KEYS_PER_CONNECTION * connections),
    ...(point.kind === undefined ? {} : { kind: point.kind }),
    bodyKb: point.bodyKb,
    connections,
    seconds: options.seconds,
    meter: () => meterTarget(target),
  };
  if (point.stream === null) {
    const result = await runLoad({ ...load, warmUpSeconds: options.warmUpSeconds * warmUps });
    return toSample(result, result.completed);
  }
  const streamSeconds = (point.stream.chunks * point.stream.delayMs) / 1000;
  const result = await runSseLoad({ ...load, warmUpSeconds: streamSeconds });
  return toSample(result, result.events / CHUNKS_PER_UNIT);
}

function keysOf(point: LoadPoint, target: Target, options: RoundOptions): readonly string[] {
  return target.keys ?? (point.keysOf === "one account" ? options.hotKeys : options.keys);
}

function toSample(result: LoadResult<TargetMetered>, units: number): Sample {
  const { gateway, database } = result.metered;
  const msPerUnit = (cpuSeconds: number): number => (cpuSeconds * 1000) / units;
  // A load without an answer would divide by zero; it has failed, whatever it reports.
  if (units === 0) result.failures.add("nothing was answered");
  return {
    perSecond: units / result.seconds,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    gatewayCpuMs: gateway === null ? null : msPerUnit(gateway.cpuSeconds),
    databaseCpuMs: database === null ? null : msPerUnit(database.cpuSeconds),
    loadCpuMs: msPerUnit(result.loadCpuSeconds),
    peakMb: gateway?.peakMb ?? null,
    answered: result.answered,
    failures: result.failures.count,
    firstFailure: result.failures.first,
  };
}

type TargetMetered = { readonly gateway: Metered | null; readonly database: Metered | null };

function meterTarget(target: Target): () => TargetMetered {
  const stopGateway = target.gateway === null ? null : meterProcesses(target.gateway);
  const stopDatabase = target.database === null ? null : meterProcesses(target.database);
  return () => ({ gateway: stopGateway?.() ?? null, database: stopDatabase?.() ?? null });
}

async function configure(upstream: URL, stream: { chunks: number; delayMs: number }): Promise<void> {
  const url = new URL(`/bench/configure?chunks=${stream.chunks}&delayMs=${stream.delayMs}`, upstream);
  const response = await fetch(url);
  if (!response.ok) throw new Error("the mock upstream did not take its configuration");
}
