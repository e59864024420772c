// The same actions as on the walks, by many clients over eight connections of four processes. What comes of it cannot be
// foretold; what must hold of whatever comes can be said.

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sqlState, sqlStates } from "../../../src/database/transactions.ts";
import { UpstreamBusy } from "../../../src/kernel/errors.ts";
import { testBackends } from "../../setup/test-database.ts";
import { chooseSeed } from "../random.ts";
import { LOG_SLOTS, OVERFULL_WINDOWS } from "../slot-log.ts";
import { MoneyWorld, SOUND } from "../world.ts";
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

/** Time and limits stay as they are, so that the log of slots can be held against them. */
const intents = anyIntent.filter((intent) => intent.do !== "wait" && intent.do !== "limit");

describe.each(testBackends())("the ledger under eight connections to the %s database", (backend) => {
  let world: MoneyWorld;
  let real: RealLedger;
  beforeAll(async () => {
    world = await MoneyWorld.create(backend);
    await world.asOwner(LOG_SLOTS);
    real = await RealLedger.open(world, PROCESSES, LANES);
  });
  afterAll(async () => {
    await real.close();
    await world.close();
  });

  /** Actions of the operator and the workers wait their turn; a caller is told that we are busy, and nothing is known. */
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

  const recordsOf = async (accounts: readonly string[]): Promise<Map<string, Recorded>> => {
    const { rows } = await world.pool.query<Recorded & { request_id: string }>(
      "SELECT request_id, cost, charge FROM usage_record WHERE account_id = ANY ($1::uuid[])",
      [accounts],
    );
    return new Map(rows.map(({ request_id, cost, charge }) => [request_id, { cost, charge }]));
  };

  it.each(Array.from({ length: ROUNDS }, (_, round) => round))(
    "keeps what it has told every client (round %i)",
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
            // A request has one extension under way at a time: the ledger asks that of its callers.
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

      const records = await recordsOf(known.accounts);
      for (const requestId of known.grantedRequests) {
        // Each has one effect, and everybody was told the same of it.
        const told = known.settled.get(requestId) ?? [];
        expect(told.length, `seed ${seed}`).toBeGreaterThan(0);
        for (const answer of told) expect(answer, `seed ${seed}`).toEqual(records.get(requestId));
      }
      for (const requestId of known.refused) expect(records.has(requestId), `seed ${seed}`).toBe(false);
      const { rows: credited } = await world.pool.query<{ reference: string; accountId: string; amount: string }>(
        `SELECT reference, credit AS "accountId", amount FROM posting
       WHERE credit = ANY ($1::uuid[]) AND reason = 'operator_credit'`,
        [known.accounts],
      );
      expect(credited.map(({ reference }) => reference).toSorted(), `seed ${seed}`).toEqual(
        known.references.toSorted(),
      );
      for (const { reference, accountId, amount } of credited)
        expect(known.credits.get(reference), `seed ${seed}`).toContainEqual({ accountId, amount: BigInt(amount) });

      // What is left is what came in less what everybody was told they paid.
      for (const accountId of known.accounts) {
        let expected = 0n;
        for (const credit of credited) if (credit.accountId === accountId) expected += BigInt(credit.amount);
        for (const requestId of known.grantedRequests)
          if (known.granted(requestId).accountId === accountId)
            expected += (known.givenBack.get(requestId) ?? 0n) - (known.settled.get(requestId)?.[0]?.charge ?? 0n);
        expect(expected, `seed ${seed}`).toBeGreaterThanOrEqual(0n);
        expect(await world.balance(accountId), `seed ${seed}`).toEqual({
          posted: expected,
          held: 0n,
          available: expected,
        });
      }
      expect(await world.asOwner(OVERFULL_WINDOWS), `seed ${seed}`).toEqual([]);
      expect(await world.audit(), `seed ${seed}`).toEqual(SOUND);
      const usual = [
        "admit: granted",
        "admit: refused",
        "settle",
        "release",
        "extend: granted",
        "recover",
        "die",
        "give back",
      ];
      expect([...known.outcomes.keys()], `seed ${seed}`).toEqual(expect.arrayContaining(usual));
    },
  );
});
