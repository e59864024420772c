// Opening a top-up: the promise of the idempotency key, for simultaneous callers and any behaviour of the provider.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { saveOpened } from "../../src/billing/top-ups/store.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { AMOUNT, MICRO, type TopUpProcess, TopUpSetup } from "./top-up-setup.ts";

let setup: TopUpSetup;
let one: TopUpProcess;
let other: TopUpProcess;
beforeAll(async () => {
  setup = await TopUpSetup.create();
  one = await setup.process("midtrans");
  other = await setup.process("midtrans");
});
afterEach(() => setup.fake.misbehave(null));
afterAll(() => setup.close());

const opensAtProvider = (): number => setup.fake.asked.filter((each) => each === "POST /snap/v1/transactions").length;

describe("an idempotency key", () => {
  it("gives the same top-up for ever, and opens it once", async () => {
    const accountId = await setup.money.account(0n);
    const order = { accountId, amount: AMOUNT, idempotencyKey: "the same" };
    const before = opensAtProvider();
    const first = await one.topUps.create(order);
    expect(await other.topUps.create(order)).toEqual(first);
    await setup.happens(one, first.topUpId, { status: "paid" });
    expect(await one.topUps.create(order)).toMatchObject({ topUpId: first.topUpId, state: "paid" });
    expect(opensAtProvider() - before).toBe(1);
  });

  it("used by twenty at once on two processes opens one order, once", async () => {
    const accountId = await setup.money.account(0n);
    const before = opensAtProvider();
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        (at % 2 === 0 ? one : other).topUps.create({ accountId, amount: AMOUNT, idempotencyKey: "at once" }),
      ),
    );
    expect(new Set(made.map(({ topUpId }) => topUpId)).size).toBe(1);
    expect(opensAtProvider() - before).toBe(1);
    const { paymentUrl } = await one.topUps.get({ accountId, topUpId: made[0]?.topUpId ?? "" });
    expect(paymentUrl).toMatch(/^http/);
  });

  it("of another account is another key", async () => {
    const accounts = [await setup.money.account(0n), await setup.money.account(0n)];
    const made = await Promise.all(
      accounts.map((accountId) => one.topUps.create({ accountId, amount: AMOUNT, idempotencyKey: "mine" })),
    );
    expect(made.map(({ accountId }) => accountId)).toEqual(accounts);
    expect(made[0]?.topUpId).not.toBe(made[1]?.topUpId);
  });

  it("used for another amount is refused", async () => {
    const accountId = await setup.money.account(0n);
    await one.topUps.create({ accountId, amount: AMOUNT, idempotencyKey: "amounts" });
    await expect(
      one.topUps.create({ accountId, amount: AMOUNT + MICRO, idempotencyKey: "amounts" }),
    ).rejects.toMatchObject({ code: "validation_error", details: [{ field: "idempotencyKey" }] });
  });

  it.each(["slow", "reset", 500, 401] as const)(
    "goes on where a provider that answered %s had stopped it",
    async (how) => {
      const accountId = await setup.money.account(0n);
      const order = { accountId, amount: AMOUNT, idempotencyKey: `after ${how}` };
      setup.fake.misbehave(how);
      await expect(one.topUps.create(order)).rejects.toMatchObject({ code: "upstream_busy" });
      const [written] = (await one.topUps.list({ accountId, pageSize: 5, pageToken: "" })).items;
      expect(written).toMatchObject({ state: "created", paymentUrl: null });
      setup.fake.misbehave(null);
      expect(await other.topUps.create(order)).toMatchObject({ topUpId: written?.topUpId, state: "pending" });
    },
  );

  it("is opened by no other call for as long as the provider may take for all its calls", async () => {
    const timeoutMs = 50_000;
    const slow = await setup.process("xendit", { timeoutMs });
    const accountId = await setup.money.account(0n);
    setup.fake.misbehave("slow");
    const opening = slow.topUps.create({ accountId, amount: AMOUNT, idempotencyKey: "slow" }).catch(() => "failed");
    const text = `SELECT extract(epoch FROM opening_until - clock_timestamp())::float8 * 1000 AS left
      FROM top_up WHERE account_id = $1 AND opening_until IS NOT NULL`;
    const claimedFor = async () => (await setup.money.pool.query<{ left: number }>(text, [accountId])).rows[0]?.left;
    await expect.poll(claimedFor, { timeout: 10_000 }).toBeGreaterThan(2 * timeoutMs);
    await slow.close();
    expect(await opening).toBe("failed");
  });

  it("whose order was never opened runs out", async () => {
    const accountId = await setup.money.account(0n);
    setup.fake.misbehave(503);
    await expect(setup.open(one, accountId)).rejects.toMatchObject({ code: "upstream_busy" });
    setup.fake.misbehave(null);
    const [written] = (await one.topUps.list({ accountId, pageSize: 5, pageToken: "" })).items;
    const late = await setup.process("midtrans", { aheadMs: 63 * 60_000 });
    expect((await late.topUps.verifyNow(written?.topUpId ?? "")).state).toBe("expired");
  });
});

