// Processes of `saldo` for the benchmark: one that serves, its commands, and audits beside a load.

import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { open, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import packageJson from "../../package.json" with { type: "json" };
import type { Database } from "../../src/database/database.ts";
import { freePorts } from "../setup/free-ports.ts";
import { startedPid, stopChild } from "./child.ts";

const run = promisify(execFile);
const PROJECT = new URL("../..", import.meta.url).pathname;
const READY_MS = 30_000;
const LOG_LINES = 20;

/** Starts a gateway on the folder's database and waits until it is ready. */
export async function startServing(
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

/** Runs a command, and returns what it prints as JSON. */
export async function runCommand(args: string[], env: NodeJS.ProcessEnv): Promise<Record<string, unknown>> {
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

/** A full audit of a grown database outlasts a load; where it does not, the next one follows. */
export async function auditUntilStopped(env: NodeJS.ProcessEnv, { pool }: Database): Promise<() => Promise<void>> {
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
