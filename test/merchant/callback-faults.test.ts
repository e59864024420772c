// Several deliverers, and processes that die while they deliver.

import { describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { eventIdOf, patience, sayOk } from "./callback-receiver.ts";
import { CallbackWorld } from "./callback-world.ts";

const world = CallbackWorld.forFile();

describe("several deliverers", () => {
  test("attempt an event one at a time, four of a merchant, and a slow receiver delays no other", async () => {
    const [slow, quick] = [await world.receiver(), await world.receiver()];
    const deliverers = [world.deliverer(), world.deliverer(), world.deliverer()];
    const [slowOne, other] = [await world.merchant(slow.url), await world.merchant(quick.url)];
    const waiting = patience();
    slow.behave = waiting.behave;
    const transfers = await Promise.all(Array.from({ length: 6 }, () => world.transfer(slowOne)));
    for (const transferId of transfers) await world.move(transferId, "SUBMITTED");
    await Promise.all(deliverers.map((each) => each.round()));
    await Promise.all(deliverers.map((each) => each.round()));
    await expect.poll(() => slow.received.length).toBe(4);
    await world.transfer(other);
    await Promise.all(deliverers.map((each) => each.round()));
    await expect.poll(() => quick.received.length).toBe(1);
    expect(slow.mostAtOnce).toBe(4);

    waiting.end();
    const isDone = async (): Promise<boolean> => {
      await Promise.all(deliverers.map((each) => each.round()));
      return (await world.deliveries(slowOne.merchantId)).every(({ state }) => state === "delivered");
    };
    await expect.poll(isDone, { timeout: 30_000 }).toBe(true);
    expect(slow.received).toHaveLength(12);
    expect(new Set(slow.received.map(({ headers }) => headers["x-saldo-event-id"])).size).toBe(12);
    expect(slow.mostAtOnce).toBe(4);
    for (const transferId of transfers) {
      const statuses = slow.received.filter(({ body }) => body.includes(transferId)).map(({ body }) => body);
      expect(statuses.map((body) => (JSON.parse(body) as { data: { status: string } }).data.status)).toEqual([
        "PENDING",
        "SUBMITTED",
      ]);
    }
  });
});

describe("a merchant that refuses its callbacks", () => {
  test("is called one at a time, after the others, until it accepts one", async () => {
    const receiver = await world.receiver();
    const deliverer = world.deliverer();
    const merchant = await world.merchant(receiver.url);
    receiver.behave = (response) => void response.writeHead(503).end();
    for (let each = 0; each < 6; each += 1) await world.transfer(merchant);
    await world.deliver(deliverer);
    expect(receiver.received).toHaveLength(4);
    await world.deliverAgain(deliverer, merchant.merchantId, 2);
    expect(receiver.received).toHaveLength(6);
    receiver.behave = sayOk;
    await world.deliverAgain(deliverer, merchant.merchantId, 1);
    expect(receiver.received).toHaveLength(7);
    await world.deliver(deliverer);
    expect(receiver.received).toHaveLength(11);
  });
});

describe("a process that dies", () => {
  /** The database of a process that dies after it has sent: it reads, and writes nothing. */
  function dyingDatabase(): Pick<Database, "pool"> & { die: () => void } {
    let isDead = false;
    const pool = new Proxy(world.database.pool, {
      get(target, name) {
        if (name === "connect" && isDead) return () => Promise.reject(new Error("dead"));
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    return { pool, die: () => (isDead = true) };
  }

  test("between sending and recording has the event sent again by another process", async () => {
    const receiver = await world.receiver();
    const merchant = await world.merchant(receiver.url);
    const database = dyingDatabase();
    receiver.behave = (response, received) => {
      database.die();
      return sayOk(response, received);
    };
    await world.transfer(merchant);
    await world.deliver(world.deliverer({ database }));
    expect(world.errors.map(String)).toContain("Error: dead");
    const survivor = world.deliverer();
    await world.deliver(survivor);
    // The lease of the dead process still runs.
    expect(receiver.received).toHaveLength(1);
    await world.deliverAgain(survivor, merchant.merchantId, 1);
    expect(receiver.received).toHaveLength(2);
    expect(eventIdOf(receiver.received[1])).toBe(eventIdOf(receiver.received[0]));
    expect(await world.deliveries(merchant.merchantId)).toMatchObject([{ state: "delivered", attempts: [{}] }]);
  });

  test("slowly, and records a delivery late, does not undo later changes of others", async () => {
    const receiver = await world.receiver();
    const merchant = await world.merchant(receiver.url);
    const slow = Promise.withResolvers<void>();
    receiver.behave = async (response) => {
      await slow.promise;
      response.writeHead(500).end();
    };
    await world.transfer(merchant);
    const sleeper = world.deliverer();
    await sleeper.round();
    await expect.poll(() => receiver.received.length).toBe(1);
    receiver.behave = sayOk;
    // As when the lease has run out.
    await world.deliverAgain(world.deliverer(), merchant.merchantId, 1);
    slow.resolve();
    await sleeper.idle();
    expect(await world.deliveries(merchant.merchantId)).toMatchObject([{ state: "delivered", attempts: [{}, {}] }]);
  });

  test("orderly, cancels attempts that take too long; they are repeated", async () => {
    const receiver = await world.receiver();
    const merchant = await world.merchant(receiver.url);
    receiver.behave = () => undefined;
    await world.transfer(merchant);
    const leaving = world.deliverer();
    await leaving.round();
    await expect.poll(() => receiver.received.length).toBe(1);
    await leaving.stop();
    expect(await world.deliveries(merchant.merchantId)).toMatchObject([
      { state: "pending", attempts: [{ problem: "was broken off because this process stops" }] },
    ]);
  });
});
