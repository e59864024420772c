// A delivered answer that the database did not take stays owed when its process ends.

import { appendFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GroupCommitLedger } from "../../src/ledger/group-commit/group-commit.ts";
import { OwedSpool } from "../../src/ledger/group-commit/owed-spool.ts";
import { recoverHolds } from "../../src/ledger/recovery.ts";
import { PostgresProxy } from "../faults/postgres-proxy.ts";
import { makeDataDir, removeDataDir } from "../setup/own-server.ts";
import { testBackends } from "../setup/test-database.ts";
import { admission, MoneySetup, settlement, SOUND } from "./money-setup.ts";

const UNIT = 5_000n;
/** No process has a number as high. */
const GONE = 2 ** 30;

describe.each(testBackends())("settlements that are owed on the %s database", (backend) => {
  let setup: MoneySetup;
  let folder: string;
  let proxy: PostgresProxy;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    folder = join(await makeDataDir(), "owed");
    proxy = await PostgresProxy.before(setup.opened.url);
  });
  afterAll(async () => {
    await setup.close();
    await proxy.close();
    await removeDataDir(join(folder, ".."));
  });

  async function ledgerWith(spool: OwedSpool, url = setup.opened.url) {
    const { database, lease } = await setup.process(1, url);
    const ledger = new GroupCommitLedger({ database, owner: () => lease.processId, lanes: 1, spool });
    await ledger.open();
    return { ledger, lease };
  }

  /** Delivers a stream while the database is away, and ends. */
  async function leaveOwed(tokens: number) {
    const { ledger, lease } = await ledgerWith(new OwedSpool(folder, GONE), proxy.urlFor(setup.opened.url));
    const account = await setup.account(1_000n * UNIT);
    const request = admission(account, await setup.key(account), 100n * UNIT);
    expect(await ledger.admit(request)).toMatchObject({ outcome: "granted" });
    proxy.cutAll({ refuse: true });
    const settled = ledger.settle(settlement(account, request.requestId, tokens));
    await Promise.all([expect(settled).rejects.toThrow(), ledger.close(100)]);
    proxy.isAway = false;
    expect(await readdir(folder)).toHaveLength(1);
    return { account, id: request.requestId, owner: lease.processId };
  }

  it.each([
    ["settled by the next process", false, { charge: 30n * UNIT, basis: "exact" }],
    ["charged late where recovery was first", true, { charge: 0n, basis: "recovered" }],
  ])("are %s, and leave no file", async (_what, isRecovered, record) => {
    const { account, id, owner } = await leaveOwed(30);
    await setup.pool.query("UPDATE process SET dead_at = clock_timestamp() WHERE id = $1 AND $2", [owner, isRecovered]);
    expect(await recoverHolds(setup.pool)).toBe(isRecovered ? 1 : 0);
    const { ledger } = await ledgerWith(new OwedSpool(folder));
    expect(await ledger.takeOverOwed()).toBe(1);
    expect(ledger.statistics()).toMatchObject({ owed: 1 });
    expect(await ledger.settleOwed()).toBe(1);
    expect(ledger.statistics()).toMatchObject({ owed: 0, late: isRecovered ? 1 : 0 });
    const { rows } = await setup.pool.query("SELECT charge, basis FROM usage_record WHERE request_id = $1", [id]);
    expect(rows).toEqual([record]);
    expect(await setup.balance(account)).toMatchObject({ posted: 970n * UNIT, held: 0n });
    await ledger.close();
    expect(await readdir(folder)).toEqual([]);
  });

  it("are taken over from dead processes only, once, and without an incomplete line", async () => {
    const living = new OwedSpool(folder, process.ppid);
    living.add(settlement(await setup.account(0n), admission("", "", 1n).requestId, 1));
    const gone = new OwedSpool(folder, GONE);
    gone.add(settlement(await setup.account(0n), admission("", "", 1n).requestId, 2));
    await Promise.all([living.flush(), gone.flush()]);
    const [cut = ""] = (await readdir(folder)).filter((name) => name.includes(String(GONE)));
    await appendFile(join(folder, cut), "AAAA");
    const heir = new OwedSpool(folder, GONE + 1);
    expect(await heir.takeOver()).toMatchObject([{ inputTokensUncached: 2, cost: 2n * UNIT }]);
    expect(await new OwedSpool(folder).takeOver()).toMatchObject([{ inputTokensUncached: 2 }]);
    living.clear();
    await living.flush();
    expect((await setup.audit()).violations).toEqual(SOUND.violations);
  });
});
