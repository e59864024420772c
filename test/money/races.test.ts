// Two statements that want the same money at the same time. Where the order matters, the row is locked until both wait for it, so
// that each order really happens; the expectations hold for either winner.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withTransaction } from "../../src/database/transactions.ts";
import { ValidationError } from "../../src/kernel/errors.ts";
import { creditAccount, creditOnce } from "../../src/ledger/credits.ts";
import { GroupCommitLedger } from "../../src/ledger/group-commit/group-commit.ts";
import { recoverHolds } from "../../src/ledger/recovery.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { testBackends } from "../setup/test-database.ts";
import { chooseSeed, seededRandom } from "./random.ts";
import { admission, type LockedRow, MoneySetup, settlement, SOUND, type TestProcess } from "./money-setup.ts";

const ROUNDS = 10;
const rounds = Array.from({ length: ROUNDS }, (_, round) => round);

describe.each(testBackends())("races on the %s database", (backend) => {
  let setup: MoneySetup;
  let processes: [TestProcess, TestProcess];
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    processes = [await setup.process(), await setup.process()];
  });
  afterAll(() => setup.close());

  const processOf = (number: number): TestProcess => processes[number % 2 === 0 ? 0 : 1];
  const slotsOf = async (keyId: string): Promise<string[]> => {
    const { rows } = await setup.pool.query<{ slots: string[] }>(
      "SELECT slots::text[] AS slots FROM api_key WHERE id = $1",
      [keyId],
    );
    return rows[0]?.slots ?? [];
  };
  /** An account with a hold of 400 000 and another one beside it, whose money would be lost if the first were resolved twice. */
  async function twoHolds(process: TestProcess) {
    const account = await setup.account(1_000_000n);
    const key = await setup.key(account);
    const [raced, other] = [admission(account, key, 400_000n), admission(account, key, 500_000n)];
    for (const request of [raced, other]) await process.ledger.admit(request);
    return { account, requestId: raced.requestId, other: other.requestId };
  }
  /** Both reach the locked row, one after the other, before it is unlocked. */
  async function meet(lock: LockedRow, one: () => Promise<unknown>, two: () => Promise<unknown>): Promise<void> {
    const running: Promise<unknown>[] = [one()];
    await lock.queued(1);
    running.push(two());
    await lock.queued(2);
    await lock.release();
    await Promise.all(running);
  }
  const chargeOf = async (requestId: string): Promise<bigint | undefined> => {
    const { rows } = await setup.pool.query<{ charge: bigint }>(
      "SELECT charge FROM usage_record WHERE request_id = $1",
      [requestId],
    );
    expect(rows.length).toBeLessThanOrEqual(1);
    return rows[0]?.charge;
  };

  it.each(rounds)("for the last money admit exactly as many as it covers, in two processes (round %i)", async () => {
    const seed = chooseSeed();
    const random = seededRandom(seed);
    const [covered, wanted] = [Math.floor(random() * 40), 40 + Math.floor(random() * 40)];
    const price = BigInt(1 + Math.floor(random() * 1_000));
    const account = await setup.account(price * BigInt(covered) + BigInt(Math.floor(random() * Number(price))));
    const keys = [await setup.key(account), await setup.key(account, 60)];
    const admissions = await Promise.all(
      Array.from({ length: wanted }, (_, index) =>
        processOf(index).ledger.admit(admission(account, keys[index % 7 === 0 ? 1 : 0] ?? "", price)),
      ),
    );
    const granted = admissions.filter(({ outcome }) => outcome === "granted");
    expect(granted, `seed ${seed}`).toHaveLength(covered);
    expect(admissions.filter(({ outcome }) => outcome === "refused")).toHaveLength(wanted - covered);
    expect((await setup.balance(account)).held).toBe(price * BigInt(covered));
  });

  it.each(["settlement", "recovery"])(
    "between a recovery and a late settlement are won by one, the %s first",
    async (first) => {
      for (const tokens of [3, 70]) {
        const victim = await setup.process();
        const { account, requestId, other } = await twoHolds(victim);
        await setup.pool.query("UPDATE hold SET progress_input_tokens = 20 WHERE id = $1", [requestId]);
        await setup.pool.query("UPDATE process SET dead_at = clock_timestamp() WHERE id = $1", [
          victim.lease.processId,
        ]);
        const lock = await setup.lockRow("account", account);
        const settle = () => victim.ledger.settle(settlement(account, requestId, tokens));
        const recover = () => recoverHolds(setup.pool);
        const [one, two] = first === "settlement" ? [settle, recover] : [recover, settle];
        await meet(lock, one, two);
        await recoverHolds(setup.pool);
        const charge = (await chargeOf(requestId)) ?? 0n;
        const cost = BigInt(tokens) * 5_000n;
        expect([cost, 100_000n]).toContain(charge);
        // The cost that recovery did not charge is posted once.
        const late = first === "recovery" && cost > charge ? cost - charge : 0n;
        const again = await victim.ledger.settle(settlement(account, requestId, 1));
        expect(again).toMatchObject({ charge: charge + late });
        expect(await chargeOf(other)).toBe(0n); // recovered without progress
        const posted = 1_000_000n - charge - late;
        expect(await setup.balance(account)).toEqual({ posted, held: 0n, available: posted });
      }
    },
  );

  it.each(["settlement", "sweep"])("between a settlement and a sweep are won by one, the %s first", async (first) => {
    const [process, other] = processes;
    const { account, requestId } = await twoHolds(process);
    const lock = await setup.lockRow("account", account);
    const settle = () => process.ledger.settle(settlement(account, requestId, 7));
    const sweep = () => other.ledger.release({ accountId: account, requestId });
    const [one, two] = first === "settlement" ? [settle, sweep] : [sweep, settle];
    await meet(lock, one, two);
    const charge = await chargeOf(requestId);
    expect([0n, 35_000n]).toContain(charge);
    const posted = 1_000_000n - (charge ?? 0n);
    expect(await setup.balance(account)).toEqual({ posted, held: 500_000n, available: posted - 500_000n });
    expect(await settle()).toMatchObject({ charge });
  });

  it.each(rounds)(
    "between commands with one reference on two accounts are won by one, and the others are refused (round %i)",
    async (round) => {
      const accounts = [await setup.account(0n), await setup.account(0n)];
      const reference = `race:${backend}:${round}`;
      const credits = await Promise.allSettled(
        Array.from({ length: 10 }, (_, index) =>
          withTransaction(processOf(index).database, (client) =>
            creditOnce(client, {
              accountId: accounts[index % accounts.length] ?? "",
              amount: BigInt(1_000 + index),
              from: systemAccounts.promotions,
              reason: "demo_credit",
              reference,
            }),
          ),
        ),
      );
      const refusals = credits.filter((credit) => credit.status === "rejected").map(({ reason }) => reason as unknown);
      expect(refusals).toHaveLength(credits.length - 1);
      for (const refusal of refusals) expect(refusal).toBeInstanceOf(ValidationError);
      const { rows } = await setup.pool.query<{ credit: string; amount: string }>(
        "SELECT credit, amount FROM posting WHERE reference = $1",
        [reference],
      );
      expect(rows).toHaveLength(1);
      for (const account of accounts) {
        const posted = account === rows[0]?.credit ? BigInt(rows[0].amount) : 0n;
        expect(await setup.balance(account)).toMatchObject({ posted });
      }
    },
  );

  it.each(rounds)(
    "between credits with one reference are won by one, whatever the others contain (round %i)",
    async (round) => {
      const accountId = await setup.account(0n);
      const reference = `credit:${backend}:${round}`;
      const from = systemAccounts.promotions;
      const credits = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          withTransaction(processOf(index).database, (client) =>
            creditAccount(client, { accountId, amount: BigInt(1_000 + index), from, reason: "demo_credit", reference }),
          ),
        ),
      );
      expect(new Set(credits.map(({ postingId }) => postingId)).size).toBe(1);
      expect(await setup.balance(accountId)).toMatchObject({ posted: credits[0]?.amount });
    },
  );

  it.each([1, 5])("of %i admissions against a revocation: none is admitted after its commit", async (parallel) => {
    const [process] = processes;
    const account = await setup.account(1_000_000n);
    const key = await setup.key(account, 60);
    const lock = await setup.lockRow("account", account);
    const waiting = Array.from({ length: parallel }, () => process.ledger.admit(admission(account, key, 1n)));
    await lock.queued(1);
    await setup.pool.query("UPDATE api_key SET revoked_at = clock_timestamp() WHERE id = $1", [key]);
    await lock.release();
    expect((await Promise.all(waiting)).map(({ outcome }) => outcome)).toEqual(waiting.map(() => "revoked"));
    expect(await setup.balance(account)).toMatchObject({ held: 0n });
    expect(await slotsOf(key)).toEqual([]);
  });

  it.each([1, 5])("of %i admissions against a credit: they see it once they have locked the row", async (parallel) => {
    const [process] = processes;
    const account = await setup.account(100n);
    const key = await setup.key(account);
    const lock = await setup.lockRow("account", account);
    const waiting = Array.from({ length: parallel }, () => process.ledger.admit(admission(account, key, 500n)));
    await lock.queued(1);
    await lock.release(`
      INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason)
        VALUES ('${account}', '${admission(account, key, 0n).requestId}', '${account}', 'IDR/6', '${systemAccounts.promotions}', '${account}', 5000, 'demo_credit');
      UPDATE account SET posted = posted + 5000 WHERE id = '${account}'`);
    expect((await Promise.all(waiting)).map(({ outcome }) => outcome)).toEqual(waiting.map(() => "granted"));
    expect(await setup.balance(account)).toMatchObject({ posted: 5_100n, held: 500n * BigInt(parallel) });
  });

  it.each([1, 5])("of %i admissions against a lock: they are counted at their admission", async (parallel) => {
    const [process] = processes;
    const account = await setup.account(1_000n);
    const key = await setup.key(account, 60);
    const lock = await setup.lockRow("account", account);
    const waiting = Array.from({ length: parallel }, () => process.ledger.admit(admission(account, key, 1n)));
    await lock.queued(1);
    const released = await lock.release();
    await Promise.all(waiting);
    const { rows } = await setup.pool.query(
      "SELECT count(*) FILTER (WHERE slot > $2::timestamptz)::int AS after FROM api_key, unnest(slots) AS slot WHERE id = $1",
      [key, released],
    );
    expect(rows).toEqual([{ after: parallel }]);
  });

  it.each([1, 5])(
    "of %i admissions against a read by the same key: all are counted in its window",
    async (parallel) => {
      const [process] = processes;
      const account = await setup.account(1_000n);
      const key = await setup.key(account, parallel);
      const lock = await setup.lockRow("api_key", key);
      const waiting = Array.from({ length: parallel }, () => process.ledger.admit(admission(account, key, 1n)));
      await lock.queued(1);
      await lock.release(`UPDATE api_key SET slots = slots || clock_timestamp() WHERE id = '${key}'`);
      const outcomes = (await Promise.all(waiting)).map(({ outcome }) => outcome);
      expect(outcomes.filter((outcome) => outcome === "granted")).toHaveLength(parallel - 1);
      expect(outcomes.filter((outcome) => outcome === "limited")).toHaveLength(1);
      expect(await slotsOf(key)).toHaveLength(parallel);
    },
  );

  it("of a lost statement against its own replay: only one takes the last money", async () => {
    const { database, lease } = processes[0];
    const clients: { connection: { stream: { destroy(): void } } }[] = [];
    const ledger = new GroupCommitLedger({
      database: {
        ...database,
        async connect() {
          const client = await database.connect();
          // The lost one must still wait when its statement is sent again, however slow the machine is.
          await client.query("SET lock_timeout = '30s'");
          clients.push(client);
          return client;
        },
      },
      owner: () => lease.processId,
      lanes: 1,
    });
    const account = await setup.account(400n);
    const key = await setup.key(account, 1);
    await ledger.open();
    const lock = await setup.lockRow("account", account);
    const request = admission(account, key, 400n);
    const waiting = ledger.admit(request);
    const [lost] = await lock.queued(1);
    // The client is gone; its backend still waits for the row, and would continue.
    for (const { connection } of clients) connection.stream.destroy();
    await expect.poll(async () => (await lock.queued(1)).some((pid) => pid !== lost)).toBe(true);
    expect(await lock.queued(1)).not.toContain(lost);
    await lock.release();
    expect(await waiting).toMatchObject({ outcome: "granted", amount: 400n });
    expect(await setup.balance(account)).toMatchObject({ held: 400n });
    await ledger.close();
  });

  it("the database itself refuses every winner that would make a balance negative", async () => {
    const account = await setup.account(1_000n);
    const set = (values: string) => setup.pool.query(`UPDATE account SET ${values} WHERE id = $1`, [account]);
    for (const values of ["held = 1001", "held = -1", "posted = -1"])
      await expect(set(values)).rejects.toMatchObject({ constraint: "account_never_negative" });
    expect(await setup.balance(account)).toEqual({ posted: 1_000n, held: 0n, available: 1_000n });
  });

  it("keep the books in order through all of this", async () => {
    expect(await setup.audit()).toEqual(SOUND);
  });
});
