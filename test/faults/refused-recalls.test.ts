// A recall that the server refuses behind a committed transaction: its neighbours in that transaction keep what they were granted.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "../money/money-setup.ts";
import { testBackends } from "../setup/test-database.ts";
import { PostgresProxy } from "./postgres-proxy.ts";

const AMOUNT = 400_000n;
const TOKENS = 3;
const CHARGE = 15_000n;

describe.each(testBackends())("a recall that is refused behind a commit on the %s database", (backend) => {
  let setup: MoneySetup;
  let proxy: PostgresProxy;
  let process: TestProcess;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    proxy = await PostgresProxy.before(setup.opened.url);
    process = await setup.process(1, proxy.urlFor(setup.opened.url));
  });
  afterAll(async () => {
    await setup.close();
    await proxy.close();
  });

  /** Refuses the recalls of settlements so many times. Returns how many it has refused. */
  function refuseRecalls(times: number, raise: string): () => number {
    let refused = 0;
    proxy.rule = ({ statements }) => {
      if (refused === times || !/recall_usage/.test(statements.join(" "))) return undefined;
      refused += 1;
      return { raise };
    };
    return () => refused;
  }

  /** A settlement of a request that is settled already: its record is recalled behind the transaction. */
  async function settledBefore() {
    const account = await setup.account(2n * AMOUNT);
    const key = await setup.key(account);
    const request = admission(account, key, AMOUNT);
    await process.ledger.admit(request);
    const settled = { ...settlement(account, request.requestId, TOKENS), delivered: false };
    await process.ledger.settle(settled);
    return { key, settled };
  }

  /** Keeps the lane busy for a moment, so that what comes meanwhile is one group. */
  async function keepBusy(key: string): Promise<void> {
    await process.ledger.admit(admission(await setup.account(0n), key, 0n)).catch(() => undefined);
  }

  it.each(["57014", "53100"])("grants the admission beside it, after %s", async (raise) => {
    const { key, settled } = await settledBefore();
    const account = await setup.account(AMOUNT);
    const request = admission(account, await setup.key(account), AMOUNT);
    const refused = refuseRecalls(1, raise);
    const [, again, admitted] = await Promise.all([
      keepBusy(key),
      process.ledger.settle(settled),
      process.ledger.admit(request),
    ]);
    expect(refused()).toBe(1);
    expect([again, admitted]).toMatchObject([{ charge: CHARGE }, { outcome: "granted", amount: AMOUNT }]);
    await process.ledger.release({ accountId: account, requestId: request.requestId });
  });

  it.each(["57014", "53100"])("refuses no answer beside it that was charged, after %s", async (raise) => {
    const { key, settled } = await settledBefore();
    const account = await setup.account(AMOUNT);
    const request = admission(account, await setup.key(account), AMOUNT);
    await process.ledger.admit(request);
    const refused = refuseRecalls(4, raise);
    const [, again, fresh] = await Promise.all([
      keepBusy(key),
      process.ledger.settle(settled),
      process.ledger.settle({ ...settlement(account, request.requestId, TOKENS), delivered: false }),
    ]);
    expect(refused()).toBe(4);
    expect([again, fresh]).toMatchObject([{ charge: CHARGE }, { charge: CHARGE }]);
    expect(await setup.balance(account)).toMatchObject({ posted: AMOUNT - CHARGE, held: 0n });
  });

  it("has kept the books in order", async () => {
    expect(await setup.audit()).toEqual(SOUND);
  });
});
