// A receiver of the log that was away for so long that the server has removed what it had not taken: it begins again, with a base backup.

import { join } from "node:path";
import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
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

  async function bases(): Promise<number> {
    const [history = ""] = await readdir(root);
    return (await readdir(join(root, history))).filter((name) => name.startsWith("base-")).length;
  }

  const eventsOf = () => saldo.log.map((line) => String(line["event"])).filter((event) => event.startsWith("backup."));

  const count = (event: string) => eventsOf().filter((each) => each === event).length;

  it("takes the first base backup by itself, and no other after a stop", async () => {
    await serve(ask);
    expect(eventsOf()).toEqual(["backup.base.started", "backup.base.taken"]);
    await serve(ask);
    expect({ events: eventsOf(), bases: await bases() }).toEqual({ events: [], bases: 1 });
  });

  it("begins again with a base backup, from which everything behind it is restored", async () => {
    for (let segment = 0; segment < 7; segment += 1) await sql("SELECT txid_current(), pg_switch_wal()");
    await sql("CHECKPOINT");
    const { rows } = await sql("SELECT wal_status AS status FROM pg_replication_slots");
    expect(rows).toEqual([{ status: "lost" }]);
    await serve(ask);
    expect(eventsOf()).toEqual(["backup.slot.lost", "backup.base.started", "backup.base.taken"]);
    expect(await restore(root, await folders.make())).toMatchObject({ records: 3 });
  });
});
