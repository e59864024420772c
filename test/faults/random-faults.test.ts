// Two processes that work on the same accounts while faults of every kind hit their transactions, and the final
// comparison.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DomainError } from "../../src/kernel/errors.ts";
import { sweepOwnHolds } from "../../src/ledger/jobs/holds.ts";
import { chooseSeed, seededRandom } from "../money/random.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "../money/money-setup.ts";
import { testBackends } from "../setup/test-database.ts";
import { ALL_FAULTS, randomFaults } from "./nemesis.ts";
import { kindOf, PostgresProxy } from "./postgres-proxy.ts";

const REQUESTS = 1_500;
/** Chance may leave out a kind of fault for long: it continues until each has occurred, but not for ever. */
const MOST_REQUESTS = 4 * REQUESTS;
const AT_ONCE = 24;
const ACCOUNTS = 6;
const CHANCE = 0.05;
/** The part of the requests that hold more while they run. */
const EXTENDED = 0.4;
const BALANCE = 20_000_000n;

describe.each(testBackends())("random faults before the %s database", (backend) => {
  let setup: MoneySetup;
  let proxy: PostgresProxy;
  let processes: [TestProcess, TestProcess];
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    proxy = await PostgresProxy.before(setup.opened.url);
    const url = proxy.urlFor(setup.opened.url);
    processes = [await setup.process(1, url), await setup.process(2, url)];
  });
  afterAll(async () => {
    await setup.close();
    await proxy.close();
  });

  it("leave every request with the one effect that its caller was shown, and nothing held", async () => {
    const seed = chooseSeed();
    const random = seededRandom(seed);
    const whole = (below: number): number => Math.floor(random() * below);
    const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => setup.account(BALANCE)));
    const keys = await Promise.all(accounts.map((account) => setup.key(account)));
    /** The cost that callers were shown, by request. Undefined: they were asked to come again. */
    const charges = new Map<string, bigint | undefined>();
    /** The outcomes of extensions. */
    const outcomes = new Set<string>();

    async function one(): Promise<void> {
      const { ledger } = random() < 0.5 ? processes[0] : processes[1];
      const index = whole(ACCOUNTS);
      const accountId = accounts[index] ?? "";
      const request = admission(accountId, keys[index] ?? "", BigInt(1 + whole(400_000)), 1n);
      const decision = await ledger.admit(request).catch(requireBusy);
      if (decision?.outcome !== "granted") return;
      if (random() < EXTENDED) {
        const amount = decision.amount + BigInt(1 + whole(400_000));
        const { requestId } = request;
        const progress = { inputTokens: 1 + whole(60), outputTokens: whole(20) };
        const more = { accountId, requestId, amount, leastAmount: decision.amount + 1n, ...progress };
        const extended = await ledger.extend(more).catch(requireBusy);
        if (extended !== undefined) outcomes.add(extended.outcome);
      }
      const settled = await ledger.settle(settlement(accountId, request.requestId, whole(60))).catch(requireBusy);
      charges.set(request.requestId, settled?.charge);
    }
    proxy.rule = randomFaults(random, { chance: CHANCE, statements: /admi|exten|settle|recall/ });
    const isMissing = () => ALL_FAULTS.some((fault) => !proxy.done.has(kindOf(fault)));
    let begun = 0;
    const work = async (): Promise<void> => {
      while (begun < REQUESTS || (begun < MOST_REQUESTS && isMissing())) {
        begun += 1;
        await one();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    proxy.rule = () => undefined;

    for (const { ledger } of processes) {
      await ledger.settleOwed();
      expect(ledger.statistics(), `seed ${seed}`).toMatchObject({ owed: 0, open: 0, depth: 0 });
    }
    await setup.pool.query("UPDATE hold SET placed_at = placed_at - interval '2 minutes'");
    for (const process of processes) await sweepOwnHolds({ pool: setup.pool, ...process });

    const { rows } = await setup.pool.query<{ id: string; account: string; charge: bigint }>(
      "SELECT request_id AS id, account_id AS account, charge FROM usage_record",
    );
    const billed = new Map(rows.map(({ id, charge }) => [id, charge]));
    const wrong = [...charges].filter(
      ([id, charge]) => !billed.has(id) || (charge ?? billed.get(id)) !== billed.get(id),
    );
    expect(wrong, `seed ${seed}`).toEqual([]);
    // The hold of a running request is not resolved.
    expect([...outcomes], `seed ${seed}`).toContain("granted");
    expect([...outcomes], `seed ${seed}`).not.toContain("gone");
    // A request that was never granted to its caller cost nothing.
    expect(
      rows.filter(({ id, charge }) => !charges.has(id) && charge !== 0n),
      `seed ${seed}`,
    ).toEqual([]);
    for (const account of accounts) {
      const posted = rows.reduce((left, row) => (row.account === account ? left - row.charge : left), BALANCE);
      expect(await setup.balance(account), `seed ${seed}`).toEqual({ posted, held: 0n, available: posted });
    }
    expect(await setup.audit(), `seed ${seed}`).toEqual(SOUND);
    // Each kind of fault occurred.
    expect(new Set(proxy.done.keys())).toEqual(new Set(ALL_FAULTS.map(kindOf)));
  }, 120_000);
});

function requireBusy(error: unknown): undefined {
  if (error instanceof DomainError && error.code === "upstream_busy") return undefined;
  throw error;
}
