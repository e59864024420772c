// A process that sleeps past its lease, like a virtual machine during a migration: another one resolves its holds
// meanwhile, and it wakes up in the middle of its requests.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SOUND } from "../money/money-setup.ts";
import type { SaldoHere } from "../setup/saldo-here.ts";
import type { SaldoProcess } from "../setup/saldo-process.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { waitHalfway } from "./load.ts";
import { Service } from "./service.ts";

const BALANCE = 100_000_000n;
const [INPUT_PRICE, OUTPUT_PRICE] = [5_000n, 15_000n];

describe("a gateway that was paused for longer than its lease", () => {
  let opened: TestDatabase;
  let service: Service;
  let sleeper: SaldoProcess;
  let other: SaldoHere;
  beforeAll(async () => {
    opened = await createTestDatabase();
    service = await Service.create(opened.url);
    [other, sleeper] = [await service.nodeHere(), await service.node()];
  });
  afterAll(async () => {
    await service.close();
    await opened.drop();
  });

  it("relays nothing more after its pause, charges what was relayed before it, and continues under a new id", async () => {
    const { promise: answerOn, resolve: letAnswer } = Promise.withResolvers<void>();
    service.upstream.run(waitHalfway(answerOn));
    const [long, short, whole] = [
      await service.customer(BALANCE),
      await service.customer(BALANCE),
      await service.customer(BALANCE),
    ];
    const begun = Promise.withResolvers<void>();
    const onText = (text: string): void => (text.includes("Halo") ? begun.resolve() : undefined);
    const longAnswer = service.ask(sleeper, long, { stream: true });
    const wholeAnswer = service.ask(sleeper, whole);
    // A stream that lasts is recorded; one that has only begun is not.
    const recorded = async (): Promise<bigint> => (await service.recoverableOf(long.accountId))[0] ?? 0n;
    await expect.poll(recorded, { timeout: 30_000 }).toBeGreaterThan(0n);
    const progress = await recorded();
    const shortAnswer = service.ask(sleeper, short, { stream: true, onText });
    await begun.promise;
    const before = await service.processes();
    expect(before.map(({ dead }) => dead)).toEqual([false, false]);

    sleeper.signal("SIGSTOP");
    await expect.poll(() => service.openHolds(), { timeout: 90_000, interval: 250 }).toBe(0);
    for (const [{ accountId }, charge] of [
      [long, progress],
      [short, 0n],
      [whole, 0n],
    ] as const) {
      expect(await service.usageOf(accountId)).toMatchObject([{ basis: "recovered", charge }]);
    }
    letAnswer();
    sleeper.signal("SIGCONT");

    for (const [{ accountId }, answer, charge] of [
      [long, longAnswer, progress],
      [short, shortAnswer, 0n],
    ] as const) {
      const { status, broken, text, requestId } = await answer;
      expect({ status, broken }).toEqual({ status: 200, broken: false });
      expect(text).toContain("Halo");
      expect(text).not.toMatch(/dunia|\[DONE\]/);
      expect(text).toMatch(/cut off, because the service is busy.*"code":"upstream_busy","cost_idr":"[\d.]+"\}\}\s*$/);
      expect(await service.usageOf(accountId)).toMatchObject([{ requestId, basis: "recovered", charge }]);
      const late = await service.lateUsageOf(accountId);
      expect(late).toMatchObject([{ requestId, basis: "estimated" }]);
      const [{ cost, charge: posted } = { cost: 0n, charge: 0n }] = late;
      // Its input and "Halo", less what recovery has charged of them.
      expect(cost).toBeGreaterThanOrEqual(5n * INPUT_PRICE + OUTPUT_PRICE);
      expect(posted).toBe(cost - charge);
      expect(await service.balance(accountId)).toMatchObject({ posted: BALANCE - cost, held: 0n });
    }
    expect(await wholeAnswer).toMatchObject({ status: 503, broken: false, costIdr: null });
    // The operator bears the upstream's possible charge for a call whose answer was not seen.
    expect(await service.lateUsageOf(whole.accountId)).toMatchObject([{ basis: "free", cost: 0n, charge: 0n }]);
    expect(await service.balance(whole.accountId)).toMatchObject({ posted: BALANCE, held: 0n });

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
