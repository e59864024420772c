// The service goes on when its log cannot be written: on a full disk, and with a reader that has gone or has stopped reading.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { constants, closeSync, openSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

const ENTRY = fileURLToPath(new URL("../../src/main.js", import.meta.url));
/** More than a pipe holds: each request is a line of some 200 bytes. */
const REQUESTS = 800;
/** A stop without running requests takes about a second. Without a bound on the log's last write it takes for ever. */
const STOPS_WITHIN_MS = 15_000;

/** A bound, not a promise: machines that test are busy. */
const STARTS_WITHIN_MS = 60_000;

type Service = { readonly child: ChildProcess; readonly httpUrl: string; readonly metricsUrl: string };

vi.setConfig({ testTimeout: 2 * STARTS_WITHIN_MS });

let own: TestDatabase;
let folder: string;
const children: ChildProcess[] = [];
beforeAll(async () => {
  own = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), `saldo-log-${process.pid}-`));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});
afterAll(async () => {
  await own.drop();
  await rm(folder, { recursive: true, force: true });
});

it("answers, counts the lines and stops in order while the disk under its log is full", async () => {
  const full = openSync("/dev/full", "w");
  const child = serve("pipe", full);
  closeSync(full);
  const service = await announcedBy(child, child.stdout);
  await sendRequests(service);
  await expect.poll(() => lostLines(service), { timeout: 10_000 }).toBeGreaterThanOrEqual(REQUESTS);
  expect(await stop(service)).toBe(0);
});

it("goes on and stops in order when the reader of its output is killed", async () => {
  const { reader, end, lines } = openPipe("killed");
  const child = serve(end, end);
  closeSync(end);
  const service = await announcedBy(child, lines);
  const gone = once(reader, "exit");
  reader.kill("SIGKILL");
  await gone;
  await sendRequests(service);
  await expect.poll(() => lostLines(service), { timeout: 10_000 }).toBeGreaterThanOrEqual(REQUESTS);
  expect(await stop(service)).toBe(0);
});

it("goes on and stops in order while the reader of its output does not read", async () => {
  const { reader, end, lines } = openPipe("stopped");
  const child = serve(end, end);
  closeSync(end);
  const service = await announcedBy(child, lines);
  reader.kill("SIGSTOP");
  await sendRequests(service);
  expect((await fetch(`${service.httpUrl}/healthz`)).status).toBe(200);
  expect(await stop(service)).toBe(0);
});

/** Starts the service with these as its standard output and error. */
function serve(out: "pipe" | number, err: number): ChildProcess {
  const ports = { SALDO_HTTP_PORT: "0", SALDO_GRPC_PORT: "0", SALDO_METRICS_PORT: "0" };
  const child = spawn(process.execPath, [ENTRY, "serve"], {
    env: {
      PATH: process.env["PATH"],
      NODE_NO_WARNINGS: "1",
      DATABASE_URL: own.url,
      SALDO_DATA_DIR: folder,
      SALDO_DEMO_ALLOW: "database",
      ...ports,
    },
    stdio: ["ignore", out, err],
  });
  children.push(child);
  return child;
}

/** A pipe as a shell makes one, with a process that reads it. Node's own are pairs of sockets. */
function openPipe(name: string): { reader: ChildProcess; end: number; lines: Readable } {
  const path = join(folder, name);
  execFileSync("mkfifo", [path]);
  const reader = spawn("cat", [path], { stdio: ["ignore", "pipe", "ignore"] });
  children.push(reader);
  // Opened for both, so that it does not wait for the reader.
  const both = openSync(path, constants.O_RDWR);
  const end = openSync(path, constants.O_WRONLY);
  void once(reader.stdout, "readable").then(() => closeSync(both));
  return { reader, end, lines: reader.stdout };
}

/** Waits for the announcement, which names the addresses. */
async function announcedBy(child: ChildProcess, output: Readable | null): Promise<Service> {
  if (output === null) throw new Error("the output can be read");
  const printed: string[] = [];
  createInterface(output).on("line", (line) => printed.push(line));
  const find = (form: RegExp): string | undefined => form.exec(printed.join("\n"))?.[1];
  const isDecided = () => find(/metrics +(http:\S+)\/metrics/) !== undefined || child.exitCode !== null;
  await expect.poll(isDecided, { timeout: STARTS_WITHIN_MS }).toBe(true);
  const [httpUrl, metricsUrl] = [find(/dashboard +(http:\S+)\//), find(/metrics +(http:\S+)\/metrics/)];
  if (httpUrl === undefined || metricsUrl === undefined) throw new Error(`not serving:\n${printed.join("\n")}`);
  return { child, httpUrl, metricsUrl };
}

/** Sends requests that are logged with a line each. */
async function sendRequests({ httpUrl }: Service): Promise<void> {
  const send = async (): Promise<void> => {
    for (let sent = 0; sent < REQUESTS / 8; sent += 1) {
      const answer = await fetch(`${httpUrl}/v1/models`, { headers: { authorization: "Bearer gw_wrong" } });
      await answer.arrayBuffer();
      // The limit of wrong credentials refuses most of them.
      expect([401, 429]).toContain(answer.status);
    }
  };
  await Promise.all(Array.from({ length: 8 }, send));
}

async function lostLines({ metricsUrl }: Service): Promise<number> {
  const scraped = await (await fetch(`${metricsUrl}/metrics`)).text();
  return Number(/^saldo_log_lines_lost_total (\d+)$/m.exec(scraped)?.[1]);
}

/** Stops the service and gives its exit code. */
async function stop({ child }: Service): Promise<number | null> {
  const exit = once(child, "exit", { signal: AbortSignal.timeout(STOPS_WITHIN_MS) });
  child.kill("SIGTERM");
  const [code] = (await exit) as [number | null];
  return code;
}
