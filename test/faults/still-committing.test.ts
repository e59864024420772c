// A backend in the middle of its COMMIT when its connection is lost: it waits for a standby that never answers. Its
// writes are durable here and not yet visible, and stay so until it is ended.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/database/database.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/database/embedded/embedded-postgres.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "../money/money-setup.ts";
import { makeDataDir, removeDataDir, urlOf } from "../setup/own-server.ts";
import { onServer } from "../setup/test-servers.ts";
import { PostgresProxy } from "./postgres-proxy.ts";

const WAITING = "SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
const AMOUNT = 100_000n;

describe("a backend that is still committing when its connection is lost", () => {
  let dataDir: string;
  let server: EmbeddedPostgres;
  let setup: MoneySetup;
  let proxy: PostgresProxy;
  let process: TestProcess;
  beforeAll(async () => {
    dataDir = await makeDataDir();
    server = await startEmbeddedPostgres({ dataDir });
    const url = urlOf(server);
    // Every connection but the lane's goes on without the standby.
    const aside = `${url}&options=${encodeURIComponent("-c synchronous_commit=local")}`;
    const database = await openDatabase({ url: aside, dataDir: "" });
    setup = MoneySetup.on({ database, url, drop: () => database.close() });
    proxy = await PostgresProxy.before(url);
    process = await setup.process(1, proxy.urlFor(url));
  });
  afterAll(async () => {
    await onServer(setup.opened.url, "ALTER SYSTEM RESET synchronous_standby_names");
    await onServer(setup.opened.url, "SELECT pg_reload_conf()");
    await setup.close();
    await proxy.close();
    await server.stop({ evenWithClients: true });
    await removeDataDir(dataDir);
  });

  /** Takes the lane's connection away as soon as its backend waits for the standby. */
  async function loseWhileCommitting(): Promise<void> {
    await expect
      .poll(async () => (await onServer(setup.opened.url, WAITING)).rows, { interval: 10 })
      .toEqual([{ waiting: 1 }]);
    proxy.cutAll();
  }

  it.each([1, 3])("is ended, and its writes are found instead of repeated, %i at once", async (size) => {
    const account = await setup.account(AMOUNT * BigInt(size));
    const key = await setup.key(account, size);
    const requests = Array.from({ length: size }, () => admission(account, key, AMOUNT));
    await onServer(setup.opened.url, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    await onServer(setup.opened.url, "SELECT pg_reload_conf()");

    const admitted = Promise.all(requests.map((request) => process.ledger.admit(request)));
    await loseWhileCommitting();
    expect(await admitted).toMatchObject(requests.map(() => ({ outcome: "granted", amount: AMOUNT })));
    expect(await setup.balance(account)).toMatchObject({ held: AMOUNT * BigInt(size), available: 0n });

    const settled = Promise.all(
      requests.map(({ requestId }) => process.ledger.settle(settlement(account, requestId, 2))),
    );
    await loseWhileCommitting();
    expect(await settled).toEqual(requests.map(() => ({ cost: 10_000n, charge: 10_000n })));
    expect(await setup.balance(account)).toMatchObject({ posted: (AMOUNT - 10_000n) * BigInt(size), held: 0n });
  });

  it("leaves the books in order", async () => {
    expect(await setup.audit()).toEqual(SOUND);
  });
});
