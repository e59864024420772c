// Behind a pooler in transaction mode: what is refused, what works, and the outcome of a transaction whose backend is
// unknown.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { GroupCommitLedger } from "../../src/ledger/group-commit/group-commit.ts";
import { ProcessLease } from "../../src/ledger/process-lease.ts";
import { sweepOwnHolds } from "../../src/ledger/jobs/holds.ts";
import { admission, MoneySetup, settlement, SOUND } from "../money/money-setup.ts";
import { PostgresProxy } from "./postgres-proxy.ts";
import { waitHalfway } from "./load.ts";
import { Service } from "./service.ts";
import { TransactionPooler } from "./transaction-pooler.ts";

const POOL_SIZE = 3;

// The pooler of these tests logs in where every login is trusted.
describe("a pooler in transaction mode", () => {
  let setup: MoneySetup;
  let database: string;
  const toClose: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    setup = await MoneySetup.create("embedded");
    database = new URL(setup.opened.url).pathname.slice(1);
  });
  afterEach(async () => {
    for (const close of toClose.splice(0).toReversed()) await close();
  });
  afterAll(() => setup.close());

  async function pooler(keepsStatements: boolean): Promise<TransactionPooler> {
    const started = await TransactionPooler.before(setup.opened.url, { keepsStatements, size: POOL_SIZE });
    toClose.push(() => started.close());
    return started;
  }
  const open = (url: string): Promise<Database> => openDatabase({ url, ownerUrl: setup.opened.url, dataDir: "" });
  /** A process whose connections all go by this URL. */
  async function processAt(url: string) {
    const opened = await open(url);
    const lease = await ProcessLease.take(opened);
    const ledger = new GroupCommitLedger({ database: opened, owner: () => lease.processId, lanes: 1 });
    await ledger.open();
    toClose.push(async () => {
      await ledger.close();
      await lease.close();
      await opened.close();
    });
    return { database: opened, lease, ledger };
  }
  const serving = (at: TransactionPooler) => at.urlFor({ user: "saldo_serve", database });

  it("that loses named statements is refused at the start, with what to change", async () => {
    await expect(open(serving(await pooler(false)))).rejects.toThrow(/loses named statements.*max_prepared_statements/);
  });

  it("that passes no settings on is refused at the start, unless the serving role logs in itself", async () => {
    const url = (await pooler(true)).urlFor({ user: "postgres", database });
    await expect(openDatabase({ url, dataDir: "" })).rejects.toThrow(/DATABASE_OWNER_URL/);
  });

  it("is distinguished from the server itself", async () => {
    expect(setup.opened.database.isPooled).toBe(false);
    const { database: pooled } = await processAt(serving(await pooler(true)));
    expect(pooled.isPooled).toBe(true);
    const { rows } = await pooled.pool.query("SELECT current_setting('enable_seqscan') AS seqscan");
    expect(rows).toEqual([{ seqscan: "off" }]);
  });

  it("shares a few connections between many of several processes, and the money is right", async () => {
    const before = await pooler(true);
    const processes = [await processAt(serving(before)), await processAt(serving(before))] as const;
    const account = await setup.account(10_000_000n);
    const key = await setup.key(account);
    const one = async ({ ledger }: (typeof processes)[number]): Promise<void> => {
      const request = admission(account, key, 50_000n);
      await ledger.admit(request);
      await ledger.settle(settlement(account, request.requestId, 3));
    };
    const work = processes.flatMap((process) => Array.from({ length: 50 }, () => one(process)));
    await Promise.all([...work, ...processes.map(({ lease }) => lease.renew())]);
    expect(await setup.balance(account)).toMatchObject({ posted: 8_500_000n, held: 0n });
    expect(before.backends).toBeLessThanOrEqual(POOL_SIZE);
  });

  it("hides which backend was lost: none is ended, and a hold that arrives after its own replay is released", async () => {
    const before = await pooler(true);
    const proxy = await PostgresProxy.before(serving(before));
    toClose.push(() => proxy.close());
    const { ledger, lease } = await processAt(proxy.urlFor(serving(before)));
    const neighbour = await processAt(serving(before));
    const sweep = () => sweepOwnHolds({ pool: setup.pool, lease, ledger });

    for (const fault of ["lose-request", "lose-reply", "strand-request"] as const) {
      const account = await setup.account(1_000_000n);
      const key = await setup.key(account);
      const request = admission(account, key, 100_000n);
      const admissionHit = proxy.once(/admi/, fault);
      expect(await ledger.admit(request)).toMatchObject({ outcome: "granted" });
      await admissionHit;
      expect(await setup.balance(account)).toMatchObject({ held: 100_000n });

      const settlementHit = proxy.once(/settle/, fault);
      expect(await ledger.settle(settlement(account, request.requestId, 2))).toMatchObject({ charge: 10_000n });
      await settlementHit;
      expect(await setup.balance(account)).toMatchObject({ posted: 990_000n, held: 0n });

      // The admission first: it holds the settled request again. The settlement comes last and finds nothing.
      for (const stranded of proxy.stranded.splice(0, 1)) expect(await stranded.release()).toBe("committed");
      const again = fault === "strand-request" ? 1 : 0;
      expect(await setup.balance(account)).toMatchObject({ posted: 990_000n, held: 100_000n * BigInt(again) });
      await setup.pool.query("UPDATE hold SET placed_at = placed_at - interval '2 minutes'");
      expect(await sweep()).toBe(again);
      for (const stranded of proxy.stranded.splice(0)) expect(await stranded.release()).toBe("committed");
      expect(await setup.balance(account)).toMatchObject({ posted: 990_000n, held: 0n });
      await neighbour.lease.renew();
    }
    expect(neighbour.ledger.statistics().lostConnections).toBe(0);
    expect(ledger.statistics()).toMatchObject({ open: 0, owed: 0 });
  });

  it("serves the whole service, also through a break of all its connections", async () => {
    const before = await pooler(true);
    const proxy = await PostgresProxy.before(serving(before));
    toClose.push(() => proxy.close());
    const service = await Service.create(setup.opened.url, {
      DATABASE_URL: proxy.urlFor(serving(before)),
      DATABASE_OWNER_URL: setup.opened.url,
    });
    toClose.push(() => service.close());
    service.upstream.run(waitHalfway(Promise.resolve()));
    const node = await service.node();
    const customer = await service.customer(10_000_000n);
    const ask = (stream: boolean) => service.ask(node, customer, { stream });
    expect(await ask(false)).toMatchObject({ status: 200, costIdr: "0.0838" });
    proxy.cutAll();
    await expect.poll(() => ask(true), { timeout: 20_000 }).toMatchObject({ status: 200, costIdr: "0.0838" });
    expect((await service.usageOf(customer.accountId)).map(({ charge }) => charge)).toEqual([83_800n, 83_800n]);
  });

  it("leaves the books in order", async () => {
    expect(await setup.audit()).toEqual(SOUND);
  });
});
