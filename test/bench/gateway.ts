// Our own gateway as an operator would run it: `saldo serve` in production mode on an embedded PostgreSQL in a folder
// of its own, with one upstream, one model, and accounts that can pay. Its bills are checked at the end.

import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import packageJson from "../../package.json" with { type: "json" };
import { openDatabase, type Database } from "../../src/database/database.ts";
import { freePorts } from "../setup/free-ports.ts";
import { PRODUCTION } from "../setup/saldo-process.ts";
import { giveKeyBudgets, giveMemberBudgets, newKeys, readSpent, seedKeys } from "./accounts.ts";
import { findDifferences } from "./books.ts";
import { growUsage } from "./grow.ts";
import { MESSAGES_MODEL_ID, MODEL_ID, RESPONSES_MODEL_ID } from "./chat-request.ts";
import { startedPid, stopChild } from "./child.ts";
import { costOfRequest, PRICE } from "./price.ts";
import { parentOf } from "./process-meter.ts";
import { makeSecondCell, ON_SECOND_CELL, seedSecondCell, withSecondCell } from "./second-cell.ts";
import type { GatewaySettings, WithOwnKeys } from "./target.ts";

/** A running gateway with keys whose accounts can pay for every request of the benchmark. */
export type Gateway = {
  readonly origin: URL;
  readonly pid: number;
  readonly databasePid: number;
  readonly keys: readonly string[];
  /** As many keys of one account. */
  readonly hotKeys: readonly string[];
  /** As many keys on as many other accounts, for each target that was asked for. */
  readonly ownKeys: ReadonlyMap<WithOwnKeys, readonly string[]>;
  /** How the budgets differ from what so many answered requests cost; empty when they do not. */
  readonly findUncounted: (answered: AnsweredWithBudgets) => Promise<string[]>;
  /** Adds so many usage records to the database. */
  readonly grow: (records: number) => Promise<void>;
  /** Runs `saldo audit --full` repeatedly until the returned function is called. */
  readonly startAudits: () => Promise<() => Promise<void>>;
  /** Starts another one on the same database, and adds its stop to the stack. */
  readonly besideWith: (settings: GatewaySettings) => Promise<{ readonly origin: URL; readonly pid: number }>;
  /** The differences in the books after so many answered requests; empty when there are none. */
  readonly findDifferences: (answered: number) => Promise<string[]>;
};

const run = promisify(execFile);
const PROJECT = new URL("../..", import.meta.url).pathname;
const CREDIT_RUPIAH = 1_000_000_000n;
const KEYS = 1000;
const READY_MS = 30_000;
const LOG_LINES = 20;

/**
 * Starts the gateway and adds its stop to the stack, also when the start fails half-way. Keys are distributed over so
 * many accounts.
 */
export async function startGateway(
  options: {
    upstream: URL;
    accounts: number;
    /** Starts the collector of traces, once. */
    collector: () => Promise<URL>;
    /** Whether commits wait for the receiver of the log. */
    synchronous?: boolean;
    /** Whether there is a second cell, which has half of the keys. */
    cells?: boolean;
    /** The keys of another gateway, which are issued here, too. */
    secrets?: readonly string[];
    /** Targets with keys of their own. */
    ownKeys?: readonly WithOwnKeys[];
  },
  stack: AsyncDisposableStack,
): Promise<Gateway> {
  const folder = await mkdtemp(join(tmpdir(), "saldo-bench-"));
  // The embedded server runs as a user without rights when we are root, and has to pass through.
  await chmod(folder, 0o755);
  const dataDir = join(folder, "data");
  const second = options.cells === true ? await makeSecondCell(dataDir) : null;
  const environment = {
    PATH: process.env["PATH"],
    HOME: process.env["HOME"],
    ...PRODUCTION,
    SALDO_DATA_DIR: dataDir,
    BENCH_UPSTREAM_API_KEY: "bench",
    ...(options.synchronous === true ? confirming(folder) : {}),
    ...(second === null ? {} : withSecondCell(second)),
    ...tuning(),
  };
  const saldo = (...args: string[]) => runCommand(args, environment);
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "catalog.yaml"), catalogYaml(options.upstream));
  await saldo("catalog", "apply", join(folder, "catalog.yaml"));
  const start = async ({ workers, traces }: GatewaySettings) => {
    const collector = traces === null ? {} : tracesTo(await options.collector(), traces);
    const log = join(folder, `log-${workers}-${traces ?? "off"}-${(started += 1)}`);
    return startServing({ environment: { ...environment, ...collector }, log, workers }, stack);
  };
  let started = 0;
  const { origin, pid } = await start({ workers: 1, traces: null });
  // This session ends before the gateway does: an embedded server is not stopped while it has other clients.
  const database = await openDatabase({ dataDir, applicationName: "bench" });
  stack.defer(() => database.close());
  const { accountId, key } = await openPayingAccount(saldo);
  const credit = CREDIT_RUPIAH * 1_000_000n;
  const { accounts } = options;
  const secrets = options.secrets ?? newKeys(KEYS);
  const isElsewhere = (index: number): boolean => second !== null && index % 2 === 1;
  const accountIds = accounts === 1 ? [accountId] : null;
  const here = secrets.filter((_, index) => !isElsewhere(index));
  let credited = credit + (await seedKeys(database.pool, { accountIds, accounts, secrets: here, credit }));
  const books = [database.pool];
  if (second !== null) {
    const opened = await openDatabase({ dataDir, url: second, applicationName: "bench" });
    stack.defer(() => opened.close());
    const elsewhere = secrets.filter((_, index) => isElsewhere(index));
    credited += await seedSecondCell({ home: database, second: opened }, { secrets: elsewhere, accounts, credit });
    books.push(opened.pool);
  }
  const ownKeys = new Map<WithOwnKeys, readonly string[]>();
  for (const name of options.ownKeys ?? []) {
    const own = newKeys(KEYS);
    credited += await seedKeys(database.pool, { accountIds: null, accounts, secrets: own, credit });
    ownKeys.set(name, own);
    if (name !== "unlimited") await giveKeyBudgets(database.pool, own, credit);
    if (name === "budgeted") await giveMemberBudgets(database.pool, own, credit);
  }
  const hotKeys = newKeys(KEYS);
  await seedKeys(database.pool, { accountIds: [accountId], accounts: 1, secrets: hotKeys, credit });
  return {
    origin,
    pid,
    databasePid: await postmasterPid(database),
    keys: options.secrets ?? [key, ...secrets],
    hotKeys,
    ownKeys,
    findUncounted: (answered) => findUncounted(database, answered),
    grow: (records) => growUsage(database, records),
    startAudits: () => auditUntilStopped(environment, database),
    besideWith: start,
    findDifferences: async (answered) => [
      ...(await findDifferences(books, { answered, credited })),
      ...(await auditViolations(saldo)),
      ...(second === null ? [] : await auditViolations((...words) => saldo(...words, ...ON_SECOND_CELL))),
    ],
  };
}

