// What every payment provider's adapter has to do, whatever its provider speaks: the sandbox against its own table, the others
// against a server that speaks their wire formats.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PaymentOrder, PROVIDER_NAMES } from "../../src/billing/payments/payment-provider.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { type FakeProvider, startFakeProvider } from "../top-ups/fake-provider.ts";
import type { FakePayment } from "../top-ups/fake-wire.ts";
import { makeSides, order, type Side, WITHOUT_WORD } from "../top-ups/provider-sides.ts";
import { AMOUNT, MICRO } from "../top-ups/top-up-setup.ts";

let opened: TestDatabase;
let fake: FakeProvider;
beforeAll(async () => {
  opened = await createTestDatabase();
  fake = await startFakeProvider();
});
afterAll(async () => {
  await fake.stop();
  await opened.drop();
});

describe.each(PROVIDER_NAMES)("the %s provider", (name) => {
  const can = (status: FakePayment["status"]): boolean => !WITHOUT_WORD[name].includes(status);
  let side: Side;
  beforeAll(() => {
    side = makeSides({ opened, fake })[name]();
  });
  afterAll(() => side.provider.close());

  const openOrder = async (changed: Partial<PaymentOrder> = {}) => {
    const opening = order(changed);
    const { paymentUrl, reference } = await side.provider.open(opening);
    return { ...opening, paymentUrl, reference };
  };
  const ask = ({ orderId, reference }: { orderId: string; reference: string | null }, isCredited = false) =>
    side.provider.ask({ orderId, reference, isCredited });

  it("opens a page to pay at, and the same order again without a second payment", async () => {
    const opening = order();
    const first = await side.provider.open(opening);
    expect(first.paymentUrl).toMatch(/^https?:\/\//);
    const second = await side.provider.open(opening);
    expect(second.paymentUrl).toMatch(/^https?:\/\//);
    expect(second.reference).toBe(first.reference);
    await side.set(opening.orderId, { status: "paid" });
    expect(await ask({ orderId: opening.orderId, reference: second.reference })).toMatchObject({ state: "paid" });
  });

  it("knows nothing of an order that was never opened", async () => {
    expect(await ask({ orderId: uuidv7(), reference: null })).toMatchObject({ state: "unknown" });
  });

  it("reports no payment before the payer has chosen a way to pay", async () => {
    expect(["unknown", "pending"]).toContain((await ask(await openOrder())).state);
  });

  const STATES: readonly (readonly [FakePayment["status"], string])[] = [
    ["pending", "pending"],
    ["paid", "paid"],
    ["captured", "paid"],
    ["challenged", "review"],
    ["failed", "failed"],
    ["expired", "expired"],
    ["canceled", "canceled"],
  ];
  it.each(STATES.filter(([status]) => can(status)))("reports a payment that is %s as %s", async (status, state) => {
    const opening = await openOrder();
    await side.set(opening.orderId, { status });
    expect(await ask(opening)).toMatchObject({ state, amount: AMOUNT });
  });

  it("reports the paid amount: more with a fee for the payer, less where too little is paid", async () => {
    for (const gross of [29_500, 1, 25_000]) {
      const opening = await openOrder();
      await side.set(opening.orderId, { status: "paid", gross });
      expect(await ask(opening)).toMatchObject({ state: "paid", amount: BigInt(gross) * MICRO });
    }
  });

  it("reports how much was given back, in part and whole", async () => {
    const opening = await openOrder();
    const { orderId } = opening;
    await side.set(orderId, { status: "paid", gross: 25_000 });
    expect((await ask(opening, true)).givenBack).toBe(0n);
    await side.set(orderId, { status: "partially_refunded", refunded: 5_000 });
    expect(await ask(opening, true)).toMatchObject({ state: "partially_refunded", givenBack: 5_000n * MICRO });
    await side.set(orderId, { status: "refunded", refunded: 25_000 });
    expect(await ask(opening, true)).toMatchObject({ state: "refunded", givenBack: AMOUNT });
    if (!can("charged_back")) return;
    await side.set(orderId, { status: "charged_back" });
    expect(await ask(opening, true)).toMatchObject({ state: "charged_back", givenBack: AMOUNT });
  });

  it("reads its own notification: which order, and one key for every copy of an event", async () => {
    const opening = await openOrder();
    await side.set(opening.orderId, { status: "pending" });
    const pending = await side.provider.readNotification(await side.notification(opening.orderId));
    expect(pending?.orderId).toBe(opening.orderId);
    const again = await side.provider.readNotification(await side.notification(opening.orderId));
    expect(again?.eventKey).toBe(pending?.eventKey);
    await side.set(opening.orderId, { status: "paid" });
    const paid = await side.provider.readNotification(await side.notification(opening.orderId));
    expect(paid?.eventKey).not.toBe(pending?.eventKey);
    expect(paid?.eventKey.length).toBeLessThanOrEqual(200);
    expect(Number(paid?.amount)).toBe(25_000);
  });

  it.each(["missing", "short", "wrong"] as const)("takes no notification whose proof is %s", async (how) => {
    const { orderId } = await openOrder();
    await side.set(orderId, { status: "paid" });
    expect(await side.provider.readNotification(await side.spoiled(orderId, how))).toBeNull();
  });

  it("takes no notification that is empty, no JSON, or another provider's", async () => {
    const { orderId } = await openOrder();
    const { headers } = await side.spoiled(orderId, "missing");
    for (const body of ["", "null", "[]", "{", '"x"', '{"signature_key":{}}'])
      expect(await side.provider.readNotification({ headers, body: Buffer.from(body) })).toBeNull();
    for (const other of PROVIDER_NAMES.filter((each) => each !== name)) {
      const stranger = makeSides({ opened, fake })[other]();
      const theirs = order();
      await stranger.provider.open(theirs);
      expect(await side.provider.readNotification(await stranger.notification(theirs.orderId))).toBeNull();
      await stranger.provider.close();
    }
  });
});
