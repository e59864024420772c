import { describe, expect, it } from "vitest";
import type { MinedTransaction, NonceHolder, SeenTransaction } from "../chains/payout-chain.ts";
import { MAX_ATTEMPTS, nextStep, type PayoutSight, type SeenAttempt, type Step } from "./next-step.ts";
import type { Attempt, AttemptKind, OpenPayout } from "./payout.ts";

const POLICY = { stuckAfterMs: 1_000, giveUpAfterMs: 10_000 };
const PENDING: SeenTransaction = { status: "pending" };
const UNKNOWN: SeenTransaction = { status: "unknown" };
const mined = (isFinal: boolean, succeeded = true): MinedTransaction => ({
  status: "mined",
  block: { number: 7, hash: "0xb" },
  confirmations: 3,
  isFinal,
  succeeded,
  feePaid: 1n,
});

function attempt(number: number, more: Partial<Attempt> = {}): Attempt {
  const fee = { most: 100n, priority: 10n };
  const fresh = { state: "signed", blockHash: null, ageMs: 0, wasSeen: false } as const;
  return { number, kind: "payment", raw: `raw${number}`, hash: `0x${number}`, fee, ...fresh, ...more };
}

function step(
  attempts: readonly SeenAttempt[],
  {
    holder = null,
    isNext = true,
    fillingReason = null,
    isShortAccepted = false,
  }: Partial<Pick<PayoutSight, "holder" | "isNext"> & Pick<OpenPayout, "fillingReason" | "isShortAccepted">> = {},
): Step {
  const payout: OpenPayout = {
    payoutId: "p",
    transferId: "t",
    nonce: 5,
    state: "broadcast",
    payment: { coin: { currencyCode: "ETH", network: "ethereum", decimals: 18 }, to: "0xto", units: 1n },
    transfer: {
      merchantId: "m",
      externalId: "e",
      network: "ethereum",
      currencyCode: "ETH",
      asset: "ETH/18",
      isNetworkImplied: true,
      address: "0xto",
      orderedAddress: "0xto",
      received: "1",
      fee: "0",
      feeRowId: "f",
    },
    attempts: attempts.map((each) => each.attempt),
    fillingReason,
    isShortAccepted,
    transferStatus: "SUBMITTED",
    transferConfirmations: 0,
  };
  return nextStep({ payout, attempts, holder, isNext }, POLICY);
}

const one = (seen: SeenTransaction, more: Partial<Attempt> = {}): SeenAttempt[] => [
  { attempt: attempt(1, more), seen },
];
const foreign = (isFinal: boolean): NonceHolder => ({ hash: "0xthief", isFinal, transaction: null });

