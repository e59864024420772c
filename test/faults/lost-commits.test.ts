// A transaction whose connection is lost: before it began, before its COMMIT, after it, and while the server may still
// run it. In every case it has one effect by the time the caller has its answer.

import { describe, expect, it } from "vitest";
import { admission, settlement, SOUND } from "../money/money-setup.ts";
import { IS_LONG } from "../setup/long-tests.ts";
import { testBackends } from "../setup/test-database.ts";
import type { Fault } from "./postgres-link.ts";
import { useLedgerBehindProxy } from "./ledger-behind-proxy.ts";

/** How often each fault hits each statement. */
const ROUNDS = IS_LONG ? 10 : 3;
/** The names of a lane's statements. */
const ADMISSION = /admi/;
const SETTLEMENT = /settle/;
const EXTENSION = /exten/;
const RECALL = /recall_usage/;
const BOTH = /settle.*admi/;
const AMOUNT = 400_000n;
const TOKENS = 3;
const CHARGE = 15_000n;

const FAULTS = [
  "lose-request",
  "lose-commit",
  "lose-reply",
  "strand-request",
  "strand-commit",
] as const satisfies Fault[];
/** One, a few and many are sent in different ways. */
const SIZES = [1, 3, 5];
const CASES = FAULTS.flatMap((fault) => SIZES.map((size) => ({ fault, size })));

