// A recall that the server refuses behind a committed transaction: its neighbours in that transaction keep what they were granted.

import { describe, expect, it } from "vitest";
import { admission, settlement, SOUND } from "../money/money-setup.ts";
import { testBackends } from "../setup/test-database.ts";
import { useLedgerBehindProxy } from "./ledger-behind-proxy.ts";

const AMOUNT = 400_000n;
const TOKENS = 3;
const CHARGE = 15_000n;

describe.each(testBackends())("a recall that is refused behind a commit on the %s database", (backend) => {
  const behind = useLedgerBehindProxy(backend);

  /** Refuses the recalls of settlements so many times. Returns how many it has refused. */
  function refuseRecalls(times: number, raise: string): () => number {
    let refused = 0;
    behind.proxy.rule = ({ statements }) => {
      if (refused === times || !/recall_usage/.test(statements.join(" "))) return undefined;
      refused += 1;
      return { raise };
    };
    return () => refused;
  }

  /** A settlement of a request that is settled already: its record is recalled behind the transaction. */
  async function settledBefore() {
    const account = await behind.setup.account(2n * AMOUNT);
    const key = await behind.setup.key(account);
    const request = admission(account, key, AMOUNT);
    await behind.process.ledger.admit(request);
    const settled = { ...settlement(account, request.requestId, TOKENS), delivered: false };
    await behind.process.ledger.settle(settled);
    return { key, settled };
  }

  /** Keeps the lane busy for a moment, so that what comes meanwhile is one group. */
  async function keepBusy(key: string): Promise<void> {
    await behind.process.ledger.admit(admission(await behind.setup.account(0n), key, 0n)).catch(() => undefined);
  }

  it.each(["57014", "53100"])("grants the admission beside it, after %s", async (raise) => {
    const { key, settled } = await settledBefore();
    const account = await behind.setup.account(AMOUNT);
    const request = admission(account, await behind.setup.key(account), AMOUNT);
    const refused = refuseRecalls(1, raise);
    const [, again, admitted] = await Promise.all([
      keepBusy(key),
      behind.process.ledger.settle(settled),
      behind.process.ledger.admit(request),
    ]);
    expect(refused()).toBe(1);
    expect([again, admitted]).toMatchObject([{ charge: CHARGE }, { outcome: "granted", amount: AMOUNT }]);
    await behind.process.ledger.release({ accountId: account, requestId: request.requestId });
  });

  it.each(["57014", "53100"])("refuses no answer beside it that was charged, after %s", async (raise) => {
    const { key, settled } = await settledBefore();
    const account = await behind.setup.account(AMOUNT);
    const request = admission(account, await behind.setup.key(account), AMOUNT);
    await behind.process.ledger.admit(request);
    const refused = refuseRecalls(4, raise);
    const [, again, fresh] = await Promise.all([
      keepBusy(key),
      behind.process.ledger.settle(settled),
      behind.process.ledger.settle({ ...settlement(account, request.requestId, TOKENS), delivered: false }),
    ]);
    expect(refused()).toBe(4);
    expect([again, fresh]).toMatchObject([{ charge: CHARGE }, { charge: CHARGE }]);
    expect(await behind.setup.balance(account)).toMatchObject({ posted: AMOUNT - CHARGE, held: 0n });
  });

  it("has kept the books in order", async () => {
    expect(await behind.setup.audit()).toEqual(SOUND);
  });
});
