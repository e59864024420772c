// kill -9 of PostgreSQL under a working gateway, which has to recover without help.

import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPostmaster } from "../../src/database/embedded/postmaster.ts";
import { SOUND } from "../money/money-setup.ts";
import { makeDataDir, postmasterPid, removeDataDir } from "../setup/own-server.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import { busyUpstream, Load } from "./load.ts";
import { Service } from "./service.ts";

const KILLS = 2;
const CLIENTS = 12;
const ANSWERS_BETWEEN = 40;

describe("the embedded PostgreSQL that is killed under a gateway at work", () => {
  let dataDir: string;
  let node: SaldoProcess;
  let service: Service;
  beforeAll(async () => {
    dataDir = await makeDataDir();
    node = await SaldoProcess.start({ SALDO_DATA_DIR: dataDir, SALDO_DEMO: "0" });
    const host = (await readPostmaster(join(dataDir, "postgres")))?.socketDir ?? "";
    const url = `postgres://postgres@localhost/postgres?host=${encodeURIComponent(host)}`;
    service = await Service.create(url, { SALDO_DATA_DIR: dataDir });
    service.upstream.run(busyUpstream);
  });
  afterAll(async () => {
    await node.stop("SIGKILL");
    await service.close();
    await removeDataDir(dataDir);
  });

  it("comes back by itself, and has lost nothing that was acknowledged", async () => {
    const load = await Load.start(service, { clients: CLIENTS, node: () => node });
    const goOn = async (): Promise<void> => {
      const before = load.acknowledged;
      await expect.poll(() => load.acknowledged - before, { timeout: 180_000 }).toBeGreaterThan(ANSWERS_BETWEEN);
    };
    await goOn();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const pid = await postmasterPid(dataDir);
      process.kill(pid, "SIGKILL");
      await goOn();
      await expect.poll(() => postmasterPid(dataDir)).not.toBe(pid);
    }
    await load.stop();
    // Admissions that were refused with their reply lost: the sweep releases them after a minute.
    await expect.poll(() => service.openHolds(), { timeout: 120_000, interval: 500 }).toBe(0);
    // Requests in the meantime were answered with "come again", and nothing worse.
    expect([...load.statuses].filter((status) => ![200, 503].includes(status))).toEqual([]);
    await load.reckon();
    expect(await service.audit()).toEqual(SOUND);
  }, 600_000);
});
