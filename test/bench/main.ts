// npm run bench -- [--only direct,raw,fastify-parse,ours,two-workers,untraced,traced-1,traced-all,unlimited,
//                         key-budgets,budgeted,with-standby,two-cells]
//                  [--points 1,32,256,streams,body,agent,messages,…]
//                  [--rounds N] [--seconds N] [--accounts N] [--warm-up N] [--connections N] [--quick] [--out FILE]
// Measures our gateway, billing on, beside two proxies that bill no account. How to read it: README.md in this folder.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { newSecretToken } from "../../src/kernel/secret-token.ts";
import { startListener } from "./child.ts";
import { startGateway, type Gateway } from "./gateway.ts";
import { checkGoals } from "./goals.ts";
import { GROWN_POINTS, GROWN_RECORDS, loadPoints } from "./load-points.ts";
import { printGoals, printTables } from "./report.ts";
import { runRounds, type Results, warmUp } from "./rounds.ts";
import {
  BESIDE,
  hasOwnDatabase,
  hasOwnKeys,
  isBeside,
  OUR_NAMES,
  TARGET_NAMES,
  type Target,
  type TargetName,
  WITH_BUDGETS,
  WITH_OWN_DATABASES,
  type WithOwnDatabase,
} from "./target.ts";

const { values: flags } = parseArgs({
  options: {
    only: { type: "string", default: TARGET_NAMES.join(",") },
    points: { type: "string", default: "1,32,256,streams,body" },
    rounds: { type: "string" },
    seconds: { type: "string" },
    accounts: { type: "string", default: "1000" },
    "warm-up": { type: "string" },
    connections: { type: "string" },
    quick: { type: "boolean", default: false },
    out: { type: "string" },
  },
});

const KEYS_WITHOUT_GATEWAY = 1000;
const WARM_UP_REQUESTS = 100_000;
const QUICK_WARM_UP_REQUESTS = 5_000;

/** Spans are exported every few seconds. */
const EXPORTED_WITHIN_MS = 30_000;

const stack = new AsyncDisposableStack();
let collector: Promise<URL> | null = null;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(1)));
}
try {
  process.exitCode = (await bench()) ? 0 : 1;
} finally {
  await stack.disposeAsync();
}

/** Whether every answer was right and, if our gateway took part, its books balance. Missing a goal is no failure. */
async function bench(): Promise<boolean> {
  const startedAt = performance.now();
  const names = chosen(flags.only.split(","), TARGET_NAMES);
  const points = loadPoints(flags.quick);
  const pointNames = chosen(
    flags.points.split(","),
    points.map(({ name }) => name),
  );
  const accounts = count("accounts", flags.accounts) ?? 1;
  const upstream = await startListener("mock-upstream.ts");
  stack.defer(upstream.stop);
  const chosenPoints = points.filter(({ name }) => pointNames.includes(name));
  const used = names.filter((name) => chosenPoints.some(({ targets }) => targets.includes(name)));
  const gateway = used.some((name) => OUR_NAMES.includes(name))
    ? await startGateway(
        { upstream: upstream.origin, accounts, collector: startCollector, ownKeys: used.filter(hasOwnKeys) },
        stack,
      )
    : null;
  // Each has the keys of the first, which are those of the run.
  const others = new Map<WithOwnDatabase, Gateway>();
  let keys = gateway?.keys;
  for (const name of used.filter(hasOwnDatabase)) {
    const secrets = keys === undefined ? {} : { secrets: keys };
    const common = { upstream: upstream.origin, accounts, collector: startCollector, ...secrets };
    const other = await startGateway({ ...common, ...WITH_OWN_DATABASES[name] }, stack);
    others.set(name, other);
    keys ??= other.keys;
  }
  keys ??= Array.from({ length: KEYS_WITHOUT_GATEWAY }, () => newSecretToken("gw_"));
  const measure = {
    rounds: count("rounds", flags.rounds) ?? (flags.quick ? 1 : 3),
    seconds: count("seconds", flags.seconds) ?? (flags.quick ? 1 : 2.5),
    warmUpSeconds: flags.quick ? 0.4 : 1,
    warmUpRequests: count("warm-up", flags["warm-up"]) ?? (flags.quick ? QUICK_WARM_UP_REQUESTS : WARM_UP_REQUESTS),
    mostConnections: count("connections", flags.connections) ?? Infinity,
    upstream: upstream.origin,
    targets: await startTargets(used, upstream.origin, { gateway, others }, keys),
    keys,
    hotKeys: gateway?.hotKeys ?? keys,
    startAudits: gateway?.startAudits ?? (() => Promise.resolve(() => Promise.resolve())),
  };
  const [grown, small] = [chosenPoints.filter(isGrown), chosenPoints.filter((point) => !isGrown(point))];
  const results = await warmUp({ ...measure, points: [] });
  for (const [point, samples] of await runRounds({ ...measure, points: small })) results.set(point, samples);
  if (gateway !== null && grown.length > 0) {
    await gateway.grow(GROWN_RECORDS);
    for (const [point, samples] of await runRounds({ ...measure, points: grown })) results.set(point, samples);
  }
  printTables(results, points);
  const goals = checkGoals(results);
  printGoals(goals);
  const problems = failures(results);
  if (gateway !== null) problems.push(...(await gateway.findDifferences(answered(results, OUR_NAMES))));
  if (gateway !== null && used.some((name) => WITH_BUDGETS.includes(name)))
    problems.push(
      ...(await gateway.findUncounted({
        keys: answered(results, WITH_BUDGETS),
        members: answered(results, ["budgeted"]),
      })),
    );
  for (const [name, other] of others) problems.push(...(await other.findDifferences(answered(results, [name]))));
  problems.push(...(await missingTraces(used)));
  if (flags.out !== undefined) await writeFile(flags.out, asJson(results, goals, problems));
  console.log(
    `\n${answered(results, [...OUR_NAMES, ...others.keys()])} requests billed; ${Math.round((performance.now() - startedAt) / 1000)} s.`,
  );
  for (const problem of problems) console.error(`WRONG: ${problem}`);
  return problems.length === 0;
}

