// The doctor on real faults of the machine: settings, ports, database, keys, clock and folders.

import { createServer, type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { X509Certificate } from "node:crypto";
import { promises } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { DAY_MS } from "../../src/kernel/clock.ts";
import { withOwner } from "../../src/database/database.ts";
import { freePorts } from "../setup/free-ports.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { createTestDatabase, requestUrlOf, type TestDatabase } from "../setup/test-database.ts";
import { diagnose } from "./doctor-findings.ts";

/** Lets the disk of every folder have this share of its blocks left. Other files may have loaded the module before. */
function leaveOnDisk(share: number): void {
  const disk = { bavail: share * 1_000, blocks: 1_000, bsize: 4_096 };
  vi.spyOn(promises, "statfs").mockResolvedValue(disk as never);
  syncBuiltinESMExports();
}

let opened: TestDatabase;
let folder: string;
let settings: Record<string, string>;
beforeAll(async () => {
  opened = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), "saldo-doctor-"));
  settings = { DATABASE_URL: opened.url, SALDO_DATA_DIR: folder };
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  vi.useRealTimers();
});
afterAll(async () => {
  await opened.drop();
  await rm(folder, { recursive: true });
});

describe("the ports", () => {
  it("are free while Saldo does not serve, and name the version that answers while it does", async () => {
    const [http = 0, grpc = 0, metrics = 0] = await freePorts(3);
    const ports = {
      SALDO_HTTP_PORT: `${http}`,
      SALDO_GRPC_PORT: `${grpc}`,
      SALDO_METRICS_PORT: `${metrics}`,
      ...tls("GRPC", "localhost"),
      ...tls("METRICS", "localhost"),
    };
    const before = await diagnose({ ...settings, ...ports });
    for (const port of ["http port", "grpc port", "metrics port"])
      expect(before.of(port)).toMatchObject({ state: "ok", finding: expect.stringContaining("is free") as string });
    const saldo = await SaldoHere.start({ ...settings, ...ports });
    try {
      const serving = await diagnose({ ...settings, ...ports });
      expect(serving.code).toBe(0);
      expect(serving.of("http port").finding).toMatch(/^Saldo \d+\.\d+\.\d+ answers at 127\.0\.0\.1:\d+$/);
      expect(serving.of("grpc port").finding).toBe(`Saldo answers at 127.0.0.1:${grpc}`);
      expect(serving.of("metrics port").finding).toBe(`Saldo answers at 127.0.0.1:${metrics}`);
    } finally {
      await saldo.stop();
    }
  });

  it("are failed where another program answers, and where this machine does not have the host", async () => {
    const stranger = await strangerOn((_request, response) => response.end("hello"));
    try {
      const port = String(portOf(stranger));
      const { code, of } = await diagnose({
        ...settings,
        SALDO_HTTP_PORT: port,
        SALDO_GRPC_PORT: port,
        SALDO_METRICS_HOST: "203.0.113.7",
        SALDO_METRICS_PORT: port,
      });
      expect(code).toBe(1);
      expect(of("http port")).toMatchObject({
        state: "failed",
        advice: "Stop that program, or set SALDO_HTTP_PORT to a free port.",
      });
      expect(of("grpc port").state).toBe("failed");
      expect(of("metrics port").finding).toContain("cannot listen at 203.0.113.7: EADDRNOTAVAIL");
    } finally {
      stranger.close();
    }
  });
});

