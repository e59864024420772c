// The actions of the walks, by many clients over eight connections of four processes. The result cannot be predicted; the test
// checks what holds for every result.

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sqlState, sqlStates } from "../../../src/database/transactions.ts";
import { UpstreamBusy } from "../../../src/kernel/errors.ts";
import { testBackends } from "../../setup/test-database.ts";
import { chooseSeed } from "../random.ts";
import { LOG_SLOTS, OVERFULL_WINDOWS } from "../slot-log.ts";
import { MoneySetup, SOUND } from "../money-setup.ts";
import { Acknowledged, type Recorded } from "./acknowledged.ts";
import { actionOf, anyIntent, type Intent, PRICE_LISTS } from "./intents.ts";
import { RealLedger } from "./real-ledger.ts";
import type { Action } from "./actions.ts";

const PROCESSES = 4;
const LANES = 2;
const CLIENTS = 16;
const INTENTS_PER_CLIENT = 60;
const ACCOUNTS = 5;
const ROUNDS = 3;
const MOST_TRIES = 50;
const PRICES = PRICE_LISTS[1] as (typeof PRICE_LISTS)[number];

/** Time and limits do not change, so that the log of slots can be compared with them. */
const intents = anyIntent.filter((intent) => intent.do !== "wait" && intent.do !== "limit");

/** The books of a request, and its customer's payment. `late`: charged beyond the charge of recovery. */
type UsageRecord = Recorded & { readonly isRecovered: boolean; readonly late: bigint };
const paidFor = (record: UsageRecord | undefined): bigint => (record === undefined ? 0n : record.charge + record.late);

/** The possible answers of a caller. After a recovery each gets its own cost, and the whole charge up to then. */
function effectsOf(record: UsageRecord | undefined): unknown[] {
  if (record === undefined) return [];
  const { cost, charge, isRecovered } = record;
  if (!isRecovered) return [{ cost, charge }];
  return [charge, paidFor(record)].map((each) => ({ cost: expect.anything() as unknown, charge: each }));
}