async function startTargets(
  names: readonly TargetName[],
  upstream: URL,
  { gateway, others }: { gateway: Gateway | null; others: ReadonlyMap<WithOwnDatabase, Gateway> },
  keys: readonly string[],
): Promise<Target[]> {
  const folder = await mkdtemp(join(tmpdir(), "saldo-bench-keys-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const keyFile = join(folder, "keys");
  await writeFile(keyFile, keys.join("\n"), { mode: 0o600 });
  const start = async (name: TargetName): Promise<Target> => {
    if (name === "direct") return { name, origin: upstream, gateway: null, database: null };
    const other = hasOwnDatabase(name) ? others.get(name) : undefined;
    if (other !== undefined) return targetOf(name, other, other);
    if (!OUR_NAMES.includes(name)) {
      const proxy = await startListener("reference-proxies.ts", [name, "--upstream", upstream.href, "--keys", keyFile]);
      stack.defer(proxy.stop);
      return { name, origin: proxy.origin, gateway: { root: proxy.pid }, database: null };
    }
    if (gateway === null) throw new Error("our gateway was not started");
    if (isBeside(name)) return targetOf(name, await gateway.besideWith(BESIDE[name]), gateway);
    const own = hasOwnKeys(name) ? gateway.ownKeys.get(name) : undefined;
    return { ...targetOf(name, gateway, gateway), ...(own === undefined ? {} : { keys: own }) };
  };
  return Promise.all(names.map(start));
}

function targetOf(
  name: TargetName,
  { origin, pid }: Pick<Gateway, "origin" | "pid">,
  { databasePid }: Pick<Gateway, "databasePid">,
): Target {
  return { name, origin, gateway: { root: pid, without: databasePid }, database: { root: databasePid } };
}

/** Starts the collector of traces, once. */
function startCollector(): Promise<URL> {
  collector ??= startListener("trace-collector.ts").then(({ origin, stop }) => {
    stack.defer(stop);
    return origin;
  });
  return collector;
}

/** What is wrong with the traces: of a process that traces all requests, the collector has received some. */
async function missingTraces(used: readonly TargetName[]): Promise<string[]> {
  if (!used.includes("traced-all")) return [];
  const url = new URL("/bench/counters", await startCollector());
  for (const deadline = performance.now() + EXPORTED_WITHIN_MS; performance.now() < deadline; await sleep(200)) {
    const counters = (await (await fetch(url)).json()) as { readonly bytes: number };
    if (counters.bytes > 0) return [];
  }
  return ["traced-all: no trace has come to the collector"];
}

function isGrown({ name }: { name: string }): boolean {
  return GROWN_POINTS.includes(name);
}

function failures(results: Results): string[] {
  return [...results].flatMap(([point, targets]) =>
    [...targets].flatMap(([target, samples]) =>
      samples
        .filter((sample) => sample.failures > 0)
        .map((sample) => `${target} at ${point}: ${sample.failures} failures, the first: ${sample.firstFailure}`),
    ),
  );
}

/** How many requests these targets have answered, on whose database they are billed. */
function answered(results: Results, names: readonly TargetName[]): number {
  const samples = [...results.values()].flatMap((targets) => names.flatMap((name) => targets.get(name) ?? []));
  return samples.reduce((sum, each) => sum + each.answered, 0);
}

function asJson(results: Results, goals: unknown, problems: readonly string[]): string {
  const points = Object.fromEntries([...results].map(([point, targets]) => [point, Object.fromEntries(targets)]));
  return `${JSON.stringify({ flags, points, goals, problems }, null, 1)}\n`;
}

function chosen<Name extends string>(wanted: readonly string[], known: readonly Name[]): Name[] {
  const unknown = wanted.find((name) => !known.some((other) => other === name));
  if (unknown !== undefined) throw new Error(`${unknown} is not one of ${known.join(", ")}`);
  return known.filter((name) => wanted.includes(name));
}

function count(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} takes a number above zero`);
  return value;
}