describe("the next step of a payout", () => {
  it("is to sign when nothing is signed: the payment, or what fills the nonce", () => {
    expect(step([])).toEqual({ kind: "sign", as: "payment", replaced: null, otherwise: null });
    expect(step([], { fillingReason: "no" })).toEqual({ kind: "sign", as: "filler", replaced: null, otherwise: null });
  });

  it("is to hand the newest over again while the network does not know it, and to wait while it does", () => {
    expect(step(one(UNKNOWN))).toMatchObject({ kind: "broadcast", attempt: { number: 1 } });
    expect(step(one(PENDING, { wasSeen: true }))).toEqual({ kind: "wait" });
  });

  it("settles what is final, and only that", () => {
    expect(step(one(mined(false)))).toMatchObject({ kind: "note mined" });
    expect(step(one(mined(true)))).toMatchObject({ kind: "settle", attempt: { number: 1 } });
    expect(step(one(mined(true, false)))).toMatchObject({ kind: "settle", mined: { succeeded: false } });
    // Whichever of them was mined.
    const older = [...one(mined(true)), { attempt: attempt(2), seen: UNKNOWN }];
    expect(step(older)).toMatchObject({ kind: "settle", attempt: { number: 1 } });
  });

  it("never ends on silence, however old and often it was sent", () => {
    const old = { ageMs: 1e12, wasSeen: true };
    const silent = Array.from({ length: MAX_ATTEMPTS }, (_, at) => ({ attempt: attempt(at + 1, old), seen: UNKNOWN }));
    for (const isNext of [true, false]) expect(step(silent, { isNext })).toMatchObject({ kind: "broadcast" });
    expect(step(silent.slice(0, 3))).toMatchObject({ kind: "sign", as: "payment" });
  });

  it("stops signing while the other transaction may still go, and is displaced when that is final", () => {
    expect(step(one(UNKNOWN), { holder: foreign(false), isNext: false })).toEqual({
      kind: "stop signing",
      foreignHash: "0xthief",
    });
    expect(step(one(UNKNOWN), { holder: foreign(true), isNext: false })).toEqual({
      kind: "displace",
      foreignHash: "0xthief",
    });
    expect(step([], { holder: foreign(true), isNext: false })).toMatchObject({ kind: "displace" });
  });

  it("waits when the nonce was used up by an attempt of its own that was not found a moment before", () => {
    expect(step(one(UNKNOWN), { holder: { hash: "0x1", isFinal: true, transaction: null }, isNext: false })).toEqual({
      kind: "wait",
    });
  });

  it("offers more when it is stuck, but only if it is the next of its wallet", () => {
    const stuck = one(PENDING, { wasSeen: true, ageMs: POLICY.stuckAfterMs });
    expect(step(stuck)).toMatchObject({ kind: "sign", as: "payment", replaced: { number: 1 } });
    expect(step(stuck, { isNext: false })).toEqual({ kind: "wait" });
    expect(step(one(PENDING, { wasSeen: true, ageMs: POLICY.stuckAfterMs - 1 }))).toEqual({ kind: "wait" });
  });

  it("hands over again what is stuck and lost where nothing can be signed", () => {
    const lost = { wasSeen: true, ageMs: POLICY.stuckAfterMs };
    expect(step(one(UNKNOWN, lost))).toMatchObject({ kind: "sign", otherwise: { number: 1 } });
    expect(step(one(PENDING, lost))).toMatchObject({ kind: "sign", otherwise: null });
  });

  it("outbids the highest offer that the network may hold, and none that it has never taken", () => {
    const dear = { fee: { most: 900n, priority: 10n } };
    const fillingReason = "no";
    const filler: AttemptKind = "filler";
    expect(step(one(UNKNOWN, dear), { fillingReason })).toMatchObject({ as: "filler", replaced: null });
    expect(step(one(UNKNOWN, { ...dear, wasSeen: true }), { fillingReason })).toMatchObject({
      replaced: { number: 1 },
    });
    const stuck = { attempt: attempt(2, { kind: filler, ageMs: POLICY.stuckAfterMs }), seen: UNKNOWN };
    expect(step([...one(UNKNOWN, dear), stuck], { fillingReason })).toMatchObject({ replaced: { number: 2 } });
    expect(step([...one(PENDING, dear), stuck], { fillingReason })).toMatchObject({ replaced: { number: 1 } });
  });

  it("gives up only what the network has never taken, for long enough, and fills the nonce then", () => {
    const refused = { ageMs: POLICY.giveUpAfterMs };
    expect(step(one(UNKNOWN, refused))).toEqual({ kind: "give up" });
    expect(step(one(UNKNOWN, { ageMs: POLICY.giveUpAfterMs - 1 }))).toMatchObject({ kind: "broadcast" });
    expect(step(one(UNKNOWN, { ...refused, wasSeen: true })).kind).not.toBe("give up");
    expect(step(one(PENDING, refused)).kind).not.toBe("give up");
    expect(step(one(UNKNOWN, refused), { isNext: false }).kind).not.toBe("give up");
    expect(step(one(UNKNOWN, refused), { fillingReason: "no" })).toMatchObject({ kind: "sign", as: "filler" });
  });

  it("counts a payment that comes through although its nonce is being filled", () => {
    const filler: AttemptKind = "filler";
    const both = [...one(mined(true)), { attempt: attempt(2, { kind: filler }), seen: UNKNOWN }];
    expect(step(both, { fillingReason: "no" })).toMatchObject({ kind: "settle", attempt: { kind: "payment" } });
    const filled = [...one(UNKNOWN), { attempt: attempt(2, { kind: filler }), seen: mined(true) }];
    expect(step(filled, { fillingReason: "no" })).toMatchObject({ kind: "settle", attempt: { kind: "filler" } });
  });
});
