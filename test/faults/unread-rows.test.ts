// A lost commit whose row the server refuses to read afterwards: it waits by itself, and the requests beside and behind it go on.

import { beforeEach, describe, expect, it } from "vitest";
import { admission, settlement, SOUND } from "../money/money-setup.ts";
import { testBackends } from "../setup/test-database.ts";
import { useLedgerBehindProxy } from "./ledger-behind-proxy.ts";

const AMOUNT = 400_000n;
const TOKENS = 3;
const CHARGE = 15_000n;
/** A member that waits for the whole of its patience is a failure. */
const BOUNDED = { timeout: 30_000 };
/** Refusals of a server that stays there. */
const STATES = ["XX001", "57014", "55P03", "53100"];

describe.each(testBackends())("a row that is not read again on the %s database", (backend) => {
  const behind = useLedgerBehindProxy(backend);
  beforeEach(() => {
    behind.proxy.rule = () => undefined;
  });

  /** A request that holds all of its account. */
  async function granted() {
    const account = await behind.setup.account(AMOUNT);
    const request = admission(account, await behind.setup.key(account), AMOUNT);
    await behind.process.ledger.admit(request);
    return { account, settled: { ...settlement(account, request.requestId, TOKENS), delivered: false } };
  }

  /** Loses the reply of the next transaction with such statements, then refuses to read `recall` until it is healed. */
  function loseAndRefuse(lost: RegExp, recall: string, raise: string) {
    const now = { isHealed: false, isLost: false, refused: 0 };
    behind.proxy.rule = ({ statements }) => {
      const ran = statements.join(" ");
      if (!now.isLost && lost.test(ran)) {
        now.isLost = true;
        return "lose-reply";
      }
      if (now.isHealed || !ran.includes(recall)) return undefined;
      now.refused += 1;
      return { raise };
    };
    return now;
  }

  /** Makes reading one usage record an error, also in an index, until it is healed. */
  async function damage(requestId: string) {
    await behind.setup.asOwner(`
      CREATE FUNCTION read_damaged() RETURNS boolean LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION USING ERRCODE = 'XX001', MESSAGE = 'invalid page'; END $$;
      ALTER TABLE usage_record ENABLE ROW LEVEL SECURITY;
      CREATE POLICY damage ON usage_record USING (request_id <> '${requestId}' OR read_damaged()) WITH CHECK (true)`);
    return {
      heal: () =>
        behind.setup.asOwner(`
          DROP POLICY damage ON usage_record;
          ALTER TABLE usage_record DISABLE ROW LEVEL SECURITY;
          DROP FUNCTION read_damaged`),
    };
  }

  it.each(STATES)("lets newcomers of both kinds go on while it is refused with %s", BOUNDED, async (raise) => {
    const [bad, neighbour] = [await granted(), await granted()];
    const fault = loseAndRefuse(/settle/, "recall_usage", raise);
    let isAnswered = false;
    const late = behind.process.ledger.settle(bad.settled).finally(() => (isAnswered = true));
    await expect.poll(() => fault.refused).toBeGreaterThan(0);

    expect(await behind.process.ledger.settle(neighbour.settled)).toEqual({ cost: CHARGE, charge: CHARGE });
    const account = await behind.setup.account(AMOUNT);
    const newcomer = admission(account, await behind.setup.key(account), AMOUNT);
    expect(await behind.process.ledger.admit(newcomer)).toMatchObject({ outcome: "granted", amount: AMOUNT });
    await behind.process.ledger.release({ accountId: account, requestId: newcomer.requestId });
    expect([isAnswered, behind.process.ledger.statistics().depth]).toEqual([false, 1]);
    // The connection that refused to read one row is no lost one.
    const { lostConnections } = behind.process.ledger.statistics();
    await expect.poll(() => fault.refused).toBeGreaterThan(2);
    expect(behind.process.ledger.statistics().lostConnections).toBe(lostConnections);

    fault.isHealed = true;
    expect(await late).toEqual({ cost: CHARGE, charge: CHARGE });
    expect(await behind.setup.balance(bad.account)).toMatchObject({ posted: AMOUNT - CHARGE, held: 0n });
    expect(behind.process.ledger.statistics().depth).toBe(0);
  });

  it("answers its neighbours of the lost transaction, each by its own row", BOUNDED, async () => {
    const all = [await granted(), await granted(), await granted(), await granted(), await granted()];
    // Together they are refused, and by themselves only the first: its page is damaged.
    const bad = all[0]?.settled.requestId ?? "";
    const damaged = await damage(bad);
    const fault = loseAndRefuse(/settle/, "no recall is refused by the proxy", "XX001");
    const settled = all.map(async (each) => behind.process.ledger.settle(each.settled));
    const [late, ...others] = settled;
    expect(await Promise.all(others)).toEqual(others.map(() => ({ cost: CHARGE, charge: CHARGE })));
    expect({ isLost: fault.isLost, depth: behind.process.ledger.statistics().depth }).toEqual({
      isLost: true,
      depth: 1,
    });
    await damaged.heal();
    expect(await late).toEqual({ cost: CHARGE, charge: CHARGE });
    for (const { account } of all)
      expect(await behind.setup.balance(account)).toMatchObject({ posted: AMOUNT - CHARGE, held: 0n });
  });

  it("settles what the lost commit had not written, once its row is read", async () => {
    const { account, settled } = await granted();
    const now = { isLost: false, refused: 0 };
    behind.proxy.rule = ({ statements }) => {
      const ran = statements.join(" ");
      if (!now.isLost && /settle/.test(ran)) {
        now.isLost = true;
        return "lose-request";
      }
      if (!ran.includes("recall_usage") || now.refused === 3) return undefined;
      now.refused += 1;
      return { raise: "XX001" };
    };
    expect(await behind.process.ledger.settle(settled)).toEqual({ cost: CHARGE, charge: CHARGE });
    expect(now.refused).toBe(3);
    expect(await behind.setup.balance(account)).toMatchObject({ posted: AMOUNT - CHARGE, held: 0n });
  });

  it("does not look for newcomers that were never sent", BOUNDED, async () => {
    const [bad, other] = [await granted(), await granted()];
    const account = await behind.setup.account(AMOUNT);
    const admitted = admission(account, await behind.setup.key(account), AMOUNT);
    const fault = loseAndRefuse(/settle/, "recall_usage", "XX001");
    const late = behind.process.ledger.settle(bad.settled);
    await expect.poll(() => fault.isLost, { interval: 1 }).toBe(true);
    // These arrive while the lost backend is ended, and run with the recall of the lost one.
    const newcomers = [behind.process.ledger.settle(other.settled), behind.process.ledger.admit(admitted)];
    expect(await Promise.all(newcomers)).toMatchObject([{ charge: CHARGE }, { outcome: "granted" }]);
    fault.isHealed = true;
    expect(await late).toEqual({ cost: CHARGE, charge: CHARGE });
    await behind.process.ledger.release({ accountId: account, requestId: admitted.requestId });
  });

  it("refuses an admission whose hold is not read, and leaves that hold to the sweep", async () => {
    const account = await behind.setup.account(AMOUNT);
    const request = admission(account, await behind.setup.key(account), AMOUNT);
    const fault = loseAndRefuse(/admi/, "recall_holds", "XX001");
    await expect(behind.process.ledger.admit(request)).rejects.toMatchObject({ code: "upstream_busy" });
    fault.isHealed = true;
    expect([behind.process.ledger.statistics().depth, behind.process.ledger.isOpen(request.requestId)]).toEqual([
      0,
      false,
    ]);
    await behind.process.ledger.release({ accountId: account, requestId: request.requestId });
    expect(await behind.setup.balance(account)).toMatchObject({ posted: AMOUNT, held: 0n });
  });

  it("has kept the books in order", async () => {
    expect(await behind.setup.audit()).toEqual(SOUND);
  });
});
