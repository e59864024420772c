// Many seeded operations at once on hot and cold accounts, from two processes, with connections ended under their statements and
// a third process declared dead half-way; single snapshots check the books all the time.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isDatabaseAway, sqlState, withTransaction } from "../../src/database/transactions.ts";
import { UpstreamBusy } from "../../src/kernel/errors.ts";
import { freezeAccount, unfreezeAccount } from "../../src/ledger/account-limits.ts";
import { creditAccount } from "../../src/ledger/credits.ts";
import { recoverHolds } from "../../src/ledger/recovery.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { testBackends } from "../setup/test-database.ts";
import { chooseSeed, seededRandom } from "./random.ts";
import { LOG_SLOTS, OVERFULL_WINDOWS } from "./slot-log.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "./money-setup.ts";

const CLIENTS = 24;
const OPERATIONS_PER_CLIENT = 60;
const TOKEN = 5_000n;

// One statement, so one snapshot of both tables.
const UNSOUND = `
SELECT a.id, a.posted, a.held, h.total, a.open_holds, h.open FROM account a
CROSS JOIN LATERAL (SELECT coalesce(sum(amount), 0) AS total, count(*) AS open FROM hold WHERE account_id = a.id) h
WHERE a.held <> h.total OR a.open_holds <> h.open OR a.posted < a.held OR a.held < 0`;

/** Repeats work that is safe to repeat when its connection was ended or a row stayed locked. */
async function patiently(work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (attempt === 20 || !(isDatabaseAway(error) || sqlState(error) === "55P03")) throw error;
    }
  }
}

