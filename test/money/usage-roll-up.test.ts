// Roll-ups beside records that come late, out of order, recovered and while they are being made: no record is missing from a sum
// or in it twice, at any time.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { costOf } from "../../src/billing/cost.ts";
import { recountUsage, rollUpUsage } from "../../src/billing/usage/roll-up.ts";
import { summarizeUsage } from "../../src/billing/usage/summary.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { testBackends } from "../setup/test-database.ts";
import { chooseSeed, seededRandom } from "./random.ts";
import { admission, MoneySetup, PRICES, settlement, SOUND, type TestProcess } from "./money-setup.ts";

const STEPS = 160;
const MINUTE_MS = 60_000;
const BALANCE = 1_000_000_000n;
const RECORDS_OF = `
SELECT count(*)::int AS requests, coalesce(sum(charge), 0)::text AS charge, coalesce(sum(output_tokens), 0)::text AS output
FROM usage_record WHERE account_id = $1`;
const ROLLED_UP = `
SELECT coalesce(sum(requests), 0)::int AS requests, (SELECT count(*)::int FROM hold) AS open FROM usage_roll_up WHERE account_id = $1`;

describe.each(testBackends())("roll-ups of usage on the %s database", (backend) => {
  const seed = chooseSeed();
  const random = seededRandom(seed);
  const whole = (below: number): number => Math.floor(random() * below);
  let setup: MoneySetup;
  let process: TestProcess;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    process = await setup.process();
  });
  afterAll(() => setup.close());

  type Open = { readonly accountId: string; readonly requestId: string };
  async function admit(accountId: string, keyId: string, atMs: number): Promise<Open> {
    const request = { ...admission(accountId, keyId, 1_000_000n), requestId: uuidv7(atMs), model: `m${whole(2)}` };
    expect(await process.ledger.admit(request)).toMatchObject({ outcome: "granted" });
    return { accountId, requestId: request.requestId };
  }
  async function settle({ accountId, requestId }: Open, outputTokens = 1 + whole(50)) {
    const counts = { inputTokensUncached: whole(100), inputTokensCached: whole(100), outputTokens };
    const cost = costOf(counts, PRICES);
    await process.ledger.settle({ ...settlement(accountId, requestId, 0), ...counts, cost });
  }
  /** The sums of a summary, and those of the records. */
  async function bothSums(accountId: string) {
    const { totals } = await summarizeUsage(setup.pool, { accountId, filter: {} });
    const sums = {
      requests: Number(totals.requests),
      charge: String(totals.charge),
      output: String(totals.outputTokens),
    };
    return [sums, (await setup.pool.query(RECORDS_OF, [accountId])).rows[0]];
  }
  const rolledUp = async (accountId: string) => (await setup.pool.query(ROLLED_UP, [accountId])).rows[0] as unknown;

  it("lose nothing and count nothing twice, in any order of arrival", async () => {
    const accountId = await setup.account(BALANCE);
    const keyId = await setup.key(accountId);
    const open: Open[] = [];
    const ago = (minutes: number): number => Date.now() - minutes * MINUTE_MS;
    const steps: Record<string, () => Promise<unknown>> = {
      // The clock of this account runs from three hours ago to now, with stragglers.
      begin: async () => open.push(await admit(accountId, keyId, ago(whole(10) === 0 ? 200 : whole(180)))),
      settle: async () => {
        const [one] = open.splice(whole(open.length), 1);
        if (one !== undefined) await settle(one);
      },
      "settle while it is rolled up": async () => {
        const some = open.splice(0, 3);
        await Promise.all([
          rollUpUsage(setup.pool),
          ...some.map((one) => settle(one)),
          rollUpUsage(process.database.pool),
        ]);
      },
      "roll up": () => rollUpUsage(setup.pool),
      // An hour goes by, after which missed records are rolled up again.
      wait: () => setup.asOwner("UPDATE usage_rolled_up SET recounted_at = recounted_at - interval '2 hours'"),
    };
    const names = ["begin", "begin", "begin", "settle", "settle", "settle while it is rolled up", "roll up", "wait"];
    let believed = 0;
    for (let step = 0; step < STEPS; step += 1) {
      const name = names[whole(names.length)] ?? "";
      await steps[name]?.();
      const [sums, truth] = await bothSums(accountId);
      expect(sums, `seed ${seed}, step ${step}: ${name}`).toEqual(truth);
      believed = Math.max(believed, ((await rolledUp(accountId)) as { requests: number }).requests);
    }
    expect(believed, "what was rolled up at most").toBeGreaterThan(10);
    for (const one of open.splice(0)) await settle(one);
    await steps["wait"]?.();
    await rollUpUsage(setup.pool);
    expect(await rollUpUsage(setup.pool)).toEqual({ stretches: 0, recounted: [] });
    const [sums, truth] = await bothSums(accountId);
    expect(sums, `seed ${seed}`).toEqual(truth);
    expect(await setup.audit()).toEqual(SOUND);
  });

  it("wait for the oldest open request, however old, and then contain it", async () => {
    const accountId = await setup.account(BALANCE);
    const keyId = await setup.key(accountId);
    const at = (minutes: number): number => Date.now() - minutes * MINUTE_MS;
    const oldest = await admit(accountId, keyId, at(120));
    for (const minutes of [110, 100, 90]) await settle(await admit(accountId, keyId, at(minutes)));
    await rollUpUsage(setup.pool);
    expect(await rolledUp(accountId)).toMatchObject({ requests: 0 });
    await settle(oldest);
    await rollUpUsage(setup.pool);
    expect(await rolledUp(accountId)).toMatchObject({ requests: 4 });
    // Up to ten minutes old they are summed from the records.
    await settle(await admit(accountId, keyId, at(1)));
    await rollUpUsage(setup.pool);
    expect(await rolledUp(accountId)).toMatchObject({ requests: 4 });
    expect((await summarizeUsage(setup.pool, { accountId, filter: {} })).totals.requests).toBe(5n);
  });

  it("are skipped while a late request is missing in them, and then made again", async () => {
    const accountId = await setup.account(BALANCE);
    const keyId = await setup.key(accountId);
    for (const minutes of [120, 60]) await settle(await admit(accountId, keyId, Date.now() - minutes * MINUTE_MS));
    await rollUpUsage(setup.pool);
    // Its machine was paused between the making of its id and its hold.
    await settle(await admit(accountId, keyId, Date.now() - 90 * MINUTE_MS));
    expect(await rolledUp(accountId)).toMatchObject({ requests: 2 });
    const [sums, truth] = await bothSums(accountId);
    expect(sums).toEqual(truth);
    expect(await rollUpUsage(setup.pool)).toMatchObject({ recounted: [accountId] });
    expect(await rolledUp(accountId)).toMatchObject({ requests: 3 });
    expect(await rollUpUsage(setup.pool)).toEqual({ stretches: 0, recounted: [] });
  });

  it("are found wrong by the audit when such a request was free, and corrected by a recount", async () => {
    const accountId = await setup.account(BALANCE);
    const keyId = await setup.key(accountId);
    await settle(await admit(accountId, keyId, Date.now() - 120 * MINUTE_MS));
    await rollUpUsage(setup.pool);
    const late = await admit(accountId, keyId, Date.now() - 90 * MINUTE_MS);
    await process.ledger.settle({ ...settlement(accountId, late.requestId, 0), basis: "free" });
    const check = "roll-ups of usage are the sums of its records";
    expect((await setup.audit()).violations).toMatchObject([{ check, subject: accountId }]);
    await recountUsage(setup.pool, accountId);
    expect(await setup.audit()).toEqual(SOUND);
    expect((await summarizeUsage(setup.pool, { accountId, filter: {} })).totals.requests).toBe(2n);
  });

  it.each(["requests", "output_tokens", "cache_write", "image_output", "charge", "saved_by_cache"])(
    "are found wrong by the audit in %s",
    async (column) => {
      const accountId = await setup.account(BALANCE);
      await settle(await admit(accountId, await setup.key(accountId), Date.now() - 60 * MINUTE_MS));
      await rollUpUsage(setup.pool);
      await setup.audit({ kind: "incremental" });
      await setup.asOwner(`UPDATE usage_roll_up SET ${column} = ${column} + 1 WHERE account_id = '${accountId}'`);
      const { ok, violations } = await setup.audit();
      expect(ok).toBe(false);
      expect(violations.map(({ subject }) => subject)).toEqual([accountId]);
      await recountUsage(setup.pool, accountId);
      expect(await setup.audit()).toEqual(SOUND);
    },
  );
});
