// An external server that is backed up by pgBackRest, with the file of deploy/ha, while customers send requests; lost; and restored to a
// moment. What was acknowledged until that moment is in the books, and the books are closed until an operator opens them.

import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { busyUpstream, Load } from "../faults/load.ts";
import { Service } from "../faults/service.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { onServer } from "../setup/test-servers.ts";
import { closeNetwork, eventually, Machine, openNetwork, writeShared } from "./machine.ts";

const CONFIG = fileURLToPath(new URL("../../deploy/ha/pgbackrest.conf", import.meta.url));
const PROGRAMS = "/usr/lib/postgresql/17/bin";
const PGBACKREST = ["pgbackrest", "--config=/srv/pgbackrest.conf", "--stanza=saldo"];
const PASSWORD = "drill";
/** A text of the database. No file of the repository may have it. */
const MARKER = "a marker that no backup shows";
const PHASE_MS = 10_000;

const tree = process.env["DRILL_TREE"] ?? "";
const clients = Number(process.env["DRILL_CLIENTS"]);

/** The file of deploy/ha with the paths of the drill's machine. */
async function configOfDrill(): Promise<string> {
  const places = { "repo1-path": "/srv/repo", "spool-path": "/srv/spool", "pg1-path": "/srv/data" };
  return Object.entries(places).reduce(
    (text, [name, path]) => text.replace(new RegExp(`^${name}=.*$`, "m"), `${name}=${path}`),
    await readFile(CONFIG, "utf8"),
  );
}

async function startServer(machine: Machine): Promise<void> {
  await machine.start("postgres", [`${PROGRAMS}/postgres`, "-D", "/srv/data"], {});
  await eventually("PostgreSQL takes commits", async () => {
    const { rows } = await onServer(urlOf(machine, "postgres"), "SELECT NOT pg_is_in_recovery() AS takes");
    return rows[0].takes as boolean;
  });
}

async function makeServer(machine: Machine): Promise<void> {
  await writeShared(machine.path("password"), PASSWORD);
  await writeShared(machine.path("pgbackrest.conf"), await configOfDrill());
  await machine.turnOn();
  const made = ["--pwfile=/srv/password", "--auth=scram-sha-256", "--data-checksums", "--locale=C", "--encoding=UTF8"];
  await machine.run([`${PROGRAMS}/initdb`, "-D", "/srv/data", ...made]);
  await machine.run(["sh", "-c", "echo 'host all all samenet scram-sha-256' >> /srv/data/pg_hba.conf"]);
  const settings = [
    "listen_addresses = '*'",
    "unix_socket_directories = '/run/postgresql'",
    "archive_mode = on",
    `archive_command = '${PGBACKREST.join(" ")} archive-push %p'`,
  ];
  await machine.run(["sh", "-c", `printf '%s\\n' "$@" >> /srv/data/postgresql.conf`, "sh", ...settings]);
  await machine.run([
    "sh",
    "-c",
    "sed -i 's/^local .*$/local all all trust/' /srv/data/pg_hba.conf && mkdir /srv/repo /srv/spool",
  ]);
  await startServer(machine);
  await machine.run([...PGBACKREST, "stanza-create"]);
  await machine.run([...PGBACKREST, "check"]);
  const superuser = urlOf(machine, "postgres");
  await onServer(superuser, `CREATE ROLE saldo LOGIN CREATEROLE PASSWORD '${PASSWORD}'`);
  await onServer(superuser, "GRANT pg_monitor TO saldo");
  await onServer(superuser, "CREATE DATABASE saldo OWNER saldo");
}

function urlOf({ address }: Machine, name: "postgres" | "saldo"): string {
  return `postgres://${name}:${PASSWORD}@${address}:5432/${name}`;
}

/** The files of the repository, with what is in them. */
async function* repositoryOf(machine: Machine): AsyncGenerator<Buffer> {
  const entries = await readdir(machine.path("repo"), { recursive: true, withFileTypes: true });
  for (const entry of entries) if (entry.isFile()) yield await readFile(join(entry.parentPath, entry.name));
}

it("a restore to a moment has what was acknowledged until then, and serves nothing by itself", async () => {
  const folder = await mkdtemp(join(tmpdir(), "saldo-backup-drill-"));
  await openNetwork();
  const machine = await Machine.make(1, { folder, tree });
  let service: Service | null = null;
  try {
    await makeServer(machine);
    const url = urlOf(machine, "saldo");
    service = await Service.create(url);
    let node = await service.node({ SALDO_DATA_DIR: join(folder, "gateway1") });
    service.upstream.run(busyUpstream);
    await onServer(url, `INSERT INTO upstream_mark (upstream) VALUES ('${MARKER}')`);
    const load = await Load.start(service, { clients, node: () => node });
    await sleep(PHASE_MS);
    await machine.run([...PGBACKREST, "--type=full", "backup"]);
    await sleep(PHASE_MS);
    await machine.run([...PGBACKREST, "--type=incr", "backup"]);
    await sleep(PHASE_MS);
    await load.stop();
    const acknowledged = load.acknowledged;
    const { rows } = await onServer(url, "SELECT clock_timestamp()::text AS moment");
    const moment = String(rows[0].moment);
    // Behind the moment: requests that the restored books must not have.
    const later = await Load.start(service, { clients: 1, node: () => node });
    await sleep(2_000);
    await later.stop();
    expect(later.acknowledged).toBeGreaterThan(0);
    await onServer(urlOf(machine, "postgres"), "SELECT pg_switch_wal()");
    await machine.run([...PGBACKREST, "check"]);
    await node.stop("SIGKILL");

    await machine.kill();
    await rm(machine.path("data"), { recursive: true });
    await machine.turnOn();
    await machine.run([...PGBACKREST, "--type=time", `--target=${moment}`, "--target-action=promote", "restore"]);
    await startServer(machine);

    const until = new Date(moment).toISOString();
    const prepared = await saldoJson(["recover", "prepare", "--until", until], service.settings);
    expect(prepared).toMatchObject({ ok: true, timeline: 2 });
    await load.reckon("until the moment");
    for await (const bytes of repositoryOf(machine)) expect(bytes.includes(MARKER)).toBe(false);
    node = await service.node({ SALDO_DATA_DIR: join(folder, "gateway2") });
    const stopped = await Load.start(service, { clients: 1, node: () => node });
    await sleep(1_000);
    await stopped.stop();
    expect([stopped.acknowledged, [...stopped.statuses]]).toEqual([0, [503]]);
    await saldoJson(["admission", "start"], service.settings);
    const open = await Load.start(service, { clients, node: () => node });
    await eventually("answers come again", () => Promise.resolve(open.acknowledged > 0));
    await open.stop();
    await open.reckon("behind the restore");
    await load.reckon("behind the restore");
    process.stdout.write(
      `${acknowledged} answers acknowledged until ${moment}, all charged once in the restored books; ${later.acknowledged} behind it are not there.\n`,
    );
  } finally {
    await service?.close();
    await machine.kill();
    await closeNetwork();
    await rm(folder, { recursive: true, force: true });
  }
});