describe("the database", () => {
  it("is failed behind a closed port, with a wrong login, and where it is not there", async () => {
    const closed = await diagnose({
      DATABASE_URL: `postgres://a:a-password@127.0.0.1:1/b`,
      SALDO_DATA_DIR: folder,
    });
    expect(closed.of("database")).toMatchObject({
      state: "failed",
      finding: expect.stringContaining("ECONNREFUSED") as string,
    });
    const strangerUrl = opened.url.replace(/\/\/[^@]*@/, "//stranger:a-password@");
    const login = await diagnose({ ...settings, DATABASE_URL: strangerUrl });
    expect(login.of("database")).toMatchObject({ state: "failed", advice: "Set user and password in DATABASE_URL." });
    expect(login.code).toBe(1);
    const missing = await diagnose({
      ...settings,
      DATABASE_URL: opened.url.replace(/saldo_test_\w+/, "saldo_nothing"),
    });
    expect(missing.of("database").finding).toContain("saldo_nothing");
  });

  it("shows its version, its schema, its standby and its clock, to a login that may only read", async () => {
    const separator = opened.url.includes("?") ? "&" : "?";
    const onlyReads = `${opened.url}${separator}options=${encodeURIComponent("-c default_transaction_read_only=on")}`;
    const { code, of } = await diagnose({ ...settings, DATABASE_URL: onlyReads });
    expect(code).toBe(0);
    expect(of("database").finding).toMatch(/^PostgreSQL \d+\.\d+ answers$/);
    expect(of("schema").finding).toMatch(/^is up to date, at change \d+$/);
    expect(of("standby").finding).toBe("none confirms commits, and none is required");
    expect(of("database clock")).toMatchObject({ state: "ok" });
    expect(of("secrets key")).toMatchObject({ state: "ok" });
  });

  it("shows whether the login of requests can create money", async () => {
    const other = await createTestDatabase();
    const look = async (more: Record<string, string> = {}) =>
      (await diagnose({ ...settings, DATABASE_URL: other.url, ...more })).of("request login");
    try {
      expect(await look()).toMatchObject({
        state: "warning",
        advice: "Set DATABASE_REQUEST_URL to the login saldo_request.",
      });
      const own = { DATABASE_REQUEST_URL: requestUrlOf(other.url) };
      expect(await look(own)).toMatchObject({ state: "ok", finding: "cannot create money" });
      expect(await look({ DATABASE_REQUEST_URL: other.url })).toMatchObject({ state: "failed" });
      await asOwner(other, "GRANT UPDATE (posted) ON account TO saldo_request");
      const minting = await look(own);
      expect(minting).toMatchObject({ state: "failed", finding: expect.stringContaining("may write money") as string });
    } finally {
      await other.drop();
    }
  });

  it("is failed without the standby that is required, and with a setting that forgets commits", async () => {
    const standby = await diagnose({ ...settings, SALDO_REQUIRE_SYNC_STANDBY: "1" });
    expect(standby.of("standby")).toMatchObject({ state: "failed" });
    const other = await createTestDatabase();
    try {
      const name = new URL(other.url.replace("postgres:", "http:")).pathname.slice(1);
      await asOwner(other, `ALTER DATABASE ${name} SET synchronous_commit = off`);
      const forgetting = await diagnose({ ...settings, DATABASE_URL: other.url });
      expect(forgetting.of("database").finding).toContain("synchronous_commit is off");
    } finally {
      await other.drop();
    }
  });

  it("names a schema that lacks something, one that is newer, and one that this version is too old for", async () => {
    const other = await createTestDatabase();
    const schemaNow = async () => (await diagnose({ ...settings, DATABASE_URL: other.url })).checks;
    try {
      await asOwner(other, "UPDATE schema_function SET hash = 'another' WHERE name = 'request_time'");
      const lacking = (await schemaNow()).find(({ check }) => check === "schema");
      expect(lacking).toMatchObject({ state: "warning", finding: "lacks 1 of the changes of this version" });
      await asOwner(other, "INSERT INTO schema_change (number, name, oldest_code) VALUES (9999, 'later', 1)");
      const newer = (await schemaNow()).find(({ check }) => check === "schema");
      expect(newer).toMatchObject({ state: "warning", finding: expect.stringContaining("change 9999") as string });
      await asOwner(other, "UPDATE schema_change SET oldest_code = 9999 WHERE number = 9999");
      const tooNew = (await schemaNow()).find(({ check }) => check === "database");
      expect(tooNew).toMatchObject({
        state: "failed",
        finding: expect.stringContaining("Start the newer version") as string,
      });
    } finally {
      await other.drop();
    }
  });

  it("is failed where it is another one's than this start's, and where its secrets have another key", async () => {
    const other = await createTestDatabase();
    try {
      const url = { ...settings, DATABASE_URL: other.url };
      await other.database.pool.query("INSERT INTO database_purpose (purpose) VALUES ('production')");
      expect((await diagnose(url)).of("purpose")).toMatchObject({ state: "failed" });
      const [key, later] = ["k".repeat(40), "l".repeat(40)];
      await saldoJson(["secrets", "rotate"], { ...url, SALDO_SECRETS_KEY: key });
      const wrong = await diagnose({ ...url, SALDO_SECRETS_KEY: later });
      expect(wrong.of("secrets key")).toMatchObject({ state: "failed" });
      expect((await diagnose(url)).of("secrets key").state).toBe("failed");
      const former = await diagnose({ ...url, SALDO_SECRETS_KEY: `${later},${key}` });
      expect(former.of("secrets key")).toMatchObject({ state: "warning", advice: "Run saldo secrets rotate." });
      expect((await diagnose({ ...url, SALDO_SECRETS_KEY: key })).of("secrets key").state).toBe("ok");
      for (const { stdout } of [wrong, former]) expect(stdout).not.toMatch(/k{6}|l{6}/);
    } finally {
      await other.drop();
    }
  });

  it("is failed where this machine's clock is an hour ahead", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
    const { code, of } = await diagnose(settings);
    expect(code).toBe(1);
    expect(of("database clock")).toMatchObject({
      state: "failed",
      advice: "Let both machines take their time from NTP.",
    });
    expect(of("database clock").finding).toMatch(/^is 3(?:5\d\d|600)\.\d{3} s behind this machine's$/);
  });
});