describe.each(testBackends())("the ledger under eight connections to the %s database", (backend) => {
  let setup: MoneySetup;
  let real: RealLedger;
  const outcomes = new Set<string>();
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    await setup.asOwner(LOG_SLOTS);
    real = await RealLedger.open(setup, PROCESSES, LANES);
  });
  afterAll(async () => {
    await real.close();
    await setup.close();
  });

  /** Actions of the operator and the workers wait their turn; a caller is answered "busy", and its result is unknown. */
  async function attempt(known: Acknowledged, action: Action): Promise<void> {
    known.begin(action);
    for (let tries = 1; ; tries += 1) {
      try {
        known.end(action, await real.perform(action));
        return;
      } catch (error) {
        if (error instanceof UpstreamBusy) return;
        const mayPass = [sqlStates.lockTimeout, sqlStates.deadlock].some((state) => state === sqlState(error));
        if (!mayPass || tries === MOST_TRIES) throw error;
      }
    }
  }

  const recordsOf = async (accounts: readonly string[]): Promise<Map<string, UsageRecord>> => {
    const { rows } = await setup.pool.query<UsageRecord & { request_id: string }>(
      `SELECT u.request_id, u.cost, u.charge, u.basis = 'recovered' AS "isRecovered", coalesce(l.charge, 0)::bigint AS late
       FROM usage_record u LEFT JOIN late_usage l ON l.account_id = u.account_id AND l.request_id = u.request_id
       WHERE u.account_id = ANY ($1::uuid[])`,
      [accounts],
    );
    return new Map(rows.map(({ request_id, ...record }) => [request_id, record]));
  };

  /** What accounts bought by top-ups, less what was charged back. */
  const boughtBy = async (accounts: readonly string[]): Promise<Map<string, bigint>> => {
    const { rows } = await setup.pool.query<{ accountId: string; bought: bigint }>(
      `SELECT account_id AS "accountId", sum(amount - given_back)::bigint AS bought FROM top_up
       WHERE account_id = ANY ($1::uuid[]) AND paid_at IS NOT NULL GROUP BY account_id`,
      [accounts],
    );
    return new Map(rows.map(({ accountId, bought }) => [accountId, bought]));
  };

  it.each(Array.from({ length: ROUNDS }, (_, round) => round))(
    "keeps its answers to every client (round %i)",
    async (round) => {
      const seed = chooseSeed() + round;
      const known = new Acknowledged({ processes: PROCESSES, prices: PRICES });
      for (let account = 0; account < ACCOUNTS; account += 1) {
        const { accountId, keys } = await real.account(0, 10);
        known.accounts.push(accountId);
        for (const keyId of Object.keys(keys)) known.keys.push([keyId, accountId]);
        await attempt(known, { do: "credit", accountId, amount: 2_000_000n, reference: `parallel:${accountId}` });
      }
      const drawn = fc.sample(intents, { seed, numRuns: CLIENTS * INTENTS_PER_CLIENT });
      const extending = new Set<string>();
      await Promise.all(
        Array.from({ length: CLIENTS }, async (_, client) => {
          for (let next = client; next < drawn.length; next += CLIENTS) {
            const action = actionOf(drawn[next] as Intent, known);
            // A request has one extension at a time: the ledger requires that of its callers.
            if (action === null || (action.do === "extend" && extending.has(action.requestId))) continue;
            if (action.do === "extend") extending.add(action.requestId);
            await attempt(known, action);
            if (action.do === "extend") extending.delete(action.requestId);
          }
        }),
      );
      for (const requestId of known.openRequests) await attempt(known, { do: "release", process: 0, requestId });
      for (let process = 0; process < PROCESSES; process += 1) await attempt(known, { do: "sweep", process });
      for (let process = 0; process < PROCESSES; process += 1) await attempt(known, { do: "die", process });
      await attempt(known, { do: "recover" });
      await attempt(known, { do: "collect" });

      const records = await recordsOf(known.accounts);
      for (const requestId of known.grantedRequests) {
        // Each has one effect, and all callers got the same answer.
        const answers = known.settled.get(requestId) ?? [];
        expect(answers.length, `seed ${seed}`).toBeGreaterThan(0);
        const effects = effectsOf(records.get(requestId));
        for (const answer of answers) expect(effects, `seed ${seed}`).toContainEqual(answer);
      }
      for (const requestId of known.refused) expect(records.has(requestId), `seed ${seed}`).toBe(false);
      const { rows: credited } = await setup.pool.query<{ reference: string; accountId: string; amount: string }>(
        `SELECT reference, credit AS "accountId", amount FROM posting
       WHERE credit = ANY ($1::uuid[]) AND reason = 'operator_credit'`,
        [known.accounts],
      );
      const asked = [...known.credits].flatMap(([reference, credits]) =>
        credits.map(({ accountId }) => `${reference} ${accountId}`),
      );
      expect(
        credited.map(({ reference, accountId }) => `${reference} ${accountId}`).toSorted(),
        `seed ${seed}`,
      ).toEqual([...new Set(asked)].toSorted());
      for (const { reference, accountId, amount } of credited)
        expect(known.credits.get(reference), `seed ${seed}`).toContainEqual({ accountId, amount: BigInt(amount) });

      const bought = await boughtBy(known.accounts);
      // The balance is the income less the payments in all answers; the missing part is owed.
      for (const accountId of known.accounts) {
        let expected = bought.get(accountId) ?? 0n;
        for (const credit of credited) if (credit.accountId === accountId) expected += BigInt(credit.amount);
        for (const requestId of known.grantedRequests)
          if (known.granted(requestId).accountId === accountId)
            expected += (known.givenBack.get(requestId) ?? 0n) - paidFor(records.get(requestId));
        const [left, owed] = expected > 0n ? [expected, 0n] : [0n, -expected];
        const balance = { posted: left, held: 0n, owed, available: left };
        expect(await setup.balanceAndDebt(accountId), `seed ${seed}`).toEqual(balance);
      }
      expect(await setup.asOwner(OVERFULL_WINDOWS), `seed ${seed}`).toEqual([]);
      expect(await setup.audit(), `seed ${seed}`).toEqual(SOUND);
      for (const outcome of known.outcomes.keys()) outcomes.add(outcome);
    },
  );

  it("had every usual outcome in these rounds", () => {
    const usual = [
      "admit: granted",
      "admit: refused",
      "settle",
      "release",
      "extend: granted",
      "recover",
      "die",
      "give back",
      "buy",
      "charge back",
    ];
    expect([...outcomes]).toEqual(expect.arrayContaining(usual));
  });
});
