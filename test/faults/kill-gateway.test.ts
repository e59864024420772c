// kill -9 of the gateway, again and again, with requests in every stage.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SOUND } from "../money/money-setup.ts";
import { chooseSeed, seededRandom } from "../money/random.ts";
import { IS_LONG } from "../setup/long-tests.ts";
import { passLease } from "../setup/pass-lease.ts";
import type { SaldoProcess } from "../setup/saldo-process.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { busyUpstream, Load } from "./load.ts";
import { Service } from "./service.ts";

const KILLS = IS_LONG ? 10 : 2;
const CLIENTS = 12;
const ANSWERS_BETWEEN = 40;
const ANSWERED_WITHIN_MS = 90_000;
/** Less than the lease of a dead process, which no start waits for, and more than a start takes on a slow machine. */
const READY_WITHIN_MS = 30_000;
const RESOLVED_WITHIN_MS = 90_000;

describe("a gateway under load that is killed again and again", () => {
  let opened: TestDatabase;
  let service: Service;
  beforeAll(async () => {
    opened = await createTestDatabase();
    service = await Service.create(opened.url);
    service.upstream.run(busyUpstream);
  });
  afterAll(async () => {
    await service.close();
    await opened.drop();
  });

  it("has billed every answer it acknowledged, none twice, and leaves no hold behind", async () => {
    const seed = chooseSeed();
    const random = seededRandom(seed);
    let node: SaldoProcess | undefined;
    const load = await Load.start(service, { clients: CLIENTS, node: () => node });
    const startsMs: number[] = [];
    const start = async (): Promise<SaldoProcess> => {
      const startedAt = performance.now();
      node = await service.node();
      expect((await fetch(`${node.httpUrl}/readyz`)).status).toBe(200);
      startsMs.push(performance.now() - startedAt);
      return node;
    };
    for (let kill = 0; kill < KILLS; kill += 1) {
      const victim = await start();
      const before = load.acknowledged;
      await expect
        .poll(() => load.acknowledged - before, { timeout: ANSWERED_WITHIN_MS })
        .toBeGreaterThan(ANSWERS_BETWEEN);
      await sleep(random() * 20); // any moment of a request
      node = undefined;
      await victim.stop("SIGKILL");
    }
    await start();
    const restartedAt = performance.now();
    const before = load.acknowledged;
    await expect
      .poll(() => load.acknowledged - before, { timeout: ANSWERED_WITHIN_MS })
      .toBeGreaterThan(ANSWERS_BETWEEN);
    await load.stop();
    if (!IS_LONG) await passLease(service.database.pool);
    await expect.poll(() => service.openHolds(), { timeout: RESOLVED_WITHIN_MS, interval: 500 }).toBe(0);
    expect(performance.now() - restartedAt).toBeLessThan(RESOLVED_WITHIN_MS);
    // The machine may be busy with other tests at one start or another, not at all of them.
    expect(Math.min(...startsMs)).toBeLessThan(READY_WITHIN_MS);
    expect(load.failed, `seed ${seed}`).toBeGreaterThan(0);
    await load.reckon(`seed ${seed}`);
    expect(await service.audit()).toEqual(SOUND);
  }, 480_000);
});