describe("the folders", () => {
  it("are looked at and left as they are, and one that is not there is not made", async () => {
    const missing = join(folder, "not", "there");
    const { of } = await diagnose({ SALDO_DATA_DIR: missing });
    expect(of("database").finding).toContain("there is none yet");
    expect(of("data folder").finding).toContain("is not there yet and can be made");
    await expect(stat(join(folder, "not"))).rejects.toThrow("ENOENT");
    const before = await listed(folder);
    await diagnose(settings);
    expect(await listed(folder)).toEqual(before);
  });

  it("are failed where a file is in the way, and where another version has made the database", async () => {
    const file = join(folder, "file");
    await writeFile(file, "");
    expect((await diagnose({ SALDO_DATA_DIR: join(file, "data") })).of("data folder")).toMatchObject({
      state: "failed",
    });
    const old = join(folder, "old");
    await mkdir(join(old, "postgres"), { recursive: true });
    await writeFile(join(old, "postgres", "PG_VERSION"), "17\n");
    expect((await diagnose({ SALDO_DATA_DIR: old })).of("database").finding).toContain("PostgreSQL 17");
    await writeFile(join(old, "postgres", "PG_VERSION"), "18\n");
    expect((await diagnose({ SALDO_DATA_DIR: old })).of("database")).toMatchObject({ state: "warning" });
  });

  it("are a warning on a disk that fills, and failed on one that is nearly full", async () => {
    for (const [share, state] of [
      [0.5, "ok"],
      [0.1, "warning"],
      [0.01, "failed"],
    ] as const) {
      leaveOnDisk(share);
      expect((await diagnose(settings)).of("disk of data folder").state).toBe(state);
    }
  });

  it("are a warning where others can read the key of secrets", async () => {
    await writeFile(join(folder, "secrets-key"), "a key\n", { mode: 0o644 });
    expect((await diagnose(settings)).of("key file")).toMatchObject({ state: "warning" });
    await rm(join(folder, "secrets-key"));
  });
});

it("certificates are failed when they have ended, belong to another key, or are not there, and a warning before they end", async () => {
  const stateOf = async (files: Record<string, string>) =>
    (await diagnose({ ...settings, ...files })).of("grpc certificate");
  expect(await stateOf(tls("GRPC", "localhost"))).toMatchObject({ state: "ok" });
  expect(await stateOf(tls("GRPC", "localhost", "rsa"))).toMatchObject({
    finding: "the key is of another certificate",
  });
  expect(await stateOf(tls("GRPC", "nothing"))).toMatchObject({ state: "failed" });
  const { validToDate } = new X509Certificate(await readFile(tls("GRPC", "localhost")["SALDO_GRPC_TLS_CERT"] ?? ""));
  for (const [days, state] of [
    [-3, "warning"],
    [1, "failed"],
  ] as const) {
    vi.useFakeTimers({ toFake: ["Date"], now: validToDate.getTime() + days * DAY_MS });
    expect((await stateOf(tls("GRPC", "localhost"))).state).toBe(state);
  }
});

it("what a finding quotes has no secret", async () => {
  const secret = "k-that-nobody-may-see";
  const { stdout, of } = await diagnose({
    ...settings,
    SMTP_URL: "smtp://127.0.0.1:1",
    SMTP_FROM: `${secret}@example.com`,
    OPENAI_API_KEY: secret,
    SALDO_DEMO_ALLOW: "database",
  });
  expect(of("mail").finding).toBe("is sent as [secret]@example.com");
  expect(stdout).not.toContain(secret);
});

it("settings that a start refuses are failed, and a table ends with the counts", async () => {
  const { code, stdout } = await runSaldo(["doctor"], { ...settings, NODE_ENV: "production", SALDO_HTTP_PORT: "0" });
  expect(code).toBe(1);
  const lines = stdout.trimEnd().split("\n");
  expect(lines[0]).toMatch(/^STATE +CHECK +FINDING$/);
  expect(stdout).toMatch(/^failed +settings +SALDO_AUTH_SECRET is required in production/m);
  expect(lines.at(-1)).toMatch(/^\d+ ok, \d+ warnings, [1-9]\d* failed\.$/);
  expect(await runSaldo(["doctor", "--seconds", "0"], settings)).toMatchObject({ code: 2, stdout: "" });
});

/** The settings of a port's certificate and key, of the fixtures of these names. */
function tls(port: string, certificate: string, key = certificate): Record<string, string> {
  const file = (name: string) => new URL(`../setup/certificates/${name}.pem`, import.meta.url).pathname;
  return { [`SALDO_${port}_TLS_CERT`]: file(`${certificate}-cert`), [`SALDO_${port}_TLS_KEY`]: file(`${key}-key`) };
}

async function asOwner({ url }: TestDatabase, text: string): Promise<void> {
  await withOwner({ url, dataDir: "" }, (client) => client.query(text));
}

async function strangerOn(answer: Parameters<typeof createServer>[1]): Promise<Server> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function listed(path: string): Promise<string[]> {
  const names = (await readdir(path, { recursive: true })).toSorted();
  return Promise.all(names.map(async (name) => `${name} ${(await stat(join(path, name))).mtimeMs}`));
}
