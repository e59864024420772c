// A process that sleeps past its lease, as a virtual machine does that is moved: another one resolves its holds meanwhile,
// and it wakes up in the middle of its requests.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { IDR, parseMoney } from "../../src/kernel/money.ts";
import { SOUND } from "../money/world.ts";
import type { SaldoProcess } from "../setup/saldo-process.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { waitHalfway } from "./load.ts";
import { type Customer, Service } from "./service.ts";

const BALANCE = 100_000_000n;

describe("a gateway that was paused for longer than its lease", () => {
  let opened: TestDatabase;
  let service: Service;
  let [sleeper, other]: SaldoProcess[] = [];
  beforeAll(async () => {
    opened = await createTestDatabase();
    service = await Service.create(opened.url);
    [other, sleeper] = [await service.node(), await service.node()];
  });
  afterAll(async () => {
    await service.close();
    await opened.drop();
  });

  it("settles nothing that was recovered, tells its clients what they were charged, and goes on under a new id", async () => {
    if (sleeper === undefined || other === undefined) throw new Error("two gateways run");
    const { promise: answerOn, resolve: letAnswer } = Promise.withResolvers<void>();
    service.upstream.run(waitHalfway(answerOn));
    const customers = [await service.customer(BALANCE), await service.customer(BALANCE)] as const;
    const begun = Promise.withResolvers<void>();
    const onText = (text: string): void => (text.includes("Halo") ? begun.resolve() : undefined);
    const answers = [
      service.ask(sleeper, customers[0], { stream: true, onText }),
      service.ask(sleeper, customers[1]),
    ] as const;
    await begun.promise;
    await expect.poll(() => service.upstream.received.length).toBe(2);
    // What had been done when progress was last recorded.
    await service.database.pool.query("UPDATE hold SET progress_input_tokens = 10, progress_output_tokens = 2");
    const before = await service.processes();
    expect(before.map(({ dead }) => dead)).toEqual([false, false]);

    sleeper.signal("SIGSTOP");
    await expect.poll(() => service.openHolds(), { timeout: 90_000, interval: 250 }).toBe(0);
    const recovered = [{ basis: "recovered", charge: 80_000n }];
    for (const { accountId } of customers) expect(await service.usageOf(accountId)).toMatchObject(recovered);
    letAnswer();
    sleeper.signal("SIGCONT");

    for (const [index, answer] of answers.entries()) {
      const { status, broken, costIdr, requestId } = await answer;
      const { accountId } = customers[index] as Customer;
      expect({ status, broken }).toEqual({ status: 200, broken: false });
      expect(parseMoney(costIdr ?? "", IDR).units).toBe(80_000n);
      expect(await service.usageOf(accountId)).toMatchObject([{ requestId, ...recovered[0] }]);
      expect(await service.balance(accountId)).toMatchObject({ posted: BALANCE - 80_000n, held: 0n });
    }

    await expect.poll(async () => (await service.processes()).length, { timeout: 30_000 }).toBe(3);
    const now = await service.processes();
    const alive = now.filter(({ dead }) => !dead).map(({ id }) => id);
    expect(alive).toHaveLength(2);
    expect(before.filter(({ id }) => alive.includes(id))).toHaveLength(1);
    service.upstream.run(waitHalfway(Promise.resolve()));
    const later = await service.customer(BALANCE);
    for (const node of [sleeper, other]) expect(await service.ask(node, later)).toMatchObject({ costIdr: "0.0838" });
    expect((await service.usageOf(later.accountId)).map(({ basis }) => basis)).toEqual(["exact", "exact"]);
    expect(await service.audit()).toEqual(SOUND);
  }, 180_000);
});
