import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { clientConfig, withClient } from "../../src/database/connections.ts";
import { startEmbeddedPostgres } from "../../src/database/embedded/embedded-postgres.ts";
import { isAlive, isPostmasterOf } from "../../src/database/embedded/postmaster.ts";
import { makeDataDir, postmasterPid, removeDataDir, spawnStarter, until } from "../setup/own-server.ts";

/** A folder with a stopped server's cluster, to copy. */
let stoppedDir: string;
let dataDir: string;
beforeAll(async () => {
  stoppedDir = await makeDataDir();
  const server = await startEmbeddedPostgres({ dataDir: stoppedDir });
  await server.stop();
});
afterAll(() => removeDataDir(stoppedDir));
afterEach(() => removeDataDir(dataDir));

function config(server: { host: string; user: string; database: string }) {
  return clientConfig({ host: server.host, user: server.user, database: server.database }, "test");
}

// A stopped server keeps its number until Node has collected it, a moment after `stop` has returned.
function isServer(pid: number): Promise<boolean> {
  return isPostmasterOf(join(dataDir, "postgres"), pid);
}

async function crash(): Promise<void> {
  const server = await startEmbeddedPostgres({ dataDir });
  await withClient(config(server), (client) => client.query("CREATE TABLE kept AS SELECT 7 AS value"));
  const pid = await postmasterPid(dataDir);
  // Released first, so that no process revives it; the connection of another client keeps it from being stopped.
  await withClient(config(server), () => server.stop());
  process.kill(pid, "SIGKILL");
  await until(() => !isAlive(pid));
}

async function expectKept(server: { host: string; user: string; database: string }): Promise<void> {
  const { rows } = await withClient(config(server), (client) => client.query("SELECT value FROM kept"));
  expect(rows).toEqual([{ value: 7 }]);
}

const NOBODY = 65_534;

/** The first letter of the server's answer to a login of an operating-system user: R, it may go on; E, an error. */
function logInAs(uid: number, socket: string, role: string): string {
  const program = `
    const text = Buffer.from("user\\0${role}\\0database\\0postgres\\0\\0");
    const head = Buffer.alloc(8);
    head.writeUInt32BE(8 + text.length, 0);
    head.writeUInt32BE(196608, 4);
    const socket = require("node:net").connect(${JSON.stringify(socket)});
    socket.write(Buffer.concat([head, text]));
    socket.once("data", (answer) => { console.log(String(answer.subarray(0, 1))); socket.destroy(); });`;
  return execFileSync(process.execPath, ["-e", program], { uid, gid: uid, cwd: "/", encoding: "utf8" }).trim();
}

describe("a first start", () => {
  beforeEach(async () => {
    dataDir = await makeDataDir();
  });

  test("makes a durable PostgreSQL 18 that only its own account can reach", async () => {
    const server = await startEmbeddedPostgres({ dataDir });
    const settings = await withClient(config(server), async (client) => {
      const { rows } = await client.query<{ name: string; setting: string }>(
        `SELECT name, setting FROM pg_settings WHERE name = ANY ($1)`,
        [["fsync", "synchronous_commit", "full_page_writes", "listen_addresses", "server_version", "wal_compression"]],
      );
      return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
    });
    expect(settings).toMatchObject({
      fsync: "on",
      synchronous_commit: "on",
      full_page_writes: "on",
      listen_addresses: "",
    });
    expect(settings["server_version"]).toMatch(/^18/);
    expect(settings["wal_compression"]).not.toBe("off");
    expect((await stat(server.host)).mode & 0o777).toBe(0o700);
    expect((await stat(join(dataDir, "postgres"))).mode & 0o777).toBe(0o700);
    await server.stop();
  });

  test("accepts only root and the user that started it at its socket, for any role", async () => {
    const server = await startEmbeddedPostgres({ dataDir });
    const rules = await withClient(config(server), async (client) => {
      const { rows } = await client.query<{ type: string; auth_method: string }>("SELECT * FROM pg_hba_file_rules");
      return rows.map(({ type, auth_method: method }) => [type, method]);
    });
    // One for databases, and one for the replication protocol.
    expect(rules).toEqual([
      ["local", "peer"],
      ["local", "peer"],
    ]);
    await server.stop();
  });

  test.runIf(process.getuid?.() === 0)("that root starts has a user of its own, and accepts no other", async () => {
    const server = await startEmbeddedPostgres({ dataDir });
    const { uid } = await stat(join(dataDir, "postgres"));
    const accounts = (await readFile("/etc/passwd", "utf8")).split("\n");
    expect(accounts.map((line) => Number(line.split(":")[2]))).not.toContain(uid);
    // Even where the socket's folder is opened by mistake.
    await chmod(server.host, 0o711);
    const socket = join(server.host, ".s.PGSQL.5432");
    for (const role of ["postgres", "saldo_serve"]) {
      expect([logInAs(0, socket, role), logInAs(NOBODY, socket, role)]).toEqual(["R", "E"]);
    }
    await server.stop();
  });

  test("works where the path is too long for a socket", async () => {
    const long = join(dataDir, "a".repeat(120));
    const server = await startEmbeddedPostgres({ dataDir: long });
    expect(Buffer.byteLength(server.host)).toBeLessThan(100);
    await withClient(config(server), (client) => client.query("SELECT 1"));
    await server.stop();
    await rm(server.host, { recursive: true });
  });

  test("works under a folder that is closed to the server's account", async () => {
    const closed = join(dataDir, "closed");
    await mkdir(closed, { mode: 0o700 });
    const inside = join(closed, "data");
    const server = await startEmbeddedPostgres({ dataDir: inside });
    await withClient(config(server), (client) => client.query("CREATE TABLE t AS SELECT 1"));
    const adopted = await startEmbeddedPostgres({ dataDir: inside });
    expect(adopted.ownedByUs).toBe(false);
    await adopted.stop();
    await server.stop();
    if (!server.host.startsWith(dataDir)) await rm(server.host, { recursive: true });
  });

  test("of several processes at once leaves one server, which the others adopt", async () => {
    const starters = [spawnStarter(dataDir), spawnStarter(dataDir), spawnStarter(dataDir)];
    const owned = await Promise.all(starters.map((starter) => starter.ownedByUs));
    expect(owned.filter((ours) => ours)).toHaveLength(1);
    await Promise.all(starters.map((starter) => starter.stop()));
  });

  test("that was killed half-way leaves no half-made cluster", async () => {
    const starter = spawnStarter(dataDir);
    await until(async () => (await readdir(dataDir)).some((name) => name.includes("draft")));
    starter.child.kill("SIGKILL");
    await once(starter.child, "exit");
    const server = await startEmbeddedPostgres({ dataDir });
    expect(server.ownedByUs).toBe(true);
    await withClient(config(server), (client) => client.query("SELECT 1"));
    await server.stop();
  });
});