describe("a top-up", () => {
  it.each([9_999n * MICRO, 0n, -AMOUNT, AMOUNT + 1n, AMOUNT + MICRO / 2n, 1_000_000_001n * MICRO])(
    "of %s micro-rupiah is refused by the rule itself",
    async (amount) => {
      const accountId = await setup.money.account(0n);
      const refused = one.topUps.create({ accountId, amount, idempotencyKey: "amount" });
      await expect(refused).rejects.toMatchObject({ code: "validation_error", details: [{ field: "amount" }] });
    },
  );

  it("beyond the twentieth that waits to be paid is refused, however many come at once", async () => {
    const accountId = await setup.money.account(0n);
    const asked = Array.from({ length: 25 }, () => setup.open(one, accountId));
    const outcomes = await Promise.allSettled(asked);
    const refused = outcomes.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(5);
    expect(refused[0]).toMatchObject({ reason: { code: "limit_exceeded" } });
    const open = outcomes.find((each) => each.status === "fulfilled");
    await setup.happens(one, open?.value.topUpId ?? "", { status: "paid" });
    expect((await setup.open(one, accountId)).state).toBe("pending");
  });

  it("of an account there is none of, or where none is offered, is not found", async () => {
    await expect(setup.open(one, uuidv7())).rejects.toMatchObject({ code: "not_found" });
    const none = await setup.process(null);
    await expect(setup.open(none, await setup.money.account(0n))).rejects.toMatchObject({ code: "not_found" });
  });

  it("paid before its page is known stays paid", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(one, accountId);
    // As by a process whose provider answered late.
    await saveOpened(setup.money.pool, { topUpId, paymentUrl: "https://pay.example/late", reference: null });
    expect(await one.topUps.get({ accountId, topUpId })).toMatchObject({
      state: "paid",
      paymentUrl: "https://pay.example/late",
    });
  });
});

describe("the sandbox's desk", () => {
  it("gives back a payment in part and whole, and no more than was paid", async () => {
    const sandbox = await setup.process("sandbox");
    const accountId = await setup.money.account(0n);
    const { topUpId, paymentUrl } = await setup.open(sandbox, accountId);
    await expect(sandbox.desk.refund(topUpId, MICRO)).rejects.toMatchObject({ code: "validation_error" });
    await sandbox.desk.act(paymentUrl?.split("/").at(-1) ?? "", "pay");
    expect((await sandbox.topUps.verifyNow(topUpId)).state).toBe("paid");
    await sandbox.desk.refund(topUpId, 5_000n * MICRO);
    expect(await sandbox.topUps.verifyNow(topUpId)).toMatchObject({
      state: "partially_refunded",
      givenBack: 5_000n * MICRO,
    });
    await expect(sandbox.desk.refund(topUpId, AMOUNT)).rejects.toMatchObject({ code: "validation_error" });
    await sandbox.desk.refund(topUpId, null);
    expect(await sandbox.topUps.verifyNow(topUpId)).toMatchObject({ state: "refunded", givenBack: AMOUNT });
    await expect(sandbox.desk.chargeBack(topUpId)).rejects.toMatchObject({ code: "validation_error" });
    await expect(sandbox.desk.chargeBack(uuidv7())).rejects.toMatchObject({ code: "not_found" });
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 0 });
  });

  it("takes a payment back as a bank does", async () => {
    const sandbox = await setup.process("sandbox");
    const accountId = await setup.money.account(0n);
    const { topUpId, paymentUrl } = await setup.open(sandbox, accountId);
    await sandbox.desk.act(paymentUrl?.split("/").at(-1) ?? "", "pay");
    await sandbox.topUps.verifyNow(topUpId);
    await setup.spend(accountId, 20_000n * MICRO);
    await sandbox.desk.chargeBack(topUpId);
    expect((await sandbox.topUps.verifyNow(topUpId)).state).toBe("charged_back");
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 20_000 });
  });
});
