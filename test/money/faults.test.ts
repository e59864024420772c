import { kill } from "node:process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { GroupCommitLedger } from "../../src/ledger/group-commit/group-commit.ts";
import { StatementPipeline } from "../../src/ledger/group-commit/statement-pipeline.ts";
import { testBackends } from "../setup/test-database.ts";
import { admission, IS_MONEY_STATEMENT, MoneySetup, settlement, SOUND, type TestProcess } from "./money-setup.ts";

describe.each(testBackends())("faults of the %s database", (backend) => {
  let setup: MoneySetup;
  let process: TestProcess;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    process = await setup.process();
  });
  afterAll(() => setup.close());

  it("answers the neighbours of an account that stays locked, and that account once it is free", async () => {
    const [stuck, free] = [await setup.account(1_000n), await setup.account(1_000n)];
    const [stuckKey, freeKey] = [await setup.key(stuck), await setup.key(free)];
    const lock = await setup.lockRow("account", stuck);
    const blocked = process.ledger.admit(admission(stuck, stuckKey, 1n));
    const neighbours = await Promise.all([1, 2, 3].map(() => process.ledger.admit(admission(free, freeKey, 1n))));
    expect(neighbours.map(({ outcome }) => outcome)).toEqual(["granted", "granted", "granted"]);
    await lock.release();
    expect(await blocked).toMatchObject({ outcome: "granted" });
  });

  it("refuses an admission as busy while its account stays locked, and holds nothing", async () => {
    const account = await setup.account(1_000n);
    const key = await setup.key(account);
    const lock = await setup.lockRow("account", account);
    await expect(process.ledger.admit(admission(account, key, 1n))).rejects.toMatchObject({ code: "upstream_busy" });
    await lock.release();
    expect(await setup.balance(account)).toMatchObject({ held: 0n });
  });

  it("has the effect of one when connections are ended under the statements", async () => {
    const account = await setup.account(10_000_000n);
    const key = await setup.key(account);
    for (let round = 0; round < 15; round += 1) {
      const requests = Array.from({ length: 8 }, () => admission(account, key, 10_000n));
      const admissions = Promise.allSettled(requests.map((request) => process.ledger.admit(request)));
      await setup.endLaneBackends();
      const granted = (await admissions).map((each) => each.status === "fulfilled" && each.value.outcome === "granted");
      const settlements = Promise.all(
        requests.flatMap(({ requestId }, index) =>
          granted[index] === true ? [process.ledger.settle(settlement(account, requestId, 1))] : [],
        ),
      );
      await setup.endLaneBackends();
      expect((await settlements).every(({ charge }) => charge === 5_000n)).toBe(true);
    }
    expect(process.ledger.statistics().lostConnections).toBeGreaterThan(0);
    const { rows } = await setup.pool.query<{ id: string; amount: bigint }>(
      "SELECT id, amount FROM hold WHERE account_id = $1",
      [account],
    );
    // An admission that was refused during an outage may have been written; the sweep releases its hold.
    for (const { id } of rows) await process.ledger.release({ accountId: account, requestId: id });
    const balance = await setup.balance(account);
    const billed = await setup.pool.query<{ total: string }>(
      "SELECT sum(charge) AS total FROM usage_record WHERE account_id = $1",
      [account],
    );
    expect(balance).toMatchObject({ held: 0n, posted: 10_000_000n - BigInt(billed.rows[0]?.total ?? 0) });
  });

  it("finds the rows of a lost statement, even where it took the last money and the last slot", async () => {
    const lost: string[] = [];
    const ledger = new GroupCommitLedger({
      database: losingReplies(process.database, lost),
      owner: () => process.lease.processId,
      lanes: 1,
    });
    for (const parallel of [1, 5]) {
      const account = await setup.account(400n * BigInt(parallel));
      const key = await setup.key(account, parallel);
      const requests = Array.from({ length: parallel }, () => admission(account, key, 400n));
      lost.push(parallel === 1 ? "admission" : "group of admission");
      const admissions = await Promise.all(requests.map((request) => ledger.admit(request)));
      expect(admissions).toMatchObject(requests.map(() => ({ outcome: "granted", amount: 400n })));
      expect(await setup.balance(account)).toMatchObject({ available: 0n, held: 400n * BigInt(parallel) });

      lost.push(parallel === 1 ? "settlement" : "group of settlement");
      const settled = await Promise.all(
        requests.map(({ requestId }) => ledger.settle(settlement(account, requestId, 0))),
      );
      expect(settled).toEqual(requests.map(() => ({ cost: 0n, charge: 0n })));
      expect(await setup.balance(account)).toMatchObject({ available: 400n * BigInt(parallel), held: 0n });
    }
    expect(lost).toEqual([]);
    expect(ledger.statistics()).toMatchObject({ lostConnections: 4, open: 0, owed: 0 });
    await ledger.close();
  });

  it("keeps a delivered answer owed that could not be settled, and forgets an undelivered one", async () => {
    const account = await setup.account(1_000_000n);
    const key = await setup.key(account);
    const { lease, database } = process;
    const ledger = new GroupCommitLedger({ database, owner: () => lease.processId, lanes: 1 });
    const [had, notHad] = [admission(account, key, 100_000n), admission(account, key, 100_000n)];
    await Promise.all([ledger.admit(had), ledger.admit(notHad)]);
    await ledger.close(0);
    const refused = { code: "upstream_busy" };
    await expect(ledger.settle(settlement(account, had.requestId, 2))).rejects.toMatchObject(refused);
    const free = { ...settlement(account, notHad.requestId, 0), delivered: false };
    await expect(ledger.settle(free)).rejects.toMatchObject(refused);
    expect(ledger.statistics()).toMatchObject({ owed: 1, open: 1 });
    expect([ledger.isOpen(had.requestId), ledger.isOpen(notHad.requestId)]).toEqual([true, false]);
    for (const each of [settlement(account, had.requestId, 2), free]) await process.ledger.settle(each);
    expect(await setup.balance(account)).toMatchObject({ posted: 990_000n, held: 0n });
  });

  it("does not let forty requests of a locked account delay another account", async () => {
    const [stuck, free] = [await setup.account(1_000n), await setup.account(1_000n)];
    const [stuckKey, freeKey] = [await setup.key(stuck), await setup.key(free)];
    const lock = await setup.lockRow("account", stuck);
    const blocked = Array.from({ length: 40 }, () => process.ledger.admit(admission(stuck, stuckKey, 1n)));
    let answered = 0;
    for (const each of blocked) void each.then(() => (answered += 1));
    for (let round = 0; round < 5; round += 1) {
      expect(await process.ledger.admit(admission(free, freeKey, 1n))).toMatchObject({ outcome: "granted" });
    }
    expect(answered).toBe(0);
    await lock.release();
    expect((await Promise.all(blocked)).every(({ outcome }) => outcome === "granted")).toBe(true);
  });

  it("answers a free account while four others are locked, with settlements and admissions waiting for each", async () => {
    const free = await setup.account(1_000n);
    const freeKey = await setup.key(free);
    const stuck = await Promise.all(Array.from({ length: 4 }, () => setup.account(1_000n)));
    const keys = await Promise.all(stuck.map((account) => setup.key(account)));
    const held = stuck.map((account, index) => admission(account, keys[index] ?? "", 10n));
    await Promise.all(held.map((each) => process.ledger.admit(each)));
    const locks = await Promise.all(stuck.map((account) => setup.lockRow("account", account)));
    const settled = held.map(({ accountId, requestId }) => process.ledger.settle(settlement(accountId, requestId, 0)));
    const refused = Promise.allSettled(
      stuck.map((account, index) => process.ledger.admit(admission(account, keys[index] ?? "", 1n))),
    );
    // Longer than an admission waits for a lock: the locks are checked many times meanwhile.
    const until = performance.now() + 4_000;
    let answered = 0;
    while (performance.now() < until) {
      expect(await process.ledger.admit(admission(free, freeKey, 0n))).toMatchObject({ outcome: "granted" });
      answered += 1;
    }
    expect(answered).toBeGreaterThan(20);
    expect((await refused).map(({ status }) => status)).toEqual(stuck.map(() => "rejected"));
    await Promise.all(locks.map((lock) => lock.release()));
    expect(await Promise.all(settled)).toEqual(stuck.map(() => ({ cost: 0n, charge: 0n })));
  });

  it("settles again after its statement was canceled", async () => {
    const account = await setup.account(1_000_000n);
    const request = admission(account, await setup.key(account), 100_000n);
    await process.ledger.admit(request);
    const lock = await setup.lockRow("account", account);
    const settled = process.ledger.settle({ ...settlement(account, request.requestId, 2), delivered: true });
    const cancel = `SELECT pg_cancel_backend(pid) AS sent FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND ${IS_MONEY_STATEMENT}`;
    let canceled: unknown[] = [];
    for (let look = 0; look < 500 && canceled.length === 0; look += 1) canceled = await setup.asOwner(cancel);
    expect(canceled).toEqual([{ sent: true }]);
    await lock.release();
    expect(await settled).toEqual({ cost: 10_000n, charge: 10_000n });
    expect(process.ledger.statistics()).toMatchObject({ owed: 0 });
  });

  it("keeps the books in order through all of this", async () => {
    expect(await setup.audit()).toEqual(SOUND);
  });
});

