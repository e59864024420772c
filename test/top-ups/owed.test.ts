// The debt of an account after a chargeback is not available: it cannot be held, charged or taken, and every event that brings or
// frees money of the account pays the debt first.

import { describe, expect, it } from "vitest";
import { collectFreed } from "../../src/ledger/receivables.ts";
import { postWelcomeCredit } from "../../src/billing/welcome-credit.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { InsufficientBalance } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import type { Admission } from "../../src/ledger/ledger.ts";
import { recoverHolds } from "../../src/ledger/recovery.ts";
import { adjustAccount, creditAccount } from "../../src/operator/commands/accounts.ts";
import { updateSettings } from "../../src/operator/commands/settings.ts";
import { admission, settlement, type TestProcess } from "../money/money-setup.ts";
import { one, useTwoProcesses, setup } from "./two-processes.ts";
import { MICRO, RUPIAH } from "./top-up-setup.ts";
import { creditUsageByOperator } from "../setup/operator-credit.ts";

useTwoProcesses();

/** A test settlement costs whole input tokens of so many micro-rupiah. */
const TOKEN = 5_000n;
const rupiah = (amount: number): bigint => BigInt(amount) * MICRO;
const tokens = (amount: number): number => Number(rupiah(amount) / TOKEN);

type Debtor = { readonly accountId: string; readonly keyId: string; readonly requestId: string };

/** An account that has bought 25.000 and owes all of it except its hold: the bank took it back while a request ran. */
async function debtor(gateway: TestProcess, held: number): Promise<Debtor> {
  const accountId = await setup.money.account(0n);
  const keyId = await setup.money.key(accountId);
  const { topUpId } = await setup.paid(one, accountId);
  const request = admission(accountId, keyId, rupiah(held));
  expect(await gateway.ledger.admit(request)).toMatchObject({ outcome: "granted" });
  await setup.happens(one, topUpId, { status: "charged_back" });
  expect(await setup.standing(accountId)).toEqual({ available: 0, owed: held });
  return { accountId, keyId, requestId: request.requestId };
}

/** A debtor without any money: its hold was charged. */
async function spentDebtor(gateway: TestProcess, owed: number): Promise<Debtor> {
  const found = await debtor(gateway, owed);
  await gateway.ledger.settle(settlement(found.accountId, found.requestId, tokens(owed)));
  expect(await setup.standing(found.accountId)).toEqual({ available: 0, owed });
  return found;
}

/** A debtor whose money is available and not collected yet: the process of its hold died. */
async function recoveredDebtor(held: number): Promise<Debtor> {
  const dead = await setup.money.process();
  const found = await debtor(dead, held);
  await setup.money.pool.query("UPDATE process SET dead_at = clock_timestamp() WHERE id = $1", [dead.lease.processId]);
  expect(await recoverHolds(setup.money.pool)).toBe(1);
  const balance = { posted: rupiah(held), held: 0n, owed: rupiah(held), available: 0n };
  expect(await setup.money.balanceAndDebt(found.accountId)).toEqual(balance);
  return found;
}

const admit = (gateway: TestProcess, { accountId, keyId }: Debtor, amount: number): Promise<Admission> =>
  gateway.ledger.admit(admission(accountId, keyId, rupiah(amount)));

const by = () => ({ database: one.database, operator: "test" });