describe.each(testBackends())("under stress on the %s database", (backend) => {
  let setup: MoneySetup;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    await setup.asOwner(LOG_SLOTS);
  });
  afterAll(() => setup.close());

  it("keeps every invariant at every moment", async () => {
    const seed = chooseSeed();
    const random = seededRandom(seed);
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T; // lists are not empty
    const processes = [await setup.process(), await setup.process(2)];
    const doomed = await setup.process();
    await setup.pool.query("UPDATE process SET gapless_since = gapless_since - interval '1 minute'");

    const accounts: { account: string; keys: string[] }[] = [];
    for (let index = 0; index < 24; index += 1) {
      const account = await setup.account(index < 4 ? 400_000n : 4_000_000n);
      const keys = [await setup.key(account, pick([0, 5, 20, 60])), await setup.key(account, 0)];
      accounts.push({ account, keys });
      if (index % 6 === 3) await setup.pool.query("UPDATE account SET max_open_holds = 2 WHERE id = $1", [account]);
    }
    // Four hot accounts take most of the traffic.
    const anAccount = () => (random() < 0.7 ? pick(accounts.slice(0, 4)) : pick(accounts));
    const seen = {
      granted: 0,
      limited: 0,
      refused: 0,
      revoked: 0,
      frozen: 0,
      crowded: 0,
      not_allowed: 0,
      over_budget: 0,
      token_limited: 0,
      // No request has a name here.
      running: 0,
      other_body: 0,
      answered: 0,
      busy: 0,
      extended: 0,
      settled: 0,
      credited: 0,
    };

    async function useOnce(process: TestProcess): Promise<void> {
      const { account, keys } = anAccount();
      const amount = TOKEN * BigInt(1 + Math.floor(random() * 20));
      const least = random() < 0.5 ? amount : amount / 4n;
      const request = admission(account, pick(keys), amount, least);
      try {
        const decision = await process.ledger.admit(request);
        seen[decision.outcome] += 1;
        if (decision.outcome !== "granted") return;
        // A stream that runs for a while; beside it the account fills up.
        if (random() < 0.3) {
          await sleep(random() * 30);
          const wanted = { accountId: account, requestId: request.requestId, amount: amount * 2n, leastAmount: amount };
          const { outcome } = await process.ledger.extend({ ...wanted, inputTokens: 1, outputTokens: 0 });
          if (outcome === "granted") seen.extended += 1;
        }
        // Up to three times the requested amount, so that charges are limited too.
        const tokens = Math.floor((random() * 3 * Number(amount)) / Number(TOKEN));
        const settle = () => process.ledger.settle(settlement(account, request.requestId, tokens));
        const twice = random() < 0.2;
        const [first, second] = await Promise.all(twice ? [settle(), settle()] : [settle()]);
        expect(second ?? first).toEqual(first);
        seen.settled += 1;
      } catch (error) {
        if (!(error instanceof UpstreamBusy)) throw error;
        seen.busy += 1;
      }
    }
    async function credit(): Promise<void> {
      const { account } = anAccount();
      const reference = `stress:${Math.floor(random() * 40)}`;
      await withTransaction(setup.opened.database, (client) =>
        creditAccount(client, {
          accountId: account,
          amount: 50_000n,
          from: systemAccounts.promotions,
          reason: "demo_credit",
          reference,
        }),
      );
      seen.credited += 1;
    }

    /** Freezes an account for a moment, or revokes a key for good; some clients continue to use it. */
    async function forbid(): Promise<void> {
      const { account, keys } = anAccount();
      if (random() < 0.3) {
        await setup.pool.query("UPDATE api_key SET revoked_at = clock_timestamp() WHERE id = $1", [keys.at(-1)]);
        keys.push(await setup.key(account));
        return;
      }
      await withTransaction(setup.opened.database, (client) => freezeAccount(client, account));
      await sleep(random() * 100);
      await patiently(() => withTransaction(setup.opened.database, (client) => unfreezeAccount(client, account)));
    }

    let working = true;
    const unsound: unknown[] = [];
    const sampler = (async () => {
      while (working) {
        unsound.push(...(await setup.pool.query(UNSOUND)).rows);
        await sleep(50);
      }
    })();
    const nemesis = (async () => {
      while (working) {
        await sleep(100 + random() * 200);
        await setup.endLaneBackends(0.5);
      }
    })();
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let operation = 0; operation < OPERATIONS_PER_CLIENT; operation += 1) {
        const dice = random();
        if (dice < 0.05) await patiently(credit);
        else if (dice < 0.08) await patiently(forbid);
        else await useOnce(client % 6 === 0 ? doomed : pick(processes));
        if (client === 0 && operation === OPERATIONS_PER_CLIENT / 2) {
          await setup.pool.query("UPDATE process SET dead_at = clock_timestamp() WHERE id = $1", [
            doomed.lease.processId,
          ]);
        }
        if (client === 1) await patiently(() => recoverHolds(setup.pool));
      }
    });
    await Promise.all(clients);
    working = false;
    await Promise.all([sampler, nemesis]);

    // Each stray hold of a lost admission has an owner: the dead process's is recovered, ours is released.
    await patiently(() => recoverHolds(setup.pool));
    const left = await setup.pool.query<{ account_id: string; id: string }>("SELECT account_id, id FROM hold");
    for (const { account_id, id } of left.rows)
      await processes[0]?.ledger.release({ accountId: account_id, requestId: id });

    expect(unsound, `seed ${seed}`).toEqual([]);
    expect((await setup.pool.query("SELECT FROM account WHERE held <> 0")).rowCount, `seed ${seed}`).toBe(0);
    const overfull = await setup.asOwner(OVERFULL_WINDOWS);
    expect(overfull, `seed ${seed}`).toEqual([]);
    expect(await setup.audit()).toEqual(SOUND);
    // The mix must have happened.
    for (const outcome of [
      "granted",
      "limited",
      "refused",
      "revoked",
      "frozen",
      "crowded",
      "extended",
      "settled",
      "credited",
    ] as const) {
      expect(seen[outcome], `${outcome}, seed ${seed}`).toBeGreaterThan(0);
    }
  });
});
