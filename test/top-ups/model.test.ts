// Random walks of payments beside a model of a few lines: for every report of a provider, in any order, twice and on two
// processes at once, with requests in between, accounts have the model's money, and the audit finds nothing after any step.

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SOUND } from "../money/money-setup.ts";
import type { FakePayment } from "./fake-wire.ts";
import { MICRO, type TopUpProcess, TopUpSetup } from "./top-up-setup.ts";

const WALKS = 4;
const STEPS = 12;
const AMOUNTS = [10_000, 15_000, 25_000];
const STATUSES = [
  "pending",
  "paid",
  "captured",
  "challenged",
  "failed",
  "expired",
  "canceled",
  "partially_refunded",
  "refunded",
  "partially_charged_back",
  "charged_back",
] as const satisfies FakePayment["status"][];

type Step =
  | { readonly do: "open"; readonly account: number; readonly amount: number }
  | {
      /** The provider changes one or two orders; its notifications and our calls come more than once and at once. */
      readonly do: "report";
      readonly orders: readonly {
        readonly order: number;
        readonly status: (typeof STATUSES)[number];
        readonly part: number;
      }[];
      readonly short: boolean;
    }
  | { readonly do: "spend"; readonly account: number; readonly part: number };

const which = fc.nat({ max: 1_000 });
const part = fc.constantFrom(0.2, 0.5, 1, 1.2);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant("open"), account: which, amount: fc.constantFrom(...AMOUNTS) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("report"),
      orders: fc.array(fc.record({ order: which, status: fc.constantFrom(...STATUSES), part }), {
        minLength: 1,
        maxLength: 2,
      }),
      short: fc.constantFrom(false, false, false, false, true),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("spend"), account: which, part: fc.constantFrom(0.5, 1) }) },
);

type Order = { readonly accountId: string; readonly amount: number; credited: boolean; givenBack: number };

/** The expected money of accounts: no states, no events, only sums. In rupiah. */
class Model {
  readonly available = new Map<string, number>();
  readonly owed = new Map<string, number>();
  readonly orders = new Map<string, Order>();

