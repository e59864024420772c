// A backend in the middle of its COMMIT when its connection is lost: it waits for a standby that does not answer. Its writes are
// durable here and not yet visible, and stay so until it is ended. That makes them visible, but not durable on the standby.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PaymentProvider } from "../../src/billing/payments/payment-provider.ts";
import { createTopUp, type TopUpCreation } from "../../src/billing/top-ups/create-top-up.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/database/embedded/embedded-postgres.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { UpstreamBusy } from "../../src/kernel/errors.ts";
import { createTransfer } from "../../src/merchant/transfers/create-transfer.ts";
import { merchantWith, orderOf, orderSources } from "../merchant/merchant-accounts.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "../money/money-setup.ts";
import { makeDataDir, removeDataDir, urlOf } from "../setup/own-server.ts";
import { onServer } from "../setup/test-servers.ts";
import { PostgresProxy } from "./postgres-proxy.ts";

const WAITING = "SELECT query FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
const TRIED_COMMIT = "SELECT pg_logical_emit_message(true, 'tried', '')";
const TRIED = /'tried'/;
const END_WAIT = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
const MONEY = /settle_request|admit_request|commit_requests/;
const CONFIRMING = /pg_logical_emit_message/;
const AMOUNT = 100_000n;

/** Top-ups whose provider opens every order. */
function topUpsOf(database: Database): TopUpCreation {
  const open = async () => ({ paymentUrl: "https://pay.example", reference: null });
  return {
    database,
    provider: { name: "sandbox", opensWithinMs: 1_000, open } as unknown as PaymentProvider,
    clock: systemClock,
    expiresAfterMs: 3_600_000,
    returnUrlOf: () => "https://shop.example",
    onFailure: () => {},
  };
}

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
    const database = await openDatabase({ url, dataDir: "" });
    setup = MoneySetup.on({ database, url, drop: () => database.close() });
    proxy = await PostgresProxy.before(url);
    process = await setup.process(1, proxy.urlFor(url));
  });
  afterAll(async () => {
    await awaitNoStandby();
    await setup.close();
    await proxy.close();
    await server.stop({ evenWithClients: true });
    await removeDataDir(dataDir);
  });

  /** Makes commits wait for a standby that never comes. The server takes the setting in its own time, so one commit tries it. */
  async function awaitStandby(): Promise<void> {
    await changeStandbys("SET synchronous_standby_names = 'nobody'");
    for (let waits = false; !waits;) {
      let hasEnded = false;
      const tried = onServer(setup.opened.url, TRIED_COMMIT).finally(() => (hasEnded = true));
      const endedOrWaits = async () => hasEnded || (waits = (await backendsThatWait(TRIED)) === 1);
      await expect.poll(endedOrWaits, { interval: 10 }).toBe(true);
      if (waits) await onServer(setup.opened.url, END_WAIT);
      await tried;
    }
  }

  async function awaitNoStandby(): Promise<void> {
    await changeStandbys("RESET synchronous_standby_names");
  }

  async function changeStandbys(change: string): Promise<void> {
    await onServer(setup.opened.url, `ALTER SYSTEM ${change}`);
    await onServer(setup.opened.url, "SELECT pg_reload_conf()");
  }

  async function backendsThatWait(statement: RegExp): Promise<number> {
    const { rows } = await onServer(setup.opened.url, WAITING);
    return rows.filter(({ query }) => statement.test(query)).length;
  }

  /** Waits until so many backends that ran such a statement wait for the standby. */
  async function untilWaiting(statement: RegExp, count = 1): Promise<void> {
    await expect.poll(() => backendsThatWait(statement), { interval: 10 }).toBe(count);
  }

  async function requestsOf(account: string, size: number) {
    const key = await setup.key(account, size);
    return Array.from({ length: size }, () => admission(account, key, AMOUNT));
  }

  it.each([1, 3])(
    "is ended, and its settlements are found, and not before the standby has them, %i at once",
    async (size) => {
      const account = await setup.account(AMOUNT * BigInt(size));
      const requests = await requestsOf(account, size);
      await Promise.all(requests.map((request) => process.ledger.admit(request)));
      await awaitStandby();
      let answered = 0;
      const settled = Promise.all(
        requests.map(async ({ requestId }) => {
          const usage = await process.ledger.settle(settlement(account, requestId, 2));
          answered += 1;
          return usage;
        }),
      );
      await untilWaiting(MONEY);
      proxy.cutAll();
      // The lane reads what the lost one wrote, visible by now, and its reading waits for the standby as the lost one did.
      await untilWaiting(CONFIRMING);
      expect(await setup.balance(account)).toMatchObject({ posted: (AMOUNT - 10_000n) * BigInt(size), held: 0n });
      expect(answered).toBe(0);
      await awaitNoStandby();
      expect(await settled).toEqual(requests.map(() => ({ cost: 10_000n, charge: 10_000n })));
      expect(await setup.balance(account)).toMatchObject({ posted: (AMOUNT - 10_000n) * BigInt(size), held: 0n });
    },
  );

  it("refuses an admission that the standby does not confirm, and gives back its hold", async () => {
    const account = await setup.account(AMOUNT);
    const request = admission(account, await setup.key(account), AMOUNT);
    await awaitStandby();
    const admitted = process.ledger.admit(request);
    const outcome = admitted.catch((error: unknown) => error);
    await untilWaiting(MONEY);
    proxy.cutAll();
    expect(await outcome).toBeInstanceOf(UpstreamBusy);
    await awaitNoStandby();
    expect(await setup.balance(account)).toMatchObject({ held: AMOUNT });
    await process.ledger.release({ accountId: account, requestId: request.requestId });
    expect(await setup.balance(account)).toMatchObject({ posted: AMOUNT, held: 0n });
  });

  it("answers a repeated order of a transfer or a top-up only once the standby has the first one", async () => {
    const { database } = setup.opened;
    const { merchantId } = await merchantWith(database, { TRX: "50" });
    const order = orderOf({ merchantId });
    const topUp = { accountId: await setup.account(0n), amount: 10_000_000_000n, idempotencyKey: "one" };
    const orders = [() => createTransfer(orderSources(database), order), () => createTopUp(topUpsOf(database), topUp)];
    await Promise.all(orders.map((place) => place()));
    await awaitStandby();
    let answered = 0;
    const repeated = Promise.all(orders.map((place) => place().then(() => (answered += 1))));
    await untilWaiting(/^COMMIT$/, orders.length);
    expect(answered).toBe(0);
    await awaitNoStandby();
    await repeated;
  });

  it("leaves the books in order", async () => {
    expect(await setup.audit()).toEqual(SOUND);
  });
});
