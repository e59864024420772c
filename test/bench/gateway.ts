// Our own gateway as an operator would run it: `saldo serve` in production mode on an embedded PostgreSQL in a folder
// of its own, with one upstream, one model, and accounts that can pay. Its bills are checked at the end.

import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase, type Database } from "../../src/database/database.ts";
import { PRODUCTION } from "../setup/saldo-process.ts";
import { giveKeyBudgets, giveMemberBudgets, newKeys, readSpent, seedKeys } from "./accounts.ts";
import { findDifferences } from "./books.ts";
import { growUsage } from "./grow.ts";
import { catalogYaml } from "./bench-catalog.ts";
import { costOfRequest } from "./price.ts";
import { parentOf } from "./process-meter.ts";
import { makeSecondCell, ON_SECOND_CELL, seedSecondCell, withSecondCell } from "./second-cell.ts";
import { auditUntilStopped, runCommand, startServing } from "./saldo-processes.ts";
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

const CREDIT_RUPIAH = 1_000_000_000n;
const KEYS = 1000;

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

async function postmasterPid(database: Database): Promise<number> {
  const { rows } = await database.pool.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  const postmaster = rows[0] === undefined ? null : parentOf(rows[0].pid);
  if (postmaster === null) throw new Error("a backend on this machine has a parent");
  return postmaster;
}
