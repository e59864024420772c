// What the adapters of real providers do with what comes over a wire: answers that are late, broken or about something else, and
// what each provider alone does.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createMidtransProvider } from "../../src/billing/payments/midtrans/midtrans-provider.ts";
import { type PaymentProvider, PaymentProviderError } from "../../src/billing/payments/payment-provider.ts";
import { createXenditProvider } from "../../src/billing/payments/xendit/xendit-provider.ts";
import { type FakeProvider, PROVIDER_SECRETS, startFakeProvider } from "../top-ups/fake-provider.ts";
import { order } from "../top-ups/provider-sides.ts";

let fake: FakeProvider;
beforeAll(async () => {
  fake = await startFakeProvider();
});
afterEach(() => fake.misbehave(null));
afterAll(() => fake.stop());

describe.each(["midtrans", "xendit"])("the %s provider over the wire", (name) => {
  let provider: PaymentProvider;
  beforeAll(() => {
    provider = name === "midtrans" ? createMidtransProvider(fake.midtrans) : createXenditProvider(fake.xendit);
  });
  afterAll(() => provider.close());

  const failureOf = (work: Promise<unknown>): Promise<PaymentProviderError> =>
    work.then(
      () => Promise.reject(new Error("it should have failed")),
      (error: unknown) => (error instanceof PaymentProviderError ? error : Promise.reject(error as Error)),
    );

  it.each([
    ["slow", "away"],
    ["reset", "away"],
    ["huge", "away"],
    [500, "away"],
    [503, "away"],
    [429, "away"],
    [401, "refused"],
    [400, "refused"],
  ] as const)("says of a server that answers %s that it is %s, without a secret or a word of it", async (how, kind) => {
    const opening = order();
    const { reference } = await provider.open(opening);
    fake.misbehave(how);
    const asking = await failureOf(provider.ask({ orderId: opening.orderId, reference, isCredited: false }));
    const openingAgain = await failureOf(provider.open(order()));
    for (const error of [asking, openingAgain]) {
      expect(error.kind).toBe(kind);
      const shown = [error.message, error.stack, JSON.stringify(error), String(error.cause)].join("\n");
      for (const secret of [...PROVIDER_SECRETS, "welcome", opening.orderId]) expect(shown).not.toContain(secret);
    }
  });

  it("makes nothing of an answer that is no JSON", async () => {
    const opening = order();
    const { reference } = await provider.open(opening);
    fake.misbehave("garbage");
    const asked = { orderId: opening.orderId, reference, isCredited: false };
    await expect(provider.ask(asked)).rejects.toBeInstanceOf(PaymentProviderError);
    await expect(provider.open(order())).rejects.toBeInstanceOf(PaymentProviderError);
  });

  it("makes nothing of an answer about another order", async () => {
    const opening = order();
    const { reference } = await provider.open(opening);
    fake.set(opening.orderId, { status: "paid", toldOrderId: "somebody-else" });
    const asked = {
      orderId: opening.orderId,
      reference: name === "midtrans" ? "t-another" : reference,
      isCredited: false,
    };
    expect((await failureOf(provider.ask(asked))).kind).toBe("refused");
  });

  it("reads no amount in another currency", async () => {
    const opening = order();
    const { reference } = await provider.open(opening);
    fake.set(opening.orderId, { status: "paid", currency: "USD" });
    expect(await provider.ask({ orderId: opening.orderId, reference, isCredited: false })).toMatchObject({
      amount: null,
    });
  });
});

describe("Midtrans alone", () => {
  let provider: PaymentProvider;
  beforeAll(() => {
    provider = createMidtransProvider(fake.midtrans);
  });
  afterAll(() => provider.close());

  it("answers under another order id where the transaction is the one we know", async () => {
    const opening = order();
    await provider.open(opening);
    const { transactionId } = fake.payment(opening.orderId);
    fake.set(opening.orderId, { status: "paid", toldOrderId: "wallet-order" });
    const asked = { orderId: opening.orderId, reference: transactionId, isCredited: false };
    expect(await provider.ask(asked)).toMatchObject({ state: "paid", reference: transactionId });
  });

  it("signs neither status nor fraud: an edited copy is verified, is the same few events, and proves nothing", async () => {
    const { orderId, reference } = { ...order(), reference: null };
    await provider.open(order({ orderId }));
    fake.set(orderId, { status: "pending" });
    const edited = fake.midtransNotification(orderId, { transaction_status: "settlement" });
    expect(await provider.readNotification(edited)).toMatchObject({ orderId, status: "settlement" });
    expect(await provider.ask({ orderId, reference, isCredited: false })).toMatchObject({ state: "pending" });
    const keys = new Set<string | undefined>();
    for (let copy = 0; copy < 50; copy += 1) {
      const copied = fake.midtransNotification(orderId, {
        transaction_status: `made-up-${copy}`,
        fraud_status: `${copy}`,
      });
      keys.add((await provider.readNotification(copied))?.eventKey);
    }
    expect(keys.size).toBe(1);
  });

  it("takes no notification signed for another amount, and none at all without a key", async () => {
    const { orderId } = order();
    await provider.open(order({ orderId }));
    fake.set(orderId, { status: "paid" });
    expect(
      await provider.readNotification(fake.midtransNotification(orderId, { gross_amount: "99999.00" })),
    ).toBeNull();
    const keyless = createMidtransProvider({ ...fake.midtrans, serverKey: "" });
    expect(keyless.takesNotifications).toBe(false);
    expect(await keyless.readNotification(fake.midtransNotification(orderId))).toBeNull();
    await keyless.close();
  });
});

describe("Xendit alone", () => {
  it("takes no notification without a token, not even one that has none", async () => {
    const provider = createXenditProvider({ ...fake.xendit, callbackToken: "" });
    const { orderId } = order();
    await provider.open(order({ orderId }));
    const { body } = fake.xenditNotification(orderId);
    expect(provider.takesNotifications).toBe(false);
    expect(await provider.readNotification({ body, headers: { "x-callback-token": "" } })).toBeNull();
    await provider.close();
  });

  it("names a refund by its invoice", async () => {
    const provider = createXenditProvider(fake.xendit);
    const { orderId } = order();
    const { reference } = await provider.open(order({ orderId }));
    fake.set(orderId, { status: "refunded", refunded: 25_000 });
    const told = await provider.readNotification(fake.xenditRefundNotification(orderId));
    expect(told).toMatchObject({ orderId: "", reference, status: "refund SUCCEEDED" });
    await provider.close();
  });
});
