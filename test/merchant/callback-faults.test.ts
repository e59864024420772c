// Several deliverers, and processes that die while they deliver.

import { describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { eventIdOf, patience, sayOk } from "./callback-receiver.ts";
import { CallbackSetup } from "./callback-setup.ts";

const setup = CallbackSetup.forFile();

describe("several deliverers", () => {
  test("attempt an event one at a time, four of a merchant, and a slow receiver delays no other", async () => {
    const [slow, quick] = [await setup.receiver(), await setup.receiver()];
    const deliverers = [setup.deliverer(), setup.deliverer(), setup.deliverer()];
    const [slowOne, other] = [await setup.merchant(slow.url), await setup.merchant(quick.url)];
    const waiting = patience();
    slow.behave = waiting.behave;
    const transfers = await Promise.all(Array.from({ length: 6 }, () => setup.transfer(slowOne)));
    for (const transferId of transfers) await setup.move(transferId, "SUBMITTED");
    await Promise.all(deliverers.map((each) => each.round()));
    await Promise.all(deliverers.map((each) => each.round()));
    await expect.poll(() => slow.received.length).toBe(4);
    await setup.transfer(other);
    await Promise.all(deliverers.map((each) => each.round()));
    await expect.poll(() => quick.received.length).toBe(1);
    expect(slow.mostAtOnce).toBe(4);

    waiting.end();
    const isDone = async (): Promise<boolean> => {
      await Promise.all(deliverers.map((each) => each.round()));
      return (await setup.deliveries(slowOne.merchantId)).every(({ state }) => state === "delivered");
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
    const receiver = await setup.receiver();
    const deliverer = setup.deliverer();
    const merchant = await setup.merchant(receiver.url);
    receiver.behave = (response) => void response.writeHead(503).end();
    for (let each = 0; each < 6; each += 1) await setup.transfer(merchant);
    await setup.deliver(deliverer);
    expect(receiver.received).toHaveLength(4);
    await setup.deliverAgain(deliverer, merchant.merchantId, 2);
    expect(receiver.received).toHaveLength(6);
    receiver.behave = sayOk;
    await setup.deliverAgain(deliverer, merchant.merchantId, 1);
    expect(receiver.received).toHaveLength(7);
    await setup.deliver(deliverer);
    expect(receiver.received).toHaveLength(11);
  });
});

describe("a process that dies", () => {
  /** The database of a process that dies after it has sent: it reads, and writes nothing. */
  function dyingDatabase(): Pick<Database, "pool"> & { die: () => void } {
    let isDead = false;
    const pool = new Proxy(setup.database.pool, {
      get(target, name) {
        if (name === "connect" && isDead) return () => Promise.reject(new Error("dead"));
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    return { pool, die: () => (isDead = true) };
  }

  test("between sending and recording has the event sent again by another process", async () => {
    const receiver = await setup.receiver();
    const merchant = await setup.merchant(receiver.url);
    const database = dyingDatabase();
    receiver.behave = (response, received) => {
      database.die();
      return sayOk(response, received);
    };
    await setup.transfer(merchant);
    await setup.deliver(setup.deliverer({ database }));
    expect(setup.errors.map(String)).toContain("Error: dead");
    const survivor = setup.deliverer();
    await setup.deliver(survivor);
    // The lease of the dead process still runs.
    expect(receiver.received).toHaveLength(1);
    await setup.deliverAgain(survivor, merchant.merchantId, 1);
    expect(receiver.received).toHaveLength(2);
    expect(eventIdOf(receiver.received[1])).toBe(eventIdOf(receiver.received[0]));
    expect(await setup.deliveries(merchant.merchantId)).toMatchObject([{ state: "delivered", attempts: [{}] }]);
  });

  test("slowly, and records a delivery late, does not undo later changes of others", async () => {
    const receiver = await setup.receiver();
    const merchant = await setup.merchant(receiver.url);
    const slow = Promise.withResolvers<void>();
    receiver.behave = async (response) => {
      await slow.promise;
      response.writeHead(500).end();
    };
    await setup.transfer(merchant);
    const sleeper = setup.deliverer();
    await sleeper.round();
    await expect.poll(() => receiver.received.length).toBe(1);
    receiver.behave = sayOk;
    // As when the lease has run out.
    await setup.deliverAgain(setup.deliverer(), merchant.merchantId, 1);
    slow.resolve();
    await sleeper.idle();
    expect(await setup.deliveries(merchant.merchantId)).toMatchObject([{ state: "delivered", attempts: [{}, {}] }]);
  });

  test("orderly, cancels attempts that take too long; they are repeated", async () => {
    const receiver = await setup.receiver();
    const merchant = await setup.merchant(receiver.url);
    receiver.behave = () => undefined;
    await setup.transfer(merchant);
    const leaving = setup.deliverer();
    await leaving.round();
    await expect.poll(() => receiver.received.length).toBe(1);
    await leaving.stop();
    expect(await setup.deliveries(merchant.merchantId)).toMatchObject([
      { state: "pending", attempts: [{ problem: "was broken off because this process stops" }] },
    ]);
  });
});