/** How many requests were answered whose key has a budget, and whose maker has one. */
type AnsweredWithBudgets = { readonly keys: number; readonly members: number };

async function findUncounted({ pool }: Database, answered: AnsweredWithBudgets): Promise<string[]> {
  const { keys, members, held, heldOfMembers } = await readSpent(pool);
  const found = { keys, members, held: held + heldOfMembers };
  const wanted = {
    keys: BigInt(answered.keys) * costOfRequest(),
    members: BigInt(answered.members) * costOfRequest(),
    held: 0n,
  };
  return (["keys", "members", "held"] as const)
    .filter((what) => found[what] !== wanted[what])
    .map((what) => `budgets, ${what}: ${found[what]} instead of ${wanted[what]}`);
}

/** Settings by which nothing is acknowledged before its log is durable in another folder. */
function confirming(folder: string): NodeJS.ProcessEnv {
  return {
    SALDO_BACKUP_KEY: "a key of the benchmark that is long enough",
    SALDO_BACKUP_DIR: join(folder, "backup"),
    SALDO_BACKUP_SYNCHRONOUS: "1",
  };
}

/** Starts a gateway on the folder's database and waits until it is ready. */
async function startServing(
  { environment, log, workers }: { environment: NodeJS.ProcessEnv; log: string; workers: number },
  stack: AsyncDisposableStack,
): Promise<{ origin: URL; pid: number }> {
  const [http, grpc, metrics] = await freePorts(3);
  const ports = { SALDO_HTTP_PORT: `${http}`, SALDO_GRPC_PORT: `${grpc}`, SALDO_METRICS_PORT: `${metrics}` };
  const child = await serve({ ...environment, ...ports, SALDO_WORKERS: String(workers) }, log);
  stack.defer(async () => {
    const code = await stopChild(child);
    if (code !== 0) console.error(`saldo serve ended with ${code} instead of 0`);
  });
  const origin = new URL(`http://127.0.0.1:${http}`);
  await untilReady(origin, child, log);
  return { origin, pid: startedPid(child) };
}

function tracesTo(collector: URL, percent: number): NodeJS.ProcessEnv {
  return { SALDO_TRACES_ENDPOINT: new URL("/v1/traces", collector).href, SALDO_TRACES_PERCENT: String(percent) };
}