describe("a cluster that is there", () => {
  beforeEach(async () => {
    dataDir = await makeDataDir(stoppedDir);
  });

  test("of another version is refused by name", async () => {
    await writeFile(join(dataDir, "postgres", "PG_VERSION"), "16\n");
    await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow(/made by PostgreSQL 16.*SALDO_DATA_DIR/);
  });

  test("that cannot start reports PostgreSQL's own error", async () => {
    await writeFile(join(dataDir, "postgres", "postgresql.auto.conf"), "no_such_setting = 1\n");
    await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow(/no_such_setting/);
  });
});

describe("several processes", () => {
  beforeEach(async () => {
    dataDir = await makeDataDir(stoppedDir);
  });

  test("leave nothing running when the only one stops, and find the data again", async () => {
    const first = await startEmbeddedPostgres({ dataDir });
    await withClient(config(first), (client) => client.query("CREATE TABLE kept AS SELECT 7 AS value"));
    const pid = await postmasterPid(dataDir);
    await first.stop();
    expect(await isServer(pid)).toBe(false);
    const second = await startEmbeddedPostgres({ dataDir });
    const { rows } = await withClient(config(second), (client) => client.query("SELECT value FROM kept"));
    expect(rows).toEqual([{ value: 7 }]);
    await second.stop();
  });

  test("adopt the server of a starter that was killed, and do not stop it", async () => {
    const starter = spawnStarter(dataDir);
    expect(await starter.ownedByUs).toBe(true);
    const pid = await postmasterPid(dataDir);
    starter.child.kill("SIGKILL");
    await once(starter.child, "exit");
    const adopted = await startEmbeddedPostgres({ dataDir });
    expect(adopted.ownedByUs).toBe(false);
    expect(await postmasterPid(dataDir)).toBe(pid);
    await adopted.stop();
    expect(isAlive(pid)).toBe(true);
  });

  test("keep the server while one of them uses it, even when its starter stops", async () => {
    const starter = spawnStarter(dataDir);
    await starter.ownedByUs;
    const user = await startEmbeddedPostgres({ dataDir });
    await starter.stop();
    await withClient(config(user), (client) => client.query("SELECT 1"));
    await user.stop();
    expect(isAlive(await postmasterPid(dataDir))).toBe(true);
  });
});

describe("after a crash", () => {
  beforeEach(async () => {
    dataDir = await makeDataDir(stoppedDir);
  });

  test("the next start recovers what was committed", async () => {
    await crash();
    const server = await startEmbeddedPostgres({ dataDir });
    expect(server.ownedByUs).toBe(true);
    await expectKept(server);
    await server.stop();
  });

  test("a number in postmaster.pid of another process is neither trusted nor signalled", async () => {
    await crash();
    const { uid, gid } = await stat(join(dataDir, "postgres"));
    const stranger = spawn("sleep", ["60"], process.getuid?.() === 0 ? { uid, gid } : {});
    await once(stranger, "spawn");
    const locks = [join(dataDir, "postgres", "postmaster.pid"), join(dataDir, "socket", ".s.PGSQL.5432.lock")];
    for (const lock of locks) {
      await writeFile(lock, (await readFile(lock, "utf8")).replace(/^\d+/, String(stranger.pid)));
    }
    const server = await startEmbeddedPostgres({ dataDir });
    await expectKept(server);
    await server.stop();
    expect(stranger.exitCode ?? stranger.signalCode).toBe(null);
    stranger.kill();
  });

  test("a process that uses the server brings it back by itself", async () => {
    const server = await startEmbeddedPostgres({ dataDir });
    await withClient(config(server), (client) => client.query("CREATE TABLE kept AS SELECT 7 AS value"));
    const pid = await postmasterPid(dataDir);
    process.kill(pid, "SIGKILL");
    await until(async () => (await postmasterPid(dataDir).catch(() => pid)) !== pid);
    await until(() =>
      expectKept(server).then(
        () => true,
        () => false,
      ),
    );
    expect(server.ownedByUs).toBe(true);
    await server.stop();
  });

  test("a server whose connection was ended, but which lives, is kept", async () => {
    const server = await startEmbeddedPostgres({ dataDir });
    const pid = await postmasterPid(dataDir);
    await withClient(config(server), async (client) => {
      const sessions = "FROM pg_stat_activity WHERE application_name = 'saldo presence'";
      await client.query(`SELECT pg_terminate_backend(pid, 5000) ${sessions}`);
      await until(async () => (await client.query(`SELECT ${sessions}`)).rowCount === 1);
    });
    expect(await postmasterPid(dataDir)).toBe(pid);
    await server.stop();
    expect(await isServer(pid)).toBe(false);
  });
});
