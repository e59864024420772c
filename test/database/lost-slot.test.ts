// A receiver of the log that was away for so long that the server has removed what it had not taken: it begins again, with a base backup.

import { join } from "node:path";
import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { watchRoom } from "../../src/app/observability/database-room.ts";
import { openPool } from "../../src/database/login-connections.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/database/embedded/embedded-postgres.ts";
import { BACKUP_SECRET, chat, DEMO_KEY, Folders, receivedAll, restore, urlIn } from "../setup/backups.ts";
import { until } from "../setup/own-server.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { onServer } from "../setup/test-servers.ts";

describe("a receiver whose slot was lost", () => {
  let [dataDir, root] = ["", ""];
  let server: EmbeddedPostgres;
  const folders = new Folders();
  let saldo: SaldoHere;

  beforeAll(async () => {
    [dataDir, root] = [await folders.make(), await folders.make()];
    server = await startEmbeddedPostgres({ dataDir, settings: { max_slot_wal_keep_size: "64MB" } });
  });
  afterAll(async () => {
    await server.stop({ evenWithClients: true });
    await folders.remove();
  });

  /** Serves until the log is received, and the base backup is taken that was begun. */
  async function serve(work: () => Promise<void>): Promise<void> {
    saldo = await SaldoHere.start({ ...BACKUP_SECRET, SALDO_DATA_DIR: dataDir, SALDO_BACKUP_DIR: root });
    try {
      await work();
      await until(() => receivedAll(dataDir));
      await until(() => count("backup.base.started") === count("backup.base.taken"));
    } finally {
      await saldo.stop();
    }
  }

  const ask = () => chat(saldo.httpUrl, saldo.announced(DEMO_KEY));

  const sql = (text: string) => onServer(urlIn(dataDir), text);

  /** What a scrape has of the folder, by the end of its name. */
  async function folderMetrics(): Promise<Record<string, number>> {
    const text = await (await fetch(`${saldo.metricsUrl}/metrics`)).text();
    const found = text.matchAll(/^saldo_backup_(base_age_seconds|verified_age_seconds|disk_free_share) (\S+)$/gm);
    return Object.fromEntries(Array.from(found, ([, name, value]) => [name, Number(value)]));
  }

  async function roomOf() {
    const pool = openPool({ connectionString: urlIn(dataDir) }, 1);
    try {
      return await watchRoom(pool, dataDir)();
    } finally {
      await pool.end();
    }
  }

  async function bases(): Promise<number> {
    const [history = ""] = await readdir(root);
    return (await readdir(join(root, history))).filter((name) => name.startsWith("base-")).length;
  }

  const eventsOf = () => saldo.log.map((line) => String(line["event"])).filter((event) => event.startsWith("backup."));

  const count = (event: string) => eventsOf().filter((each) => each === event).length;

  it("takes the first base backup by itself, and no other after a stop", async () => {
    await serve(async () => {
      await ask();
      // Until the base backup is there, its age is +Inf, which is no number here.
      await expect.poll(folderMetrics).toEqual({
        base_age_seconds: expect.toSatisfy((age: number) => age >= 0 && age < 3_600) as number,
        verified_age_seconds: expect.toSatisfy((age: number) => age >= 0 && age < 3_600) as number,
        disk_free_share: expect.toSatisfy((share: number) => share > 0 && share <= 1) as number,
      });
    });
    expect(eventsOf()).toEqual(["backup.base.started", "backup.base.taken"]);
    await serve(ask);
    expect({ events: eventsOf(), bases: await bases() }).toEqual({ events: [], bases: 1 });
  });

  it("begins again with a base backup, from which everything behind it is restored", async () => {
    for (let segment = 0; segment < 7; segment += 1) await sql("SELECT txid_current(), pg_switch_wal()");
    await sql("CHECKPOINT");
    const { rows } = await sql("SELECT wal_status AS status FROM pg_replication_slots");
    expect(rows).toEqual([{ status: "lost" }]);
    expect(await roomOf()).toMatchObject({ slotWalBytes: 64 * 1024 ** 2, lostSlots: 1 });
    await serve(ask);
    expect(eventsOf()).toEqual(["backup.slot.lost", "backup.base.started", "backup.base.taken"]);
    expect(await roomOf()).toMatchObject({ lostSlots: 0 });
    expect(await restore(root, await folders.make())).toMatchObject({ records: 3 });
  });
});
