import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withTransaction } from "../../src/database/transactions.ts";
import { NotFound } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import {
  freezeAccount,
  limitOpenRequests,
  readLimits,
  recountOpenRequests,
  unfreezeAccount,
} from "../../src/ledger/account-limits.ts";
import { testBackends } from "../setup/test-database.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "./money-setup.ts";

describe.each(testBackends())("the limits of an account on the %s database", (backend) => {
  let setup: MoneySetup;
  let process: TestProcess;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    process = await setup.process();
  });
  afterAll(() => setup.close());

  const freeze = (account: string) => withTransaction(process.database, (client) => freezeAccount(client, account));
  const unfreeze = (account: string) => withTransaction(process.database, (client) => unfreezeAccount(client, account));
  const limit = (accountId: string, most: number) =>
    withTransaction(process.database, (client) => limitOpenRequests(client, { accountId, most }));
  const recount = (account: string) =>
    withTransaction(process.database, (client) => recountOpenRequests(client, account));
  async function customer() {
    const account = await setup.account(10_000_000n);
    return { account, key: await setup.key(account) };
  }
  const admit = async ({ account, key }: { account: string; key: string }) => {
    const request = admission(account, key, 1_000n);
    return { request, outcome: (await process.ledger.admit(request)).outcome };
  };

  it("admits no request of a frozen account, settles running ones, and admits again after the freeze", async () => {
    const who = await customer();
    const { request } = await admit(who);
    const frozen = await freeze(who.account);
    expect(frozen).toMatchObject({ frozenAt: expect.any(Date) as Date, isChanged: true, openRequests: 1 });
    expect(await freeze(who.account)).toEqual({ ...frozen, isChanged: false });
    expect(await admit(who)).toMatchObject({ outcome: "frozen" });
    await process.ledger.settle(settlement(who.account, request.requestId, 3));
    expect(await setup.balance(who.account)).toEqual({ posted: 9_985_000n, held: 0n, available: 9_985_000n });
    expect(await unfreeze(who.account)).toMatchObject({ frozenAt: null, isChanged: true, openRequests: 0 });
    expect(await unfreeze(who.account)).toMatchObject({ isChanged: false });
    expect(await admit(who)).toMatchObject({ outcome: "granted" });
    expect(await setup.audit()).toEqual(SOUND);
  });

  it("admits no more simultaneous requests than the limit, and any number again without the limit", async () => {
    const who = await customer();
    expect(await limit(who.account, 2)).toMatchObject({ maxOpenRequests: 2, isChanged: true });
    expect(await limit(who.account, 2)).toMatchObject({ isChanged: false });
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => admit(who)));
    expect(outcomes.filter(({ outcome }) => outcome === "granted")).toHaveLength(2);
    expect(outcomes.filter(({ outcome }) => outcome === "crowded")).toHaveLength(8);
    expect(await readLimits(setup.pool, who.account)).toMatchObject({ openRequests: 2 });
    const running = outcomes.find(({ outcome }) => outcome === "granted");
    await process.ledger.settle(settlement(who.account, running?.request.requestId ?? "", 1));
    expect(await admit(who)).toMatchObject({ outcome: "granted" });
    await limit(who.account, 0);
    expect(await admit(who)).toMatchObject({ outcome: "granted" });
    expect(await setup.audit()).toEqual(SOUND);
  });

  it("loses no posting of the same time", async () => {
    const who = await customer();
    let running = true;
    const switching = (async () => {
      for (let round = 0; running; round += 1) await (round % 2 === 0 ? freeze(who.account) : unfreeze(who.account));
    })();
    let granted = 0;
    for (let round = 0; round < 60; round += 1) {
      const { outcome, request } = await admit(who);
      if (outcome !== "granted") continue;
      granted += 1;
      await process.ledger.settle(settlement(who.account, request.requestId, 1));
    }
    running = false;
    await switching;
    expect(granted).toBeGreaterThan(0);
    expect((await setup.balance(who.account)).posted).toBe(10_000_000n - BigInt(granted) * 5_000n);
    expect(await setup.audit()).toEqual(SOUND);
  });

  it("refuses an account that does not exist", async () => {
    await expect(freeze(uuidv7())).rejects.toThrow(NotFound);
    await expect(limit(uuidv7(), 1)).rejects.toThrow(NotFound);
  });

  it("counts the open requests again, after the owner of the account's lock", async () => {
    const who = await customer();
    await admit(who);
    await setup.asOwner(`UPDATE account SET open_holds = 7 WHERE id = '${who.account}'`);
    const lock = await setup.lockRow("account", who.account);
    const recounted = recount(who.account);
    await lock.queued(1);
    // The owner of the lock places one more hold.
    await lock.release(`INSERT INTO hold (account_id, id, owner, amount, key_id, model, input_price, output_price)
      SELECT account_id, '${uuidv7()}', owner, 0, key_id, model, input_price, output_price FROM hold WHERE account_id = '${who.account}';
      UPDATE account SET open_holds = 8 WHERE id = '${who.account}'`);
    expect(await recounted).toMatchObject({ was: 8, openRequests: 2, isChanged: true });
    expect(await recount(who.account)).toMatchObject({ was: 2, openRequests: 2, isChanged: false });
    await expect(recount(uuidv7())).rejects.toThrow(NotFound);
    expect(await setup.audit()).toEqual(SOUND);
  });

  it("is audited: a count of open requests that is not the number of holds is found", async () => {
    const who = await customer();
    await setup.asOwner(`UPDATE account SET open_holds = 1 WHERE id = '${who.account}'`);
    const { violations } = await setup.audit();
    expect(violations.map(({ subject }) => subject)).toEqual([who.account]);
    expect(await recount(who.account)).toMatchObject({ was: 1, openRequests: 0, isChanged: true });
    expect(await setup.audit()).toEqual(SOUND);
  });
});