describe("what a held balance owes", () => {
  it("is shown beside it, and leaves nothing available", async () => {
    const { accountId } = await debtor(await setup.money.process(), 24_000);
    const balance = { posted: rupiah(24_000), held: rupiah(24_000), owed: rupiah(24_000), available: 0n };
    expect(await setup.money.balanceAndDebt(accountId)).toEqual(balance);
  });

  it("is named by every refusal, of a request that is alone and of requests in a group", async () => {
    const gateway = await setup.money.process();
    const found = await debtor(gateway, 24_000);
    const refused = { outcome: "refused", available: 0n, owed: rupiah(24_000) };
    expect(await admit(gateway, found, 1)).toMatchObject(refused);
    for (const each of await Promise.all(Array.from({ length: 8 }, () => admit(gateway, found, 1)))) {
      expect(each).toMatchObject(refused);
    }
    const other = await setup.money.account(0n);
    const keyId = await setup.money.key(other);
    expect(await admit(gateway, { ...found, accountId: other, keyId }, 1)).not.toHaveProperty("owed");
  });

  it("is collected when the request ends free, so that nothing is spent beside the debt", async () => {
    const gateway = await setup.money.process();
    const { requestId, ...account } = await debtor(gateway, 24_000);
    await gateway.ledger.settle({ ...settlement(account.accountId, requestId, 0), basis: "free" });
    const balance = { posted: 0n, held: 0n, owed: 0n, available: 0n };
    expect(await setup.money.balanceAndDebt(account.accountId)).toEqual(balance);
    expect(await admit(gateway, { ...account, requestId }, 1)).toMatchObject({ outcome: "refused", available: 0n });
  });

  it("is collected from what a request leaves of its hold", async () => {
    const gateway = await setup.money.process();
    const { accountId, requestId } = await debtor(gateway, 24_000);
    const settled = await gateway.ledger.settle(settlement(accountId, requestId, tokens(4_000)));
    expect(settled).toMatchObject({ charge: rupiah(4_000) });
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 4_000 });
  });

  it("is not there for a request that costs more than its hold, also where another one frees money in the same group", async () => {
    const gateway = await setup.money.process();
    const { accountId, keyId, requestId } = await debtor(gateway, 10_000);
    const alone = await gateway.ledger.settle(settlement(accountId, requestId, tokens(30_000)));
    expect(alone).toMatchObject({ cost: rupiah(30_000), charge: rupiah(10_000) });
    await setup.money.credit(accountId, rupiah(10_000 + 24_000));
    const { topUpId } = await setup.paid(one, accountId);
    const [first, ends, costsMore] = [
      admission(accountId, keyId, rupiah(4_000)),
      admission(accountId, keyId, rupiah(30_000)),
      admission(accountId, keyId, rupiah(15_000)),
    ] as const;
    for (const request of [first, ends, costsMore])
      expect(await gateway.ledger.admit(request)).toMatchObject({ outcome: "granted" });
    await setup.happens(one, topUpId, { status: "charged_back" });
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 25_000 });
    // The first goes alone; the other two wait for it and are sent together.
    const [, , charged] = await Promise.all([
      gateway.ledger.settle(settlement(accountId, first.requestId, tokens(4_000))),
      gateway.ledger.settle({ ...settlement(accountId, ends.requestId, 0), basis: "free" }),
      gateway.ledger.settle(settlement(accountId, costsMore.requestId, tokens(40_000))),
    ]);
    expect(charged).toMatchObject({ charge: rupiah(20_000) });
    expect(await setup.money.balanceAndDebt(accountId)).toMatchObject({ posted: 0n, held: 0n, owed: 0n });
  });

  it("that a dead process held can be neither held, charged, taken nor credited away, and is collected by a worker", async () => {
    const gateway = await setup.money.process();
    const found = await recoveredDebtor(20_000);
    expect(await admit(gateway, found, 1)).toMatchObject({ outcome: "refused", available: 0n });
    // Beside others, which uses the other function of the database.
    const several = await Promise.all([1, 2, 3].map((amount) => admit(gateway, found, amount)));
    expect(several.map(({ outcome }) => outcome)).toEqual(["refused", "refused", "refused"]);
    const taken = adjustAccount(by(), {
      accountId: found.accountId,
      amount: -rupiah(1),
      reason: "a correction",
      reference: uuidv7(),
    });
    await expect(taken).rejects.toThrow(InsufficientBalance);
    expect(await collectFreed(setup.money.pool)).toBe(1);
    expect(await collectFreed(setup.money.pool)).toBe(0);
    const balance = { posted: 0n, held: 0n, owed: 0n, available: 0n };
    expect(await setup.money.balanceAndDebt(found.accountId)).toEqual(balance);
  });

  it("is not there for an extension, and what is above the debt is", async () => {
    const gateway = await setup.money.process();
    const found = await recoveredDebtor(20_000);
    // Past the credit's own collection, as a payment that is posted and not collected yet: 2.000 are available above the debt.
    await setup.money.asOwner(`ALTER FUNCTION collect_owed RENAME TO collect_owed_later;
      CREATE FUNCTION collect_owed(account uuid, source uuid) RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint'`);
    await setup.money.credit(found.accountId, rupiah(2_000));
    await setup.money.asOwner(`DROP FUNCTION collect_owed; ALTER FUNCTION collect_owed_later RENAME TO collect_owed`);
    const request = admission(found.accountId, found.keyId, rupiah(500));
    expect(await gateway.ledger.admit(request)).toMatchObject({ outcome: "granted" });
    const { accountId, requestId } = request;
    const progress = { inputTokens: 0, outputTokens: 0 };
    const wanted = { accountId, requestId, amount: rupiah(5_000), leastAmount: rupiah(3_000), ...progress };
    expect(await gateway.ledger.extend(wanted)).toMatchObject({ outcome: "refused" });
    const less = { ...wanted, leastAmount: rupiah(1_000) };
    expect(await gateway.ledger.extend(less)).toEqual({ outcome: "granted", amount: rupiah(2_000) });
    const settled = await gateway.ledger.settle(settlement(accountId, requestId, tokens(9_000)));
    expect(settled).toMatchObject({ charge: rupiah(2_000) });
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 0 });
  });
});

