// Refusals by PostgreSQL: serialization failures and deadlocks, provoked for real; unwritable rows in a group of
// others; a full disk. The server raises the last two kinds itself, inside the transaction, when the proxy requests it.

import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { sqlState } from "../../src/database/transactions.ts";
import { GroupCommitLedger } from "../../src/ledger/group-commit/group-commit.ts";
import { admissionStatement } from "../../src/ledger/group-commit/admission.ts";
import { settlementStatement } from "../../src/ledger/group-commit/settlement.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "../money/money-setup.ts";
import { testBackends } from "../setup/test-database.ts";
import { PostgresProxy } from "./postgres-proxy.ts";

/** The names of a lane's statements. */
const MONEY = /admi|settle/;
const BUSY = { code: "upstream_busy" };

describe.each(testBackends())("what the %s database refuses", (backend) => {
  let setup: MoneySetup;
  let proxy: PostgresProxy;
  let process: TestProcess;
  const ledgers: GroupCommitLedger[] = [];
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    proxy = await PostgresProxy.before(setup.opened.url);
    process = await setup.process(1, proxy.urlFor(setup.opened.url));
  });
  afterEach(() => {
    proxy.rule = () => undefined;
    proxy.errors.clear();
  });
  afterAll(async () => {
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    await setup.close();
    await proxy.close();
  });

  /** A ledger whose lane has these settings: they make PostgreSQL fail where it otherwise would not. */
  async function ledgerWith(settings: readonly string[], clients: pg.Client[] = []): Promise<GroupCommitLedger> {
    const { lease } = process;
    const database: Database = {
      ...process.database,
      async connect() {
        const client = await process.database.connect();
        for (const setting of settings) await client.query(`SET ${setting}`);
        clients.push(client);
        return client;
      },
    };
    const ledger = new GroupCommitLedger({ database, owner: () => lease.processId, lanes: 1 });
    await ledger.open();
    ledgers.push(ledger);
    return ledger;
  }

  /** Another session, in a transaction that has run a statement. */
  async function session(text: string, values: readonly unknown[]): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: setup.opened.url });
    await client.connect();
    await client.query("BEGIN");
    await client.query(text, [...values]);
    return client;
  }
  const CHANGE = "UPDATE account SET posted = posted WHERE id = $1";
  const LOCK = "SELECT FROM account WHERE id = $1 FOR UPDATE";

  it.each([1, 3])("runs again after a serialization failure, %i at once", async (size) => {
    // In READ COMMITTED, which serving uses, PostgreSQL never reports this failure.
    const ledger = await ledgerWith(["default_transaction_isolation = 'repeatable read'", "lock_timeout = '20s'"]);
    const account = await setup.account(1_000n);
    const key = await setup.key(account, size);
    const other = await session(CHANGE, [account]);
    const admissions = Array.from({ length: size }, () => ledger.admit(admission(account, key, 10n)));
    await setup.untilWaiting();
    await other.query("COMMIT");
    await other.end();
    expect(await Promise.all(admissions)).toMatchObject(admissions.map(() => ({ outcome: "granted" })));
    expect(proxy.errors.get("40001")).toBe(1);
    expect(await setup.balance(account)).toMatchObject({ held: 10n * BigInt(size) });
  });

  it("runs again after a deadlock", async () => {
    const ledger = await ledgerWith(["lock_timeout = '20s'"]);
    // PostgreSQL ends the one that first looks, a second after it began to wait. On a busy machine that can be the other.
    for (let round = 0; proxy.errors.get("40P01") === undefined; round += 1) {
      expect(round).toBeLessThan(10);
      const accounts = [await setup.account(1_000n), await setup.account(1_000n)].toSorted();
      const [first = "", last = ""] = accounts;
      const keys = [await setup.key(first), await setup.key(last)];
      const other = await session(LOCK, [last]);
      const admissions = accounts.map((account, index) => ledger.admit(admission(account, keys[index] ?? "", 10n)));
      await setup.untilWaiting();
      const [met] = await Promise.allSettled([other.query(LOCK, [first])]);
      expect([undefined, "40P01"]).toContain(met.status === "rejected" ? sqlState(met.reason) : undefined);
      await other.query("ROLLBACK");
      await other.end();
      expect(await Promise.all(admissions)).toMatchObject([{ outcome: "granted" }, { outcome: "granted" }]);
    }
  });

  it.each(["40001", "40P01"])("gives up after a bounded number of %s, and owes what was delivered", async (raise) => {
    const { ledger } = process;
    const account = await setup.account(1_000_000n);
    const key = await setup.key(account);
    const held = admission(account, key, 100_000n);
    await ledger.admit(held);
    proxy.rule = ({ statements }) => (MONEY.test(statements.join(" ")) ? { raise } : undefined);
    await expect(ledger.admit(admission(account, key, 1n))).rejects.toMatchObject(BUSY);
    expect(proxy.errors.get(raise)).toBe(admissionStatement.maxAttempts);
    await expect(ledger.settle(settlement(account, held.requestId, 2))).rejects.toMatchObject(BUSY);
    expect(proxy.errors.get(raise)).toBe(admissionStatement.maxAttempts + settlementStatement.maxAttempts);
    expect(await setup.balance(account)).toMatchObject({ posted: 1_000_000n, held: 100_000n });
    proxy.rule = () => undefined;
    expect(ledger.statistics().owed).toBe(1);
    expect(await ledger.settleOwed()).toBe(1);
    expect(await setup.balance(account)).toMatchObject({ posted: 990_000n, held: 0n });
  });

  it("answers busy while the disk is full, holds nothing, and bills delivered answers once there is room", async () => {
    const { ledger } = process;
    const account = await setup.account(1_000_000n);
    const key = await setup.key(account);
    const held = [1, 2, 3].map(() => admission(account, key, 100_000n));
    await Promise.all(held.map((request) => ledger.admit(request)));
    proxy.rule = ({ statements }) => (MONEY.test(statements.join(" ")) ? { raise: "53100" } : undefined);
    const refused = await Promise.allSettled([
      ...[1, 2, 3].map(() => ledger.admit(admission(account, key, 1n))),
      ...held.map(({ requestId }) => ledger.settle(settlement(account, requestId, 2))),
    ]);
    expect(refused).toMatchObject(refused.map(() => ({ status: "rejected", reason: BUSY })));
    expect(await setup.balance(account)).toMatchObject({ posted: 1_000_000n, held: 300_000n });
    proxy.rule = () => undefined;
    expect(await ledger.settleOwed()).toBe(3);
    expect(await setup.balance(account)).toMatchObject({ posted: 970_000n, held: 0n });
    expect(ledger.statistics()).toMatchObject({ owed: 0, open: 0 });
  });

  it("prepares its statements again where the backend has lost them", async () => {
    const clients: pg.Client[] = [];
    const ledger = await ledgerWith([], clients);
    const account = await setup.account(1_000_000n);
    const key = await setup.key(account);
    for (const size of [1, 3, 5, 1, 3, 5]) {
      const requests = Array.from({ length: size }, () => admission(account, key, 10_000n));
      const admitted = await Promise.all(requests.map((request) => ledger.admit(request)));
      expect(admitted).toMatchObject(requests.map(() => ({ outcome: "granted" })));
      await clients[0]?.query("DEALLOCATE ALL");
      await Promise.all(requests.map(({ requestId }) => ledger.settle(settlement(account, requestId, 1))));
      await clients[0]?.query("DEALLOCATE ALL");
    }
    expect(clients).toHaveLength(1);
    expect(proxy.errors.get("26000")).toBeGreaterThan(0);
    expect(await setup.balance(account)).toMatchObject({ posted: 1_000_000n - 18n * 5_000n, held: 0n });
  });

  it("makes rows that cannot be written fail alone, in a transaction of both kinds", async () => {
    const { ledger } = process;
    const account = await setup.account(1_000_000n);
    const key = await setup.key(account);
    const held = [1, 2, 3].map(() => admission(account, key, 100_000n));
    await Promise.all(held.map((request) => ledger.admit(request)));
    const [good, bad, alsoGood] = held.map(({ requestId }) => settlement(account, requestId, 2));
    // While the first is under way, the others collect.
    const [, ...outcomes] = await Promise.allSettled([
      ledger.admit(admission(account, key, 1n)),
      ledger.settle(good ?? settlement("", "", 0)),
      ledger.settle({ ...(bad ?? settlement("", "", 0)), outputTokens: -1 }),
      ledger.admit({ ...admission(account, key, 1n), model: null as unknown as string }),
      ledger.admit(admission(account, key, 1n)),
      ledger.settle(alsoGood ?? settlement("", "", 0)),
    ]);
    expect(outcomes).toMatchObject([
      { value: { charge: 10_000n } },
      { reason: { code: "23514" } },
      { reason: { code: "23502" } },
      { value: { outcome: "granted" } },
      { value: { charge: 10_000n } },
    ]);
    await ledger.release({ accountId: account, requestId: bad?.requestId ?? "" });
    expect(await setup.balance(account)).toMatchObject({ posted: 980_000n, held: 2n });
  });

  it("keeps the books in order through all of this", async () => {
    expect(await setup.audit()).toEqual(SOUND);
  });
});
