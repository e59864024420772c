// A receiver of the log that was away for so long that the server has removed what it had not taken: it begins again, with a base backup.

import { join } from "node:path";
import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/database/embedded/embedded-postgres.ts";
import { makeDataDir, removeDataDir, until, urlOf } from "../setup/own-server.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { onServer } from "../setup/test-servers.ts";

const KEY = /gw_[A-Za-z0-9]{49}/;
const HELLO = JSON.stringify({ model: "demo/small", messages: [{ role: "user", content: "Hello!" }] });
const SECRET = { SALDO_BACKUP_KEY: "a key of a test that is long enough for what it encrypts" };

describe("a receiver whose slot was lost", () => {
  let [dataDir, root] = ["", ""];
  let server: EmbeddedPostgres;
  let saldo: SaldoHere;

  beforeAll(async () => {
    [dataDir, root] = [await makeDataDir(), await makeDataDir()];
    server = await startEmbeddedPostgres({ dataDir, settings: { max_slot_wal_keep_size: "64MB" } });
  });
  afterAll(async () => {
    await server.stop({ evenWithClients: true });
    for (const each of [dataDir, root]) await removeDataDir(each);
  });

  /** Serves until the log is received, and the base backup is taken that was begun. */
  async function serve(work: () => Promise<void>): Promise<void> {
    saldo = await SaldoHere.start({ ...SECRET, SALDO_DATA_DIR: dataDir, SALDO_BACKUP_DIR: root });
    try {
      await work();
      await until(receivedAll);
      await until(() => count("backup.base.started") === count("backup.base.taken"));
    } finally {
      await saldo.stop();
    }
  }

  async function chat(): Promise<void> {
    const response = await fetch(`${saldo.httpUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${saldo.announced(KEY)}`, "content-type": "application/json" },
      body: HELLO,
    });
    await response.arrayBuffer();
    expect(response.status).toBe(200);
  }

  const sql = (text: string) => onServer(urlOf(server), text);

  async function receivedAll(): Promise<boolean> {
    const text =
      "SELECT flush_lsn >= pg_current_wal_flush_lsn() AS all FROM pg_stat_replication WHERE application_name = 'saldo_backup'";
    return (await sql(text)).rows[0]?.all === true;
  }

  async function bases(): Promise<number> {
    const [history = ""] = await readdir(root);
    return (await readdir(join(root, history))).filter((name) => name.startsWith("base-")).length;
  }

  const eventsOf = () => saldo.log.map((line) => String(line["event"])).filter((event) => event.startsWith("backup."));

  const count = (event: string) => eventsOf().filter((each) => each === event).length;

  it("takes the first base backup by itself, and no other after a stop", async () => {
    await serve(chat);
    expect(eventsOf()).toEqual(["backup.base.started", "backup.base.taken"]);
    await serve(chat);
    expect({ events: eventsOf(), bases: await bases() }).toEqual({ events: [], bases: 1 });
  });

  it("begins again with a base backup, from which everything behind it is restored", async () => {
    for (let segment = 0; segment < 7; segment += 1) await sql("SELECT txid_current(), pg_switch_wal()");
    await sql("CHECKPOINT");
    const { rows } = await sql("SELECT wal_status AS status FROM pg_replication_slots");
    expect(rows).toEqual([{ status: "lost" }]);
    await serve(chat);
    expect(eventsOf()).toEqual(["backup.slot.lost", "backup.base.started", "backup.base.taken"]);
    const restored = await makeDataDir();
    try {
      await saldoJson(["restore", "--from", root, "--data-dir", restored], SECRET);
      const copy = await startEmbeddedPostgres({ dataDir: restored });
      const records = await onServer(urlOf(copy), "SELECT count(*)::int AS records FROM usage_record");
      await copy.stop({ evenWithClients: true });
      expect(records.rows).toEqual([{ records: 3 }]);
    } finally {
      await removeDataDir(restored);
    }
  });
});