// Only a server of our own can be made to hang.
describe("a backend of the embedded database that hangs", () => {
  let setup: MoneySetup;
  beforeAll(async () => {
    setup = await MoneySetup.create("embedded");
  });
  afterAll(() => setup.close());

  it("is given up, and the caller gets 'busy'", async () => {
    const other = await setup.process();
    const account = await setup.account(1_000n);
    const key = await setup.key(account);
    await other.ledger.admit(admission(account, key, 1n));
    const [hanging] = (await setup.asOwner(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${IS_MONEY_STATEMENT}
       ORDER BY backend_start DESC LIMIT 1`,
    )) as { pid: number }[];
    // A signal to process 0 would stop this test run, and all else in its group.
    if (hanging === undefined) throw new Error("no backend has run a money statement");
    kill(hanging.pid, "SIGSTOP");
    try {
      await expect(other.ledger.admit(admission(account, key, 1n))).rejects.toMatchObject({ code: "upstream_busy" });
    } finally {
      kill(hanging.pid, "SIGCONT");
    }
    expect(await other.ledger.admit(admission(account, key, 1n))).toMatchObject({ outcome: "granted" });
  });
});

/** The database, with connections that break after the commit of each named statement, before its reply is read. */
function losingReplies(database: Database, names: string[]): Database {
  return {
    ...database,
    async connect() {
      const client = await database.connect();
      const query = client.query.bind(client) as (config: unknown) => unknown;
      const losing = (config: unknown): unknown => {
        if (!(config instanceof StatementPipeline)) return query(config);
        if (!config.statements.some(({ name }) => name === names[0])) return query(config);
        names.shift();
        const lost = config.rows.then(() => {
          throw new Error("Connection terminated unexpectedly");
        });
        return query(Object.assign(config, { rows: lost }));
      };
      return Object.assign(client, { query: losing });
    },
  };
}