  report(topUpId: string, { status, gross, refunded, chargedBack }: FakePayment): void {
    const order = this.orders.get(topUpId);
    if (order === undefined) return;
    const { accountId, amount, credited: wasCredited } = order;
    const whole = status === "refunded" || status === "charged_back";
    const inPart = status === "partially_refunded" || status === "partially_charged_back";
    const isMoney = whole || inPart || status === "paid" || status === "captured";
    if (isMoney && !order.credited && gross >= amount) {
      order.credited = true;
      const debt = Math.min(this.#of(this.owed, accountId), amount);
      this.#add(this.owed, accountId, -debt);
      this.#add(this.available, accountId, amount - debt);
    }
    // A credited order that is canceled later is given back; before, there is nothing to give back.
    const isVoided = status === "canceled" && wasCredited;
    // A bank takes back its own amount of the payment, whatever it reported before.
    const reported = status === "charged_back" ? gross : refunded + chargedBack;
    const given = status === "refunded" || isVoided ? amount : whole || inPart ? Math.min(reported, amount) : 0;
    if (!order.credited || given <= order.givenBack) return;
    const taken = Math.min(this.#of(this.available, accountId), given - order.givenBack);
    this.#add(this.available, accountId, -taken);
    this.#add(this.owed, accountId, given - order.givenBack - taken);
    order.givenBack = given;
  }

  spend(accountId: string, amount: number): void {
    this.#add(this.available, accountId, -amount);
  }

  standing(accountId: string): { available: number; owed: number } {
    return { available: this.#of(this.available, accountId), owed: this.#of(this.owed, accountId) };
  }

  #of(amounts: Map<string, number>, accountId: string): number {
    return amounts.get(accountId) ?? 0;
  }

  #add(amounts: Map<string, number>, accountId: string, amount: number): void {
    amounts.set(accountId, this.#of(amounts, accountId) + amount);
  }
}

describe("payments at random", () => {
  let setup: TopUpSetup;
  let processes: readonly [TopUpProcess, TopUpProcess];
  /** How many orders of all walks were credited, and given back. */
  const seen = { credited: 0, givenBack: 0 };
  beforeAll(async () => {
    setup = await TopUpSetup.create();
    processes = [await setup.process("midtrans"), await setup.process("midtrans")];
  });
  afterAll(() => setup.close());

  const pick = <T>(items: readonly T[], at: number): T | undefined => items[at % items.length];

  async function perform(model: Model, accounts: readonly string[], taken: Step): Promise<void> {
    if (taken.do === "open") {
      const accountId = pick(accounts, taken.account) ?? "";
      const { topUpId } = await setup.open(processes[0], accountId, BigInt(taken.amount) * MICRO);
      model.orders.set(topUpId, { accountId, amount: taken.amount, credited: false, givenBack: 0 });
      return;
    }
    if (taken.do === "spend") {
      const accountId = pick(accounts, taken.account) ?? "";
      const amount = Math.floor(model.standing(accountId).available * taken.part);
      if (amount === 0) return;
      await setup.spend(accountId, BigInt(amount) * MICRO);
      model.spend(accountId, amount);
      return;
    }
    const asked = new Set<string>();
    for (const { order, status, part: refundedPart } of taken.orders) {
      const topUpId = pick([...model.orders.keys()], order);
      if (topUpId === undefined) continue;
      const amount = model.orders.get(topUpId)?.amount ?? 0;
      const refunded = status === "partially_refunded" ? Math.floor(amount * refundedPart) : 0;
      const chargedBack = status === "partially_charged_back" ? Math.floor(amount * refundedPart) : 0;
      setup.fake.set(topUpId, { status, refunded, chargedBack, gross: taken.short ? amount - 1 : amount });
      asked.add(topUpId);
    }
    const reports = [...asked].flatMap((topUpId) => [
      setup.notify(processes[0], topUpId),
      setup.notify(processes[1], topUpId),
      processes[0].topUps.verifyNow(topUpId),
      processes[1].topUps.verifyNow(topUpId),
    ]);
    await Promise.all(reports);
    await Promise.all(processes.map(({ topUps }) => topUps.checkDue()));
    for (const topUpId of asked) model.report(topUpId, setup.fake.payment(topUpId));
  }

  it(`leave accounts as the model predicts, in ${WALKS} walks of ${STEPS} steps`, async () => {
    const seed = Number(process.env["SALDO_TEST_SEED"] ?? Date.now() % 1_000_000_007);
    const walk = fc.array(step, { minLength: STEPS, maxLength: STEPS });
    await fc.assert(
      fc.asyncProperty(walk, async (steps) => {
        const accounts = [await setup.money.account(0n), await setup.money.account(0n)];
        const model = new Model();
        for (const taken of [{ do: "open", account: 0, amount: 25_000 } as const, ...steps]) {
          await perform(model, accounts, taken);
          for (const accountId of accounts)
            expect(await setup.standing(accountId), JSON.stringify(taken)).toEqual(model.standing(accountId));
          expect(await setup.money.audit({ kind: "incremental" })).toEqual(SOUND);
        }
        for (const { credited, givenBack } of model.orders.values()) {
          seen.credited += credited ? 1 : 0;
          seen.givenBack += givenBack > 0 ? 1 : 0;
        }
      }),
      { numRuns: WALKS, seed, endOnFailure: true },
    );
    // Walks without a payment, or without a refund, would show nothing.
    expect(seen.credited, `seed ${seed}`).toBeGreaterThan(0);
    expect(seen.givenBack, `seed ${seed}`).toBeGreaterThan(0);
    expect(await setup.money.audit()).toEqual(SOUND);
  }, 120_000);
});