describe("a debt is paid first", () => {
  it("by a top-up", async () => {
    const { accountId } = await spentDebtor(await setup.money.process(), 20_000);
    await setup.paid(one, accountId);
    expect(await setup.standing(accountId)).toEqual({ available: RUPIAH - 20_000, owed: 0 });
  });

  it("by an operator's credit and correction, which answer with what is left", async () => {
    const { accountId } = await spentDebtor(await setup.money.process(), 20_000);
    const order = { accountId, reason: "goodwill" };
    const first = await creditAccount(by(), { ...order, amount: rupiah(5_000), reference: uuidv7() });
    expect(first).toMatchObject({ available: 0n });
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 15_000 });
    const second = await adjustAccount(by(), { ...order, amount: rupiah(16_000), reference: uuidv7() });
    expect(second).toMatchObject({ available: rupiah(1_000) });
    expect(await setup.standing(accountId)).toEqual({ available: 1_000, owed: 0 });
  });

  it("by several credit notes of one request, behind the settlement of the same request", async () => {
    const gateway = await setup.money.process();
    const { accountId, requestId } = await debtor(gateway, 20_000);
    await gateway.ledger.settle(settlement(accountId, requestId, tokens(15_000)));
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 15_000 });
    const note = (name: string) =>
      withTransaction(one.database, (client) =>
        creditUsageByOperator(client, { requestId, amount: rupiah(7_500), note: "it failed", name }),
      );
    await note("one");
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 7_500 });
    await note("one");
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 7_500 });
    await note("another");
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 0 });
  });

  it("by a welcome credit", async () => {
    const { accountId } = await spentDebtor(await setup.money.process(), 20_000);
    await updateSettings(by(), { settings: { welcomeCredit: rupiah(3_000) }, reason: "a test" });
    expect(await postWelcomeCredit(one.database, accountId)).toMatchObject({ isNew: true, available: 0n });
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 17_000 });
  });
});

describe("a chargeback beside running requests", () => {
  const OWED_AND_FREE = "SELECT count(*)::int AS found FROM account WHERE owed > 0 AND posted > held";

  it("never leaves free money beside the debt, over eight connections", async () => {
    const gateways = await Promise.all([1, 2, 3, 4].map(() => setup.money.process(2)));
    const accountId = await setup.money.account(0n);
    const keyId = await setup.money.key(accountId);
    let found = 0;
    for (let round = 1; round <= 3; round += 1) {
      const { topUpId } = await setup.paid(one, accountId);
      let granted = 0;
      let isOver = false;
      const clients = Array.from({ length: 16 }, async (_, client) => {
        const { ledger } = gateways[client % gateways.length] as TestProcess;
        for (let request = 0; request < 12; request += 1) {
          const asked = admission(accountId, keyId, rupiah(2_000), rupiah(1));
          if ((await ledger.admit(asked)).outcome !== "granted") continue;
          granted += 1;
          const cost = request % 3 === 0 ? 0 : tokens(100);
          const basis = cost === 0 ? "free" : "exact";
          await ledger.settle({ ...settlement(accountId, asked.requestId, cost), basis });
        }
      });
      const watching = (async () => {
        while (!isOver) found += ((await setup.money.pool.query(OWED_AND_FREE)).rows[0] as { found: number }).found;
      })();
      await expect.poll(() => granted, { interval: 1 }).toBeGreaterThan(0);
      await setup.happens(one, topUpId, { status: "charged_back" });
      await Promise.all(clients);
      isOver = true;
      await watching;
      expect(granted).toBeGreaterThan(0);
    }
    const { posted, held, owed } = await setup.money.balanceAndDebt(accountId);
    const { rows } = await setup.money.pool.query<{ used: bigint }>(
      "SELECT coalesce(sum(charge), 0)::bigint AS used FROM usage_record WHERE account_id = $1",
      [accountId],
    );
    // All three payments were taken back: the used part is owed, and the account has nothing else.
    expect({ posted, held, owed }).toEqual({ posted: 0n, held: 0n, owed: rows[0]?.used });
    expect(found).toBe(0);
  });
});