// The gateway gets nothing of the caller's environment but the settings that are worth comparing.
function tuning(): NodeJS.ProcessEnv {
  const names = ["SALDO_LANES", "SALDO_LOG_LEVEL", "NODE_OPTIONS"];
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

type Command = (...args: string[]) => Promise<Record<string, unknown>>;

async function openPayingAccount(saldo: Command): Promise<{ accountId: string; key: string }> {
  const { accountId } = await saldo("account", "create", "--email", "bench@example.com");
  const amount = String(CREDIT_RUPIAH);
  await saldo(
    "account",
    "credit",
    "--account",
    String(accountId),
    "--amount",
    amount,
    "--reason",
    "bench",
    "--reference",
    String(accountId),
  );
  const { key } = await saldo("key", "create", "--account", String(accountId), "--name", "bench", "--rate-limit", "0");
  return { accountId: String(accountId), key: String(key) };
}

async function auditViolations(saldo: Command): Promise<string[]> {
  const report = await saldo("audit", "--full", "--hurry");
  return report["ok"] === true ? [] : [`saldo audit: ${JSON.stringify(report["violations"] ?? report).slice(0, 2000)}`];
}

/** A full audit of a grown database outlasts a load; where it does not, the next one follows. */
async function auditUntilStopped(env: NodeJS.ProcessEnv, { pool }: Database): Promise<() => Promise<void>> {
  const begun = async () =>
    (await pool.query("SELECT started_at::text FROM audit_run WHERE kind = 'full'")).rows[0]?.started_at;
  const before = await begun();
  let stopped = false;
  let child: ChildProcess;
  const audits = (async () => {
    while (!stopped) {
      child = spawn(process.execPath, ["src/main.js", "audit", "--full"], { cwd: PROJECT, env, stdio: "ignore" });
      await once(child, "exit");
    }
  })();
  // The start of a process is not what is measured.
  for (const deadline = Date.now() + READY_MS; (await begun()) === before; await sleep(50)) {
    if (Date.now() > deadline) throw new Error("the audit did not begin");
  }
  return async () => {
    stopped = true;
    child.kill();
    await audits;
  };
}

async function runCommand(args: string[], env: NodeJS.ProcessEnv): Promise<Record<string, unknown>> {
  const { stdout } = await run(process.execPath, ["src/main.js", ...args, "--json"], { cwd: PROJECT, env }).catch(
    (error: unknown) => {
      // An audit with findings exits 1 and prints them on standard output.
      if (args[0] === "audit" && error instanceof Error && "stdout" in error && error.stdout !== "") {
        return { stdout: String(error.stdout) };
      }
      throw error;
    },
  );
  return JSON.parse(stdout);
}

// The log goes to a file, as under a service manager: that switches it to JSON lines, and its cost is part of the result.
async function serve(env: NodeJS.ProcessEnv, logFile: string): Promise<ChildProcess> {
  const log = await open(logFile, "a");
  // With the flags of `npm start`, but without npm in between: its process would be counted, too.
  const args = packageJson.scripts.start.split(" ").slice(["exec", "node"].length);
  const child = spawn(process.execPath, args, {
    cwd: PROJECT,
    env,
    stdio: ["ignore", log.fd, log.fd],
  });
  await log.close();
  return child;
}

async function untilReady(origin: URL, child: ChildProcess, logFile: string): Promise<void> {
  for (const deadline = Date.now() + READY_MS; Date.now() < deadline; await sleep(50)) {
    if (child.exitCode !== null) break;
    const ready = await fetch(new URL("/readyz", origin)).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) return;
  }
  const lines = (await readFile(logFile, "utf8")).trimEnd().split("\n").slice(-LOG_LINES);
  await stopChild(child);
  throw new Error(`saldo serve did not become ready:\n${lines.join("\n")}`);
}

async function postmasterPid(database: Database): Promise<number> {
  const { rows } = await database.pool.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  const postmaster = rows[0] === undefined ? null : parentOf(rows[0].pid);
  if (postmaster === null) throw new Error("a backend on this machine has a parent");
  return postmaster;
}

function catalogYaml(upstream: URL): string {
  return `
upstreams:
  - id: bench
    kind: openai-compatible
    base_url: "${new URL("/v1", upstream).href}"
    api_key_env: BENCH_UPSTREAM_API_KEY
    allow_private_address: true
  - id: bench-messages
    kind: anthropic
    base_url: "${upstream.origin}"
    api_key_env: BENCH_UPSTREAM_API_KEY
    allow_private_address: true
  - id: bench-responses
    kind: openai-responses
    base_url: "${new URL("/v1", upstream).href}"
    api_key_env: BENCH_UPSTREAM_API_KEY
    allow_private_address: true
models:
  - id: ${MODEL_ID}
    name: Bench Large
    description: What the benchmark asks.
    input_modalities: [text]
    context_length: 131072
    max_output_tokens: 16384
    price: { input: "${PRICE.input}", output: "${PRICE.output}", cache_hit: "${PRICE.cacheHit}" }
    routes: [{ upstream: bench, model: bench-large-2026 }]
  - id: ${MESSAGES_MODEL_ID}
    name: Bench Messages
    description: What the benchmark asks as Messages.
    input_modalities: [text]
    context_length: 131072
    max_output_tokens: 16384
    price: { input: "${PRICE.input}", output: "${PRICE.output}", cache_hit: "${PRICE.cacheHit}", cache_write: "${PRICE.input}", cache_write_1h: "${PRICE.input}" }
    routes: [{ upstream: bench-messages, model: bench-messages-2026 }]
  - id: ${RESPONSES_MODEL_ID}
    name: Bench Responses
    description: What the benchmark asks as Responses.
    input_modalities: [text]
    context_length: 131072
    max_output_tokens: 16384
    price: { input: "${PRICE.input}", output: "${PRICE.output}", cache_hit: "${PRICE.cacheHit}" }
    routes: [{ upstream: bench-responses, model: bench-responses-2026 }]
`;
}
