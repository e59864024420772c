// A delivered answer that the database did not take stays owed when its process ends.

import { appendFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GroupCommitLedger } from "../../src/ledger/group-commit/group-commit.ts";
import { type History, readHistory } from "../../src/database/history.ts";
import { listUnsettled, OwedSpool } from "../../src/ledger/group-commit/owed-spool.ts";
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
  let history: History;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    history = await historyHere();
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

  async function historyHere(): Promise<History> {
    const here = await readHistory(setup.pool);
    if (here === null) throw new Error("the test's server is a standby");
    return here;
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
    expect(await ledger.takeOverOwed()).toEqual({ taken: 1, foreign: 0, damaged: 0 });
    expect(ledger.statistics()).toMatchObject({ owed: 1 });
    expect(await ledger.settleOwed()).toBe(1);
    expect(ledger.statistics()).toMatchObject({ owed: 0, late: isRecovered ? 1 : 0 });
    const { rows } = await setup.pool.query("SELECT charge, basis FROM usage_record WHERE request_id = $1", [id]);
    expect(rows).toEqual([record]);
    expect(await setup.balance(account)).toMatchObject({ posted: 970n * UNIT, held: 0n });
    await ledger.close();
    expect(await readdir(folder)).toEqual([]);
  });

  it("are on disk as soon as the database is away, for a process that is killed then", async () => {
    const { ledger } = await ledgerWith(new OwedSpool(folder, GONE), proxy.urlFor(setup.opened.url));
    const account = await setup.account(1_000n * UNIT);
    const request = admission(account, await setup.key(account), 100n * UNIT);
    expect(await ledger.admit(request)).toMatchObject({ outcome: "granted" });
    proxy.cutAll({ refuse: true });
    const settled = ledger.settle(settlement(account, request.requestId, 30));
    await expect.poll(() => readdir(folder)).toHaveLength(1);
    const heir = new OwedSpool(folder, GONE + 1);
    expect(await heir.takeOver(history)).toMatchObject({ taken: [{ requestId: request.requestId }], foreign: 0 });
    proxy.isAway = false;
    expect(await settled).toMatchObject({ charge: 30n * UNIT });
    heir.clear();
    await Promise.all([heir.flush(), ledger.close()]);
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    ["a restored server, on a later timeline", (here: History) => ({ ...here, timeline: here.timeline - 1 })],
    ["another server", (here: History) => ({ ...here, system: "1" })],
    ["a server that nobody asked for its history", () => null],
  ])("are never settled by %s, and are listed", async (_what, of) => {
    const account = await setup.account(1_000n * UNIT);
    const request = admission(account, await setup.key(account), 100n * UNIT);
    const { ledger } = await ledgerWith(new OwedSpool(folder, GONE + 2));
    expect(await ledger.admit(request)).toMatchObject({ outcome: "granted" });
    const gone = new OwedSpool(folder, GONE);
    const own = settlement(await setup.account(0n), admission("", "", 1n).requestId, 1);
    gone.add(settlement(account, request.requestId, 30), of(history));
    gone.add(own, history);
    await gone.flush();
    const heir = new OwedSpool(folder, GONE + 1);
    expect(await heir.takeOver(history)).toMatchObject({ taken: [{ requestId: own.requestId }], foreign: 1 });
    heir.clear();
    await heir.flush();
    expect(await ledger.takeOverOwed()).toEqual({ taken: 0, foreign: 1, damaged: 0 });
    expect(await ledger.settleOwed()).toBe(0);
    expect(await setup.balance(account)).toMatchObject({ posted: 1_000n * UNIT, held: 100n * UNIT });
    const { foreign } = await listUnsettled(folder, history);
    expect(foreign).toMatchObject([{ settlement: { requestId: request.requestId }, history: of(history) }]);
    gone.clear();
    await Promise.all([gone.flush(), ledger.release({ accountId: account, requestId: request.requestId })]);
  });

  it("are taken over from dead processes only, once, and without an incomplete line", async () => {
    const living = new OwedSpool(folder, process.ppid);
    living.add(settlement(await setup.account(0n), admission("", "", 1n).requestId, 1), history);
    const gone = new OwedSpool(folder, GONE);
    gone.add(settlement(await setup.account(0n), admission("", "", 1n).requestId, 2), history);
    await Promise.all([living.flush(), gone.flush()]);
    const [cut = ""] = (await readdir(folder)).filter((name) => name.includes(String(GONE)));
    await appendFile(join(folder, cut), "AAAA");
    const heir = new OwedSpool(folder, GONE + 1);
    expect(await heir.takeOver(history)).toMatchObject({
      taken: [{ inputTokensUncached: 2, cost: 2n * UNIT }],
      damaged: 1,
    });
    expect((await new OwedSpool(folder).takeOver(history)).taken).toMatchObject([{ inputTokensUncached: 2 }]);
    living.clear();
    await living.flush();
    expect(await readdir(folder)).toContain(`${cut}.damaged`);
    expect((await setup.audit()).violations).toEqual(SOUND.violations);
  });
});
