// The fault behind the fence of lost backends: a replay overtakes a lost transaction and is settled, and then the lost
// transaction places its hold again. The fence prevents that (lost-commits.test.ts). Here it is removed, as a pooler
// does, to check the second protection: a stray hold is released, and no account pays twice.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GroupCommitLedger } from "../../src/ledger/group-commit/group-commit.ts";
import { sweepOwnHolds } from "../../src/ledger/jobs/holds.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "../money/money-setup.ts";
import { testBackends } from "../setup/test-database.ts";
import { PostgresProxy } from "./postgres-proxy.ts";

describe.each(testBackends())("a stray hold in the %s database", (backend) => {
  let setup: MoneySetup;
  let proxy: PostgresProxy;
  let process: TestProcess;
  let unfenced: GroupCommitLedger;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    proxy = await PostgresProxy.before(setup.opened.url);
    process = await setup.process(1, proxy.urlFor(setup.opened.url));
    const database = { ...process.database, endBackend: () => Promise.resolve() };
    unfenced = new GroupCommitLedger({ database, owner: () => process.lease.processId, lanes: 1 });
  });
  afterAll(async () => {
    await unfenced.close();
    await setup.close();
    await proxy.close();
  });
  const sweep = () => sweepOwnHolds({ pool: setup.pool, lease: process.lease, ledger: unfenced });
  const makeOld = () => setup.pool.query("UPDATE hold SET placed_at = placed_at - interval '2 minutes'");

  it.each([1, 3, 5])("is swept once it is old, and its request stays paid once, %i at once", async (size) => {
    const account = await setup.account(1_000_000n);
    const key = await setup.key(account);
    const requests = Array.from({ length: size }, () => admission(account, key, 100_000n));
    const hit = proxy.once(/admi/, "strand-request");
    await Promise.all(requests.map((request) => unfenced.admit(request)));
    await hit;
    for (const { requestId } of requests) await unfenced.settle(settlement(account, requestId, 2));
    const paid = { posted: 1_000_000n - 10_000n * BigInt(size), held: 0n };
    expect(await setup.balance(account)).toMatchObject(paid);

    expect(await proxy.stranded.pop()?.release()).toBe("committed");
    expect(await setup.balance(account)).toMatchObject({ ...paid, held: 100_000n * BigInt(size) });
    expect(await sweep()).toBe(0);
    await makeOld();
    expect(await sweep()).toBe(size);
    expect(await setup.balance(account)).toMatchObject(paid);
    expect(await sweep()).toBe(0);
  });

  it("is distinguished from an old hold that is still in use", async () => {
    const account = await setup.account(1_000_000n);
    const key = await setup.key(account);
    const request = admission(account, key, 100_000n);
    await unfenced.admit(request);
    await makeOld();
    expect(await sweep()).toBe(0);
    expect(await setup.balance(account)).toMatchObject({ held: 100_000n });
    await unfenced.settle(settlement(account, request.requestId, 2));
    expect(await setup.balance(account)).toMatchObject({ posted: 990_000n, held: 0n });
  });

  it("leaves the books in order", async () => {
    expect(await setup.audit()).toEqual(SOUND);
  });
});
