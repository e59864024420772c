// A start while commits wait for a standby that is not there: it answers 503 instead of ending, and begins when one confirms.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLog } from "../../src/app/observability/log.ts";
import { readConfig } from "../../src/app/config/config.ts";
import { startNode } from "../../src/app/process/node.ts";
import { openDatabase } from "../../src/database/database.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/database/embedded/embedded-postgres.ts";
import { freePorts } from "../setup/free-ports.ts";
import { makeDataDir, removeDataDir, urlOf } from "../setup/own-server.ts";
import { environmentOf, SERVING_SETTINGS } from "../setup/test-environment.ts";
import { onServer } from "../setup/test-servers.ts";

const ENTRY = fileURLToPath(new URL("../../src/main.js", import.meta.url));

let dataDir: string;
let server: EmbeddedPostgres;
let settings: Record<string, string>;
let httpUrl: string;
let metricsUrl: string;
beforeAll(async () => {
  dataDir = await makeDataDir();
  server = await startEmbeddedPostgres({ dataDir });
  const url = urlOf(server);
  await (await openDatabase({ url, dataDir: "" })).close();
  const [http, metrics] = await freePorts(2);
  [httpUrl, metricsUrl] = [`http://127.0.0.1:${http}`, `http://127.0.0.1:${metrics}`];
  const ports = { SALDO_HTTP_PORT: String(http), SALDO_METRICS_PORT: String(metrics) };
  settings = { ...SERVING_SETTINGS, ...ports, DATABASE_URL: url, SALDO_REQUIRE_SYNC_STANDBY: "1" };
});
afterAll(async () => {
  await server.stop({ evenWithClients: true });
  await removeDataDir(dataDir);
});

const waitForStandby = async (name: string): Promise<void> => {
  await onServer(urlOf(server), `ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
  await onServer(urlOf(server), "SELECT pg_reload_conf()");
};
const statusOf = (path: string): Promise<number | null> =>
  fetch(`${httpUrl}${path}`).then(
    ({ status }) => status,
    () => null,
  );

it("answers 503 and shows why, and serves once commits are confirmed", async () => {
  await waitForStandby("nobody");
  const events: unknown[] = [];
  const write = (line: string) => void events.push((JSON.parse(line) as { event: string }).event);
  const starting = startNode(
    readConfig(environmentOf(settings)),
    { out: () => {}, onLog: () => {} },
    createLog("info", { write }),
  );
  await expect.poll(() => statusOf("/healthz")).toBe(200);
  expect(await statusOf("/readyz")).toBe(503);
  const refused = await fetch(`${httpUrl}/v1/chat/completions`, { method: "POST", body: "{}" });
  expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toEqual([
    503,
    expect.stringMatching(/^\d+$/),
    expect.objectContaining({ error: "upstream_busy" }),
  ]);
  expect(await (await fetch(`${metricsUrl}/metrics`)).text()).toMatch(/^saldo_sync_standby_missing 1$/m);
  await waitForStandby("");
  const node = await starting;
  expect(events.filter((event) => String(event).startsWith("database.standby."))).toEqual([
    "database.standby.missing",
    "database.standby.attached",
    // Nothing confirms commits now, and the setting demands it.
    "database.standby.missing",
  ]);
  expect(await statusOf("/readyz")).toBe(503);
  await node.stop();
});

it("ends in order when it is stopped meanwhile", async () => {
  await waitForStandby("nobody");
  const child = spawn(process.execPath, [ENTRY, "serve"], { env: environmentOf(settings), stdio: "ignore" });
  const exited = once(child, "exit");
  await expect.poll(() => statusOf("/healthz"), { timeout: 60_000 }).toBe(200);
  child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  expect(await statusOf("/healthz")).toBe(null);
  await waitForStandby("");
});
