// The chain of an account, its signed root and the statement that proves it: what is right is verified, and every forgery is found.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sealDays } from "../../src/billing/proof/seal.ts";
import { type ProofKey, proofKey } from "../../src/billing/proof/signing.ts";
import { exportStatement } from "../../src/billing/proof/statement.ts";
import { type VerifiedStatement, verifyStatement } from "../../src/billing/proof/verify.ts";
import { DAY_MS, startOfBillingDay } from "../../src/kernel/clock.ts";
import { readBalance } from "../../src/ledger/accounts.ts";
import { timeOfUuidv7, uuidv7 } from "../../src/kernel/ids.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import type { SignedRoot } from "../../src/billing/proof/seal-store.ts";
import { testBackends } from "../setup/test-database.ts";
import { admission, MoneySetup, settlement, type TestProcess } from "./money-setup.ts";

const KEY: ProofKey = proofKey("a secret of a test that signs the roots of its books");
const RUPIAH = 1_000_000n;
const statementOf = (setup: MoneySetup, accountId: string): Promise<string[]> =>
  Array.fromAsync(exportStatement(setup.opened.database.pool, { accountId }));
const dayOf = (root: SignedRoot | null): string => (JSON.parse(root?.text ?? "{}") as { day: string }).day;

describe.each(testBackends())("the proof of the books on the %s database", (backend) => {
  let setup: MoneySetup;
  let process: TestProcess;
  // Each test has its own books: it seals days that have not ended, and nothing may come into them afterwards.
  beforeEach(async () => {
    setup = await MoneySetup.create(backend);
    process = await setup.process();
  });
  afterEach(() => setup.close());

  /** Seals what there is, as if so many days had passed. */
  const seal = (days: number) =>
    sealDays(setup.opened.database.pool, { keys: [KEY], share: 1, nowMs: Date.now() + days * DAY_MS });
  const sealAt = (nowMs: number) => sealDays(setup.opened.database.pool, { keys: [KEY], share: 1, nowMs });
  async function used(): Promise<{ account: string; requestIds: string[] }> {
    const account = await setup.account(10_000n * RUPIAH);
    const key = await setup.key(account);
    const requestIds = [];
    for (const tokens of [100, 200, 300, 0]) {
      const request = admission(account, key, 1_000n * RUPIAH);
      await process.ledger.admit(request);
      await process.ledger.settle(settlement(account, request.requestId, tokens));
      requestIds.push(request.requestId);
    }
    return { account, requestIds };
  }

  it("verifies the statement of an account to its balance", async () => {
    const { account } = await used();
    const root = await seal(2);
    const lines = await statementOf(setup, account);
    const verified = await verifyStatement(lines);
    expect(verified).toMatchObject<Partial<VerifiedStatement>>({ ok: true, problems: [], account, lines: 5 });
    const { posted } = await readBalance(setup.opened.database.pool, account);
    expect(verified.balance).toBe(posted);
    expect(verified.keys).toEqual([KEY.id]);
    expect(await verifyStatement(lines, { roots: new Set([root?.text ?? ""]), key: KEY.publicKey })).toMatchObject({
      ok: true,
      trusted: true,
    });
    expect(await verifyStatement(lines, { roots: new Set(["another root"]) })).toMatchObject({ ok: false });
    expect(await verifyStatement(lines, { key: proofKey("the key of somebody else").publicKey })).toMatchObject({
      ok: false,
    });
  });

  it("seals a line of a sealed day in the window of its own time", async () => {
    const { account, requestIds } = await used();
    const first = await seal(2);
    const before = await statementOf(setup, account);
    // Committed a day and a half later, about a request of the sealed day: as an owed settlement of a node that was away.
    await setup.asOwner(`INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, posted_at)
      VALUES ('${account}', '${requestIds[3] ?? ""}', '${requestIds[3] ?? ""}', 'IDR/6', '${systemAccounts.operatorAdjustments}', '${account}', 5,
              'operator_credit', clock_timestamp() + interval '3 days')`);
    await setup.asOwner(`UPDATE account SET posted = posted + 5 WHERE id = '${account}'`);
    const second = await seal(5);
    expect(second?.seal).toBe((first?.seal ?? 0) + 1);
    const after = await statementOf(setup, account);
    expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
    expect(after.filter((line) => line.includes("operator_credit"))).toHaveLength(2);
    expect(await verifyStatement(after)).toMatchObject({ ok: true, problems: [] });
    const sinceFirst = await Array.fromAsync(
      exportStatement(setup.opened.database.pool, { accountId: account, after: dayOf(first) }),
    );
    expect(await verifyStatement(sinceFirst)).toMatchObject({ ok: true, problems: [], lines: 1 });
  });

  it("shows customers nothing of what the operator pays", async () => {
    const { account } = await used();
    const poor = await setup.account(1n);
    const request = admission(poor, await setup.key(poor), 1n);
    await process.ledger.admit(request);
    // Costs more than the account has, and delivers more than is billed.
    await process.ledger.settle({ ...settlement(poor, request.requestId, 300), unbilledCost: 7n, upstreamCost: 5n });
    await seal(2);
    const rows = await setup.opened.database.pool.query(
      "SELECT FROM posting WHERE account_id = $1::uuid AND reason = 'uncollected'",
      [poor],
    );
    expect(rows.rowCount).toBe(1);
    const lines = [...(await statementOf(setup, account)), ...(await statementOf(setup, poor))];
    const members = new Set(lines.flatMap((line) => Object.keys(JSON.parse(line) as object)));
    expect([...members].toSorted()).toEqual(
      (
        "account amount asset at balance basis cache_hit_price cached_tokens charge clamped cost credit debit digest group id input_price " +
        "input_tokens key leaf lines metering model opening other_prices other_tokens output_price output_tokens path reason reference request " +
        "root seal type version"
      ).split(" "),
    );
    expect(lines.filter((line) => line.includes("uncollected"))).toEqual([]);
    for (const accountId of [account, poor]) {
      const verified = await verifyStatement(await statementOf(setup, accountId));
      expect(verified).toMatchObject({ ok: true, problems: [] });
      expect(verified.balance).toBe((await readBalance(setup.opened.database.pool, accountId)).posted);
    }
  });

  it("seals the same from two processes at once, and goes on where one died", async () => {
    await used();
    const other = await setup.process();
    const now = { keys: [KEY], share: 1, nowMs: Date.now() + 8 * DAY_MS };
    const dying = new AbortController();
    const died = sealDays(setup.opened.database.pool, { ...now, signal: dying.signal });
    dying.abort();
    await expect(died).rejects.toThrow("abort");
    const roots = await Promise.all([
      sealDays(setup.opened.database.pool, now),
      sealDays(other.database.pool, now),
      sealDays(setup.opened.database.pool, now),
    ]);
    expect(new Set(roots.map((root) => root?.text)).size).toBe(1);
    expect((await setup.audit()).violations).toEqual([]);
  });

  it("seals no day before an hour after its end, and nothing twice", async () => {
    await used();
    const endMs = startOfBillingDay(dayOf(await sealAt(Date.now() + 20 * DAY_MS))) + DAY_MS;
    const next = await sealAt(endMs + DAY_MS + 3_599_000);
    expect(startOfBillingDay(dayOf(next))).toBe(endMs - DAY_MS);
    const last = await sealAt(endMs + DAY_MS + 3_600_000);
    expect(startOfBillingDay(dayOf(last))).toBe(endMs);
    expect(await sealAt(endMs + DAY_MS + 3_600_000)).toEqual(last);
  });
});

