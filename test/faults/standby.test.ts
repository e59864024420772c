// A primary with a synchronous standby: what was acknowledged is on the standby, also when the connection of the commit was lost
// while it waited, and a service that knows both servers goes on at the other one.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfirmed } from "../../src/database/confirmed-read.ts";
import { connectClient } from "../../src/database/connections.ts";
import { openDatabase } from "../../src/database/database.ts";
import { openPool } from "../../src/database/login-connections.ts";
import { PrimaryClient } from "../../src/database/primary.ts";
import { wouldCommitsWait } from "../../src/database/standby-watch.ts";
import { isDatabaseAway } from "../../src/database/transactions.ts";
import { admission, MoneySetup, settlement } from "../money/money-setup.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { type ServerPair, startPair } from "../setup/server-pair.ts";
import { onServer } from "../setup/test-servers.ts";
import { PostgresProxy } from "./postgres-proxy.ts";

const AMOUNT = 100_000n;
const WAITING = "SELECT query FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
const KEY = /gw_[A-Za-z0-9]{49}/;
const HELLO = JSON.stringify({ model: "demo/small", messages: [{ role: "user", content: "Hello!" }] });

describe("with a synchronous standby", () => {
  let pair: ServerPair;
  let setup: MoneySetup;
  let proxy: PostgresProxy;
  let saldo: SaldoHere;
  beforeAll(async () => {
    pair = await startPair();
    const database = await openDatabase({ url: pair.primaryUrl, dataDir: "" });
    setup = MoneySetup.on({ database, url: pair.primaryUrl, drop: () => database.close() });
    proxy = await PostgresProxy.before(pair.primaryUrl);
    saldo = await SaldoHere.start({ DATABASE_URL: pair.bothUrl, SALDO_REQUIRE_SYNC_STANDBY: "1" });
  });
  afterAll(async () => {
    await saldo.stop();
    await setup.close();
    await proxy.close();
    await pair.stop();
  });

  const ask = (path: string, more: RequestInit = {}) =>
    fetch(`${saldo.httpUrl}${path}`, {
      ...more,
      headers: { authorization: `Bearer ${saldo.announced(KEY)}`, "content-type": "application/json" },
    });
  const statusOf = async (path: string) => (await ask(path)).status;
  const chat = async () => (await ask("/v1/chat/completions", { method: "POST", body: HELLO })).status;
  const metrics = async () => (await fetch(`${saldo.metricsUrl}/metrics`)).text();

  it("serves nothing while a required standby is missing, and reports it", async () => {
    expect(await statusOf("/readyz")).toBe(503);
    expect(await chat()).toBe(503);
    expect(await statusOf("/v1/balance")).toBe(503);
    expect(await metrics()).toMatch(/^saldo_sync_standby_missing 1$/m);
    expect(saldo.log).toContainEqual(expect.objectContaining({ event: "database.standby.missing" }));
    await pair.waitForStandby();
    await expect.poll(() => statusOf("/readyz")).toBe(200);
    expect(await chat()).toBe(200);
    expect(await metrics()).toMatch(/^saldo_sync_standbys 1$/m);
  });

  it.each([
    ["standby, nobody", 1],
    ["ANY 1 (standby, nobody)", 1],
    ["FIRST 2 (standby, nobody)", 0],
    ["any 2 (nobody, standby)", 0],
    ["2(standby, nobody)", 0],
  ])("counts a standby only where commits wait for no others: %s", async (names, confirming) => {
    const { rows } = await onServer(pair.primaryUrl, "SHOW synchronous_standby_names");
    await pair.waitForStandby(names);
    try {
      await expect
        .poll(async () => (await onServer(pair.primaryUrl, "SELECT synchronous_standbys() AS count")).rows)
        .toEqual([{ count: confirming }]);
    } finally {
      await pair.waitForStandby(rows[0].synchronous_standby_names);
    }
  });

  it("takes no standby that the owner may not see for missing", async () => {
    const owner = (await onServer(pair.primaryUrl, "SELECT current_user AS name")).rows[0].name as string;
    await onServer(pair.primaryUrl, "CREATE ROLE unprivileged");
    await onServer(pair.primaryUrl, "ALTER FUNCTION synchronous_standbys() OWNER TO unprivileged");
    try {
      expect((await onServer(pair.primaryUrl, "SELECT synchronous_standbys() AS count")).rows).toEqual([
        { count: null },
      ]);
      expect(await wouldCommitsWait(setup.pool)).toBe(false);
    } finally {
      await onServer(pair.primaryUrl, `ALTER FUNCTION synchronous_standbys() OWNER TO "${owner}"`);
      await onServer(pair.primaryUrl, "DROP ROLE unprivileged");
    }
    expect((await onServer(pair.primaryUrl, "SELECT synchronous_standbys() AS count")).rows).toEqual([{ count: 1 }]);
  });

  it("charges an answer that it refuses nothing where a balancer leads to the standby for a while", async () => {
    await pair.waitForStandby();
    const account = await setup.account(AMOUNT);
    const { ledger } = await setup.process(1, proxy.urlFor(pair.primaryUrl));
    const request = admission(account, await setup.key(account), AMOUNT);
    expect(await ledger.admit(request)).toMatchObject({ outcome: "granted" });
    proxy.rule = ({ statements }) => {
      if (!statements.join(" ").includes("settle")) return undefined;
      proxy.rule = () => undefined;
      proxy.leadTo(pair.standbyUrl);
      return "lose-reply";
    };
    const settled = ledger.settle({ ...settlement(account, request.requestId, 3), delivered: false });
    await sleep(1_000); // it must be refused there meanwhile, however often it tries
    proxy.leadTo(pair.primaryUrl);
    expect(await settled).toMatchObject({ charge: 15_000n });
    expect(await setup.balance(account)).toMatchObject({ posted: AMOUNT - 15_000n, held: 0n });
  });

  it("counts as away where a connection was led to it", async () => {
    const replica = openPool({ connectionString: pair.standbyUrl }, 1);
    const recalled = await readConfirmed(replica, () => Promise.resolve("read")).catch((error: unknown) => error);
    await replica.end();
    expect(recalled).toMatchObject({ message: "cannot assign TransactionIds during recovery" });
    expect(isDatabaseAway(recalled)).toBe(true);
    const connecting = connectClient({ connectionString: pair.standbyUrl, primaryOnly: true });
    const refusal = await connecting.catch((error: unknown) => error);
    expect(refusal).toMatchObject({ message: "The database server is a standby." });
    expect(isDatabaseAway(refusal)).toBe(true);
  });

  it("is not what a pooler takes a promoted server for", async () => {
    const client = new PrimaryClient({ connectionString: pair.primaryUrl, primaryOnly: true });
    const protocol = Reflect.get(client, "connection") as NodeJS.EventEmitter;
    // As a pooler does, which stores what a server reported as it was a standby.
    const stored = { parameterName: "in_hot_standby", parameterValue: "on" };
    protocol.on("parameterStatus", ({ parameterName, parameterValue }: typeof stored) => {
      if (parameterName === stored.parameterName && parameterValue === "off") protocol.emit("parameterStatus", stored);
    });
    await client.connect();
    expect((await client.query("SELECT 'here' AS read")).rows).toEqual([{ read: "here" }]);
    await client.end();
  });

  it("acknowledges a settlement only once the standby has it, and follows a failover to it", async () => {
    await pair.waitForStandby();
    const account = await setup.account(AMOUNT);
    const key = await setup.key(account);
    const { ledger } = await setup.process(1, proxy.urlFor(pair.primaryUrl));
    const follower = (await setup.process(1, pair.bothUrl)).ledger;
    const lost = admission(account, key, AMOUNT / 2n);
    const followed = admission(account, key, AMOUNT / 2n);
    expect(await ledger.admit(lost)).toMatchObject({ outcome: "granted" });
    expect(await follower.admit(followed)).toMatchObject({ outcome: "granted" });
    await pair.freezeStandby();

    let acknowledged = 0;
    const settled = ledger.settle(settlement(account, lost.requestId, 2)).then(
      () => (acknowledged = 1),
      () => {}, // its only server is gone: it stays owed
    );
    await expect.poll(() => isWaiting(/settle_request/)).toBe(true);
    proxy.cutAll();
    // The lane has ended that backend, and reads what it wrote: it answers, or waits for the standby in its turn.
    await expect.poll(async () => acknowledged === 1 || (await isWaiting(/pg_logical_emit_message/))).toBe(true);
    const followedBySettled = follower.settle(settlement(account, followed.requestId, 3));
    proxy.isAway = true;
    await pair.failOver();
    expect({ acknowledged, records: await recordsOf(lost.requestId) }).toEqual({ acknowledged: 0, records: 0 });

    expect(await followedBySettled).toMatchObject({ charge: 15_000n });
    expect(await recordsOf(followed.requestId)).toBe(1);
    await expect.poll(() => saldo.log.filter(({ event }) => event === "database.primary").length).toBe(2);
    expect(await metrics()).toContain(`saldo_database_primary{server="${pair.standby.host}:5432"} 1`);
    // The new primary has no standby of its own.
    await expect.poll(() => statusOf("/readyz")).toBe(503);
    await ledger.close(100);
    await settled;
  });

  async function recordsOf(requestId: string): Promise<number> {
    const text = `SELECT count(*)::int AS records FROM usage_record WHERE request_id = '${requestId}'`;
    return (await onServer(pair.standbyUrl, text)).rows[0].records;
  }

  /** Whether a backend that ran such a statement waits for the standby. */
  async function isWaiting(statement: RegExp): Promise<boolean> {
    return (await onServer(pair.primaryUrl, WAITING)).rows.some(({ query }) => statement.test(query));
  }
});