describe.each(testBackends())("a lost transaction on the %s database", (backend) => {
  const behind = useLedgerBehindProxy(backend);

  /** No stranded transaction can still take effect: the server has ended it before anything ran again. */
  async function expectStrandedGone(): Promise<void> {
    for (const each of behind.proxy.stranded.splice(0)) expect(await each.release()).toBe("gone");
  }

  it.each(CASES)("has one effect: $fault, $size at once", async ({ fault, size }) => {
    const before = behind.process.ledger.statistics().lostConnections;
    for (let round = 0; round < ROUNDS; round += 1) {
      // The balance and the window are just enough: an operation that ran twice would be refused.
      const account = await behind.setup.account(AMOUNT * BigInt(size));
      const key = await behind.setup.key(account, size);
      const requests = Array.from({ length: size }, () => admission(account, key, AMOUNT));

      const admissionHit = behind.proxy.once(ADMISSION, fault);
      const admitted = await Promise.all(requests.map((request) => behind.process.ledger.admit(request)));
      await admissionHit;
      await expectStrandedGone();
      expect(admitted).toMatchObject(requests.map(() => ({ outcome: "granted", amount: AMOUNT })));
      expect(await behind.setup.balance(account)).toMatchObject({ held: AMOUNT * BigInt(size), available: 0n });

      const settlementHit = behind.proxy.once(SETTLEMENT, fault);
      const settled = await Promise.all(
        requests.map(({ requestId }) => behind.process.ledger.settle(settlement(account, requestId, TOKENS))),
      );
      await settlementHit;
      await expectStrandedGone();
      expect(settled).toEqual(requests.map(() => ({ cost: CHARGE, charge: CHARGE })));
      const posted = (AMOUNT - CHARGE) * BigInt(size);
      expect(await behind.setup.balance(account)).toEqual({ posted, held: 0n, available: posted });
      const { rows } = await behind.setup.pool.query(
        "SELECT count(*)::int AS records, sum(charge)::text AS charged FROM usage_record WHERE account_id = $1",
        [account],
      );
      expect(rows).toEqual([{ records: size, charged: String(CHARGE * BigInt(size)) }]);
    }
    expect(behind.process.ledger.statistics().lostConnections - before).toBe(2 * ROUNDS);
  });

  it.each([
    { covers: "all that is asked for", balance: 2n * AMOUNT, most: 2n * AMOUNT },
    { covers: "a part of it", balance: 2n * AMOUNT - 1n, most: 3n * AMOUNT },
  ])("extends a hold once where the balance covers $covers", async ({ balance, most }) => {
    for (const fault of FAULTS) {
      const account = await behind.setup.account(balance);
      const request = admission(account, await behind.setup.key(account), AMOUNT);
      await behind.process.ledger.admit(request);
      const hit = behind.proxy.once(EXTENSION, fault);
      const { accountId, requestId } = request;
      const progress = { inputTokens: 7, outputTokens: 11 };
      const more = { accountId, requestId, amount: most, leastAmount: AMOUNT + 1n, ...progress };
      const extended = await behind.process.ledger.extend(more);
      await hit;
      await expectStrandedGone();
      expect(extended).toEqual({ outcome: "granted", amount: balance });
      expect(await behind.setup.balance(account)).toEqual({ posted: balance, held: balance, available: 0n });
      const { rows } = await behind.setup.pool.query(
        "SELECT amount, progress_input_tokens AS input, progress_output_tokens AS output FROM hold WHERE id = $1",
        [requestId],
      );
      expect(rows).toEqual([{ amount: balance, input: 7, output: 11 }]);
      await behind.process.ledger.settle(settlement(account, requestId, TOKENS));
      const posted = balance - CHARGE;
      expect(await behind.setup.balance(account)).toEqual({ posted, held: 0n, available: posted });
    }
  });

  it("has one effect where admissions and settlements were in one transaction", async () => {
    for (const fault of FAULTS) {
      const account = await behind.setup.account(2n * AMOUNT);
      const key = await behind.setup.key(account);
      const [first, second] = [admission(account, key, AMOUNT), admission(account, key, AMOUNT)];
      await behind.process.ledger.admit(first);
      const hit = behind.proxy.once(BOTH, fault);
      // While the first of these is under way the others collect, of both kinds.
      const [, settled, admitted] = await Promise.all([
        behind.process.ledger.admit(admission(await behind.setup.account(0n), key, 0n)).catch(() => undefined),
        behind.process.ledger.settle(settlement(account, first.requestId, TOKENS)),
        behind.process.ledger.admit(second),
      ]);
      await hit;
      await expectStrandedGone();
      expect([settled.charge, admitted.outcome]).toEqual([CHARGE, "granted"]);
      expect(await behind.setup.balance(account)).toMatchObject({ posted: 2n * AMOUNT - CHARGE, held: AMOUNT });
      await behind.process.ledger.release({ accountId: account, requestId: second.requestId });
    }
  });

  it.each(["53100", "58030", "XX001"])(
    "looks for its effect again where that look is refused with %s",
    async (raise) => {
      const account = await behind.setup.account(AMOUNT);
      const request = admission(account, await behind.setup.key(account), AMOUNT);
      await behind.process.ledger.admit(request);
      let looks = 0;
      behind.proxy.rule = ({ statements }) => {
        const ran = statements.join(" ");
        if (looks === 0 && SETTLEMENT.test(ran)) return "lose-reply";
        if (!RECALL.test(ran)) return undefined;
        looks += 1;
        return looks < 3 ? { raise } : undefined;
      };
      const settled = await behind.process.ledger.settle({
        ...settlement(account, request.requestId, TOKENS),
        delivered: false,
      });
      behind.proxy.rule = () => undefined;
      expect({ looks, settled }).toEqual({ looks: 3, settled: { cost: CHARGE, charge: CHARGE } });
      expect(await behind.setup.balance(account)).toMatchObject({ posted: AMOUNT - CHARGE, held: 0n });
    },
  );

  it("holds nothing for a request that the balance does not cover, whatever is lost", async () => {
    for (const fault of FAULTS) {
      const account = await behind.setup.account(AMOUNT - 1n);
      const key = await behind.setup.key(account, 1);
      const hit = behind.proxy.once(ADMISSION, fault);
      const decision = await behind.process.ledger.admit(admission(account, key, AMOUNT));
      await hit;
      await expectStrandedGone();
      // Where the refusal was committed and its reply lost, the window is full when it is decided again: never more
      // than it allows.
      expect(["refused", "limited"]).toContain(decision.outcome);
      expect(await behind.setup.balance(account)).toMatchObject({ posted: AMOUNT - 1n, held: 0n });
    }
  });

  it("has kept the books in order, and caused each fault as often as requested", async () => {
    expect(await behind.setup.audit()).toEqual(SOUND);
    const each = SIZES.length * ROUNDS * 2 + 2 + 2;
    const expected = Object.fromEntries(FAULTS.map((fault) => [fault, each]));
    expect(Object.fromEntries(behind.proxy.done)).toEqual({ ...expected, "lose-reply": each + 3, raise: 6 });
  });
});
