// A settlement after a recovery of its request: its process was paused for longer than its lease.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import type { Settlement } from "../../src/ledger/ledger.ts";
import { postLateUsage } from "../../src/ledger/late-usage.ts";
import { recoverHolds } from "../../src/ledger/recovery.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { readTrialBalance } from "../../src/ledger/trial-balance.ts";
import { testBackends } from "../setup/test-database.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "./money-setup.ts";
import { creditUsageByOperator } from "../setup/operator-credit.ts";

const UNIT = 5_000n; // micro-rupiah of one input token
const HOLD = 100n * UNIT;

describe.each(testBackends())("a settlement after a recovery on the %s database", (backend) => {
  let setup: MoneySetup;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
  });
  afterAll(() => setup.close());

  /** A request of a process that was declared dead, recovered with so many input tokens of progress. */
  async function recovered({ balance, progress = 0 }: { balance: bigint; progress?: number }) {
    const sleeper = await setup.process();
    const account = await setup.account(balance);
    const request = admission(account, await setup.key(account), HOLD);
    expect(await sleeper.ledger.admit(request)).toMatchObject({ outcome: "granted" });
    // Without progress this changes nothing.
    const none = { amount: 0n, leastAmount: 0n, outputTokens: 0 };
    const { requestId } = request;
    expect(await sleeper.ledger.extend({ accountId: account, requestId, inputTokens: progress, ...none })).toEqual({
      outcome: "granted",
      amount: HOLD,
    });
    await setup.pool.query("UPDATE process SET dead_at = clock_timestamp() WHERE id = $1", [sleeper.lease.processId]);
    expect(await recoverHolds(setup.pool)).toBe(1);
    return { sleeper, account, id: request.requestId };
  }

  const postingsOf = async (id: string) =>
    (
      await setup.pool.query(
        "SELECT debit, credit, amount, reason, reference FROM posting WHERE group_id = $1 ORDER BY reason DESC",
        [id],
      )
    ).rows as unknown[];

  const whole = (account: string, id: string, tokens: number): Settlement => ({
    ...settlement(account, id, tokens),
    delivered: false,
  });

  async function settledOnce(process: TestProcess, what: Settlement) {
    const settled = await process.ledger.settle(what);
    const { rows } = await setup.pool.query("SELECT basis FROM usage_record WHERE request_id = $1", [what.requestId]);
    expect(rows).toEqual([{ basis: "recovered" }]);
    return settled;
  }

  it("posts the delivered cost beyond the charge of recovery, once", async () => {
    const { sleeper, account, id } = await recovered({ balance: 1_000n * UNIT, progress: 10 });
    expect(await setup.balance(account)).toMatchObject({ posted: 990n * UNIT, held: 0n });
    const expected = { cost: 30n * UNIT, charge: 30n * UNIT, late: "posted" };
    expect(await settledOnce(sleeper, settlement(account, id, 30))).toEqual(expected);
    expect(sleeper.ledger.statistics()).toMatchObject({ late: 1, uncollected: 0n });
    const other = await setup.process();
    for (const { ledger } of [sleeper, other])
      expect(await ledger.settle(settlement(account, id, 30))).toEqual(expected);
    expect(await setup.balance(account)).toMatchObject({ posted: 970n * UNIT, held: 0n });
    expect(await postingsOf(id)).toEqual([
      {
        debit: account,
        credit: systemAccounts.revenue,
        amount: String(20n * UNIT),
        reason: "late_usage",
        reference: `late:${id}`,
      },
    ]);
    const { rows } = await setup.pool.query(
      "SELECT amount FROM ledger_entries WHERE account_id = $1 AND group_id = $2 ORDER BY amount",
      [account, id],
    );
    expect(rows).toEqual([{ amount: String(-20n * UNIT) }, { amount: String(-10n * UNIT) }]);
  });

  it("lets the operator bear the cost that the balance does not cover, and takes no owed or held money", async () => {
    const { sleeper, account, id } = await recovered({ balance: 100n * UNIT });
    const key = await setup.key(account);
    await sleeper.lease.renew();
    expect(await sleeper.ledger.admit(admission(account, key, 60n * UNIT))).toMatchObject({ outcome: "granted" });
    expect(await settledOnce(sleeper, settlement(account, id, 90))).toEqual({
      cost: 90n * UNIT,
      charge: 40n * UNIT,
      late: "posted",
    });
    expect(await setup.balance(account)).toEqual({ posted: 60n * UNIT, held: 60n * UNIT, available: 0n });
    expect(await postingsOf(id)).toMatchObject([
      { debit: account, amount: String(40n * UNIT), reason: "late_usage" },
      { debit: systemAccounts.operatorLoss, amount: String(50n * UNIT), reason: "late_uncollected" },
    ]);
    expect(sleeper.ledger.statistics()).toMatchObject({ late: 1, uncollected: 50n * UNIT });
  });

  it("posts a whole answer in full or not at all", async () => {
    const rich = await recovered({ balance: 100n * UNIT });
    expect(await settledOnce(rich.sleeper, whole(rich.account, rich.id, 100))).toEqual({
      cost: 100n * UNIT,
      charge: 100n * UNIT,
      late: "posted",
    });
    const poor = await recovered({ balance: 100n * UNIT });
    expect(await settledOnce(poor.sleeper, whole(poor.account, poor.id, 101))).toEqual({
      cost: 101n * UNIT,
      charge: 0n,
      late: "refused",
    });
    expect(await setup.balance(poor.account)).toMatchObject({ posted: 100n * UNIT });
    expect(await postingsOf(poor.id)).toEqual([]);
    expect(poor.sleeper.ledger.statistics()).toMatchObject({ late: 1, uncollected: 0n });
  });

  it("waits for a commit that was lost on its way, and returns what it posted", async () => {
    const { account, id } = await recovered({ balance: 100n * UNIT });
    const commits: (() => Promise<void>)[] = [];
    const pool = {
      connect: async () => {
        const client = await setup.pool.connect();
        if (commits.length > 0) return client;
        // The transaction holds the account's lock until its COMMIT arrives, behind the time for which a later try waits.
        commits.push(async () => {
          await client.query("COMMIT");
          client.release();
        });
        const query = (text: string, values?: unknown[]) =>
          text === "COMMIT" || text === "ROLLBACK"
            ? Promise.reject(new Error("Connection terminated unexpectedly"))
            : client.query(text, values);
        return { query, release: () => undefined };
      },
    } as unknown as Database["pool"];
    const posting = postLateUsage({ pool }, whole(account, id, 100));
    const arrives = sleep(6_000).then(() => commits[0]?.());
    expect(await posting).toEqual({ cost: 100n * UNIT, charge: 100n * UNIT, late: "posted" });
    await arrives;
    expect(await setup.balance(account)).toMatchObject({ posted: 0n });
    expect(await postingsOf(id)).toHaveLength(1);
  });

  it("gives nothing back where recovery charged more, and posts nothing for a free request", async () => {
    const { sleeper, account, id } = await recovered({ balance: 100n * UNIT, progress: 10 });
    expect(await settledOnce(sleeper, settlement(account, id, 8))).toMatchObject({
      charge: 10n * UNIT,
      late: "posted",
    });
    const free = await recovered({ balance: 100n * UNIT });
    await free.sleeper.ledger.release({ accountId: free.account, requestId: free.id });
    for (const each of [id, free.id]) expect(await postingsOf(each)).toEqual([]);
    expect(free.sleeper.ledger.statistics()).toMatchObject({ late: 0, open: 0 });
  });

  it("posts once for settlements that race, also in a group", async () => {
    const { sleeper, account, id } = await recovered({ balance: 100n * UNIT });
    const others = await Promise.all([setup.process(), setup.process()]);
    const settled = await Promise.all(
      [sleeper, sleeper, sleeper, sleeper, ...others].map(({ ledger }) => ledger.settle(settlement(account, id, 7))),
    );
    expect(new Set(settled.map(({ charge }) => charge))).toEqual(new Set([7n * UNIT]));
    expect(await setup.balance(account)).toMatchObject({ posted: 93n * UNIT });
  });

  it("can be credited by notes up to both charges", async () => {
    const { sleeper, account, id } = await recovered({ balance: 100n * UNIT, progress: 10 });
    await sleeper.ledger.settle(settlement(account, id, 30));
    const credit = (amount: bigint | null, name: string) =>
      withTransaction(setup.opened.database, (client) =>
        creditUsageByOperator(client, { requestId: id, amount, note: "", name }),
      );
    await expect(credit(31n * UNIT, "too much")).rejects.toThrow("left to credit");
    expect(await credit(null, "all")).toMatchObject({ amount: 30n * UNIT, left: 0n });
    expect(await setup.balance(account)).toMatchObject({ posted: 100n * UNIT });
  });

  it("keeps the books in order, and its rows cannot be changed", async () => {
    expect(await setup.audit()).toEqual(SOUND);
    expect(await setup.audit({ kind: "incremental" })).toEqual(SOUND);
    expect((await readTrialBalance(setup.pool)).isBalanced).toBe(true);
    await expect(setup.asOwner("UPDATE late_usage SET charge = 0")).rejects.toThrow("append-only");
    await expect(setup.asOwner("TRUNCATE late_usage")).rejects.toThrow("append-only");
  });

  it.each([
    [
      "late usage belongs to a record of recovery, and its cost is recomputed",
      "UPDATE late_usage SET cost = cost + 1 WHERE request_id = '$id'",
    ],
    [
      "late usage is posted once, to the customer and to our loss, and comes to what the record lacks",
      "UPDATE late_usage SET charge = charge - 1 WHERE request_id = '$id'",
    ],
    ["a charge of late usage has its late usage", "DELETE FROM late_usage WHERE request_id = '$id'"],
    [
      "a loss of ours is what was cut off a charge",
      "UPDATE posting SET amount = amount + 1 WHERE reference = 'late-loss:$id'",
    ],
  ])("is looked at by the audit: %s", async (check, damage) => {
    const { sleeper, account, id } = await recovered({ balance: 110n * UNIT, progress: 10 });
    await sleeper.ledger.settle(settlement(account, id, 200));
    expect(await setup.audit()).toEqual(SOUND);
    const table = damage.includes(" posting ") ? "posting" : "late_usage";
    await setup.asOwner(`
      ALTER TABLE ${table} DISABLE TRIGGER append_only;
      CREATE TABLE kept AS SELECT * FROM ${table};
      ${damage.replaceAll("$id", id)};
      ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only`);
    const found = await setup.audit();
    await setup.asOwner(`
      ALTER TABLE ${table} DISABLE TRIGGER append_only;
      DELETE FROM ${table};
      INSERT INTO ${table} SELECT * FROM kept;
      DROP TABLE kept;
      ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only`);
    expect(found.violations.map((violation) => violation.check)).toContain(check);
    expect(await setup.audit()).toEqual(SOUND);
  });
});