/** Forgeries behind a seal. Each changes the balance with it where it has to, so that every sum is right. */
describe.each(testBackends())("the audit of sealed books on the %s database", (backend) => {
  const forgeries: readonly [name: string, forge: (victim: Victim) => string, tables: readonly string[]][] = [
    [
      "a bill that was doubled at a consistent price",
      ({ account, requestId }) => `
        UPDATE usage_record SET input_price = input_price * 2, output_price = output_price * 2, cache_hit_price = cache_hit_price * 2,
          cost = cost * 2, charge = charge * 2 WHERE account_id = '${account}' AND request_id = '${requestId}';
        UPDATE account SET posted = posted - (SELECT charge / 2 FROM usage_record WHERE account_id = '${account}' AND request_id = '${requestId}')
        WHERE id = '${account}'`,
      ["usage_record"],
    ],
    [
      "a bill that was deleted",
      ({ account, requestId }) => `
        UPDATE account SET posted = posted + (SELECT charge FROM usage_record WHERE account_id = '${account}' AND request_id = '${requestId}')
        WHERE id = '${account}';
        DELETE FROM usage_record WHERE account_id = '${account}' AND request_id = '${requestId}'`,
      ["usage_record"],
    ],
    [
      "a bill that was inserted into the past",
      ({ account, requestId, unusedId }) => `
        INSERT INTO usage_record SELECT (jsonb_populate_record(u, jsonb_build_object('request_id', '${unusedId}'))).* FROM usage_record u
        WHERE account_id = '${account}' AND request_id = '${requestId}';
        UPDATE account SET posted = posted - (SELECT charge FROM usage_record WHERE account_id = '${account}' AND request_id = '${requestId}')
        WHERE id = '${account}'`,
      ["usage_record"],
    ],
    [
      "two bills that changed places",
      ({ account, requestId, otherId }) => `
        UPDATE usage_record u SET settled_at = o.settled_at FROM usage_record o
        WHERE u.account_id = '${account}' AND u.request_id = '${requestId}' AND o.account_id = '${account}' AND o.request_id = '${otherId}';
        UPDATE usage_record SET settled_at = settled_at - interval '1 millisecond' WHERE account_id = '${account}' AND request_id = '${otherId}'`,
      ["usage_record"],
    ],
    [
      "a bill that was moved to another account",
      ({ account, requestId, otherAccount }) => `
        UPDATE usage_record SET account_id = '${otherAccount}' WHERE account_id = '${account}' AND request_id = '${requestId}';
        UPDATE account SET posted = posted + c.charge * (CASE id WHEN '${account}' THEN 1 ELSE -1 END)
        FROM (SELECT charge FROM usage_record WHERE account_id = '${otherAccount}' AND request_id = '${requestId}') c
        WHERE id IN ('${account}', '${otherAccount}')`,
      ["usage_record"],
    ],
    [
      "a credit that was made larger",
      ({ account }) => `
        UPDATE posting SET amount = amount + 7 WHERE account_id = '${account}' AND credit = '${account}';
        UPDATE account SET posted = posted + 7 WHERE id = '${account}'`,
      ["posting"],
    ],
    [
      "a credit with another reference",
      ({ account }) =>
        `UPDATE posting SET reference = 'top_up:none' WHERE account_id = '${account}' AND credit = '${account}'`,
      ["posting"],
    ],
    [
      "a record with other counts at the same cost",
      ({ account, requestId }) => `
        UPDATE usage_record SET metering = '{"rules": ["output_estimated"]}' WHERE account_id = '${account}' AND request_id = '${requestId}'`,
      ["usage_record"],
    ],
    [
      "a seal with another digest",
      ({ account }) => `UPDATE account_seal SET digest = sha256('forged') WHERE account_id = '${account}'`,
      ["account_seal"],
    ],
    [
      "a seal with another balance",
      ({ account }) => `UPDATE account_seal SET balance = balance + 1 WHERE account_id = '${account}'`,
      ["account_seal"],
    ],
    [
      "a seal that was deleted",
      ({ account }) => `DELETE FROM account_seal WHERE account_id = '${account}'`,
      ["account_seal"],
    ],
    [
      "a root that was signed by no key",
      () => `UPDATE proof_root SET text = replace(text, '"accounts":', '"accounts":1')`,
      ["proof_root"],
    ],
  ];
  type Victim = {
    readonly account: string;
    readonly requestId: string;
    readonly otherId: string;
    readonly unusedId: string;
    readonly otherAccount: string;
  };
  const CHECKS = [
    "the lines of an account are those that were sealed",
    "the root of a seal is that of its accounts, signed, and follows the one before",
  ];

  it.each(forgeries)("names %s", async (_, forge, tables) => {
    const setup = await MoneySetup.create(backend);
    try {
      const process = await setup.process();
      const [account, otherAccount] = [await setup.account(10_000n * RUPIAH), await setup.account(10_000n * RUPIAH)];
      const key = await setup.key(account);
      const requestIds: string[] = [];
      for (const tokens of [100, 200, 300]) {
        const request = admission(account, key, 1_000n * RUPIAH);
        await process.ledger.admit(request);
        await process.ledger.settle(settlement(account, request.requestId, tokens));
        requestIds.push(request.requestId);
      }
      const [requestId = "", otherId = ""] = requestIds;
      const victim = { account, requestId, otherId, unusedId: uuidv7(timeOfUuidv7(requestId)), otherAccount };
      await sealDays(setup.opened.database.pool, { keys: [KEY], share: 1, nowMs: Date.now() + 2 * DAY_MS });
      expect((await setup.audit()).violations).toEqual([]);
      const switched = (state: string) => tables.map((table) => `ALTER TABLE ${table} ${state}`).join(";");
      await setup.asOwner(
        `${switched("DISABLE TRIGGER USER")}; ${forge(victim)}; ${switched("ENABLE ALWAYS TRIGGER append_only")};
         ${switched("ENABLE ALWAYS TRIGGER append_only_truncate")}`,
      );
      const found = (await setup.audit()).violations.filter(({ check }) => CHECKS.includes(check));
      expect(found.length).toBeGreaterThan(0);
      const named = found.map(({ subject, detail }) => `${subject} ${detail}`).join("\n");
      expect(named).toContain(tables[0] === "proof_root" ? "signature" : account);
      // Without its seal an account has no statement.
      const statement = await statementOf(setup, account).catch(() => []);
      expect((await verifyStatement(statement)).ok).toBe(false);
    } finally {
      await setup.close();
    }
  });
});
