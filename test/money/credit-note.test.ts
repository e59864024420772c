import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withTransaction } from "../../src/database/transactions.ts";
import { LimitExceeded, NotFound, ValidationError } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { type CreditNote, readCredited } from "../../src/ledger/credit-note.ts";
import { testBackends } from "../setup/test-database.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "./money-setup.ts";
import { creditUsageByOperator } from "../setup/operator-credit.ts";

const BALANCE = 1_000_000n;
/** Three tokens of input. */
const CHARGE = 15_000n;

describe.each(testBackends())("credit notes on the %s database", (backend) => {
  let setup: MoneySetup;
  let process: TestProcess;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    process = await setup.process();
  });
  afterAll(() => setup.close());

  async function charged(tokens = 3) {
    const account = await setup.account(BALANCE);
    const request = admission(account, await setup.key(account), 100_000n);
    await process.ledger.admit(request);
    await process.ledger.settle(settlement(account, request.requestId, tokens));
    return { account, requestId: request.requestId };
  }
  const credit = (note: Pick<CreditNote, "requestId"> & Partial<CreditNote>) =>
    withTransaction(process.database, (client) =>
      creditUsageByOperator(client, { amount: null, note: "wrong answer", name: null, ...note }),
    );
  const posted = async (account: string) => (await setup.balance(account)).posted;

  it("gives back the whole charge once, however often it is requested", async () => {
    const { account, requestId } = await charged();
    const note = await credit({ requestId });
    expect(note).toMatchObject({ accountId: account, amount: CHARGE, credited: CHARGE, left: 0n, isNew: true });
    expect(await posted(account)).toBe(BALANCE);
    expect(await credit({ requestId })).toEqual({ ...note, isNew: false });
    expect(await credit({ requestId, amount: CHARGE })).toEqual({ ...note, isNew: false });
    expect(await posted(account)).toBe(BALANCE);
    expect(await readCredited(setup.pool, { accountId: account, requestIds: [requestId] })).toEqual(
      new Map([[requestId, CHARGE]]),
    );
    expect(await setup.audit()).toEqual(SOUND);
  });

  it("gives back parts with names of their own, and never a unit above the charge", async () => {
    const { account, requestId } = await charged();
    expect(await credit({ requestId, amount: 4_000n })).toMatchObject({ left: 11_000n });
    expect(await credit({ requestId, amount: 4_000n, name: "again" })).toMatchObject({
      credited: 8_000n,
      left: 7_000n,
    });
    await expect(credit({ requestId, amount: 7_001n, name: "too much" })).rejects.toThrow(LimitExceeded);
    expect(await credit({ requestId, name: "the rest" })).toMatchObject({ amount: 7_000n, left: 0n });
    await expect(credit({ requestId, name: "nothing left" })).rejects.toThrow("Rp 0.00 are left");
    expect(await posted(account)).toBe(BALANCE);
    expect(await setup.audit()).toEqual(SOUND);
  });

  it("refuses another amount with a used name, and requests that do not exist or cost nothing", async () => {
    const { requestId } = await charged();
    await credit({ requestId, amount: 1n });
    await expect(credit({ requestId, amount: 2n })).rejects.toThrow(ValidationError);
    await expect(credit({ requestId: uuidv7() })).rejects.toThrow(NotFound);
    const free = await charged(0);
    await expect(credit({ requestId: free.requestId })).rejects.toThrow(LimitExceeded);
  });

  it("refuses the rest with a used name while there is a rest, and gives it with another name", async () => {
    const { account, requestId } = await charged();
    await credit({ requestId, amount: 4_000n });
    await expect(credit({ requestId })).rejects.toThrow("needs a name of its own");
    expect(await posted(account)).toBe(BALANCE - 11_000n);
    expect(await credit({ requestId, name: "the rest" })).toMatchObject({ amount: 11_000n, left: 0n });
    // Now there is no rest: the notes remain, and a repeated call changes nothing.
    expect(await credit({ requestId })).toMatchObject({ amount: 4_000n, left: 0n, isNew: false });
  });

  it("stays within the charge when many credit at once, each with a name of its own", async () => {
    const { account, requestId } = await charged();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => credit({ requestId, amount: 2_000n, name: String(index) })),
    );
    // Seven times 2 000 fit into 15 000.
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(7);
    const refusals = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : []));
    expect(refusals.every((reason) => reason instanceof LimitExceeded)).toBe(true);
    expect(await posted(account)).toBe(BALANCE - CHARGE + 14_000n);
    expect(await setup.audit()).toEqual(SOUND);
  });

  it("writes one note for simultaneous equal requests", async () => {
    const { account, requestId } = await charged();
    const notes = await Promise.all(Array.from({ length: 10 }, () => credit({ requestId })));
    expect(notes.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(notes.map(({ postingId }) => postingId)).size).toBe(1);
    expect(await posted(account)).toBe(BALANCE);
    expect(await setup.audit()).toEqual(SOUND);
  });
});
