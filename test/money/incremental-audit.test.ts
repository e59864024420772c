// The audit between its checkpoints: which rows it reads again, which not, and that a running system never causes a false alarm.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLook } from "../../src/database/throttled-reader.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { changedAccounts } from "../../src/ledger/changed-accounts.ts";
import { beginAudit, claimAudit, readAuditStates, recordAudit } from "../../src/ledger/audit/run.ts";
import { audit } from "../../src/ledger/audit/audit.ts";
import { testBackends } from "../setup/test-database.ts";
import { recordingPool, rowsRead } from "./rows-read.ts";
import { chooseSeed, seededRandom } from "./random.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { topicAudits } from "../../src/app/compose/topic-audits.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "./money-setup.ts";

const MINUTE_MS = 60_000;
const INCREMENTAL = { kind: "incremental" } as const;

/** Records of a token each for five micro-rupiah, from twenty minutes ago backwards, and the account's balance with them. */
const insertRecords = ({ account, key }: { account: string; key: string }, count: number) => `
  INSERT INTO usage_record (account_id, request_id, key_id, model, input_tokens_uncached, input_tokens_cached, output_tokens,
    input_price, output_price, cost, charge, basis, billing_day, streamed, duration_ms)
  SELECT '${account}', id, '${key}', 'm', 1, 0, 0, 5000000, 1, 5, 5, 'exact', (uuid_time(id) AT TIME ZONE 'Asia/Jakarta')::date, false, 1
  FROM (SELECT (substr(uuid_floor(now() - interval '20 minutes' - n * interval '10 ms')::text, 1, 19) || '8' || substr(gen_random_uuid()::text, 21))::uuid AS id
        FROM generate_series(1, ${count}) n) ids;
  UPDATE account SET posted = posted - ${count} * 5 WHERE id = '${account}'`;

describe.each(testBackends())("the incremental audit on the %s database", (backend) => {
  let setup: MoneySetup;
  let process: TestProcess;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    process = await setup.process();
  });
  afterAll(() => setup.close());

  const minutesAgo = (minutes: number) => uuidv7(Date.now() - minutes * MINUTE_MS);
  const customer = async (balance = 10_000_000n) => {
    const account = await setup.account(balance);
    return { account, key: await setup.key(account) };
  };
  type Customer = Awaited<ReturnType<typeof customer>>;
  const admit = ({ account, key }: Customer, requestId = uuidv7()) =>
    process.ledger.admit({ ...admission(account, key, 100_000n), requestId });
  async function use(who: Customer, requestId: string, tokens = 3) {
    expect(await admit(who, requestId)).toMatchObject({ outcome: "granted" });
    await process.ledger.settle(settlement(who.account, requestId, tokens));
  }
  async function checkpointOf(account: string) {
    const { rows } = await setup.pool.query<{ posted: string; usage_through: string }>(
      "SELECT posted, usage_through FROM audit_checkpoint WHERE account_id = $1",
      [account],
    );
    return rows[0];
  }
  const changeRecord = (requestId: string, change: string) =>
    setup.asOwner(`ALTER TABLE usage_record DISABLE TRIGGER USER;
      UPDATE usage_record SET ${change} WHERE request_id = '${requestId}';
      ALTER TABLE usage_record ENABLE ALWAYS TRIGGER append_only;
      ALTER TABLE usage_record ENABLE ALWAYS TRIGGER append_only_truncate`);

  it("stores an account's sums up to ten minutes ago, and begins there the next time", async () => {
    const who = await customer();
    const [old, young] = [minutesAgo(30), minutesAgo(5)];
    await use(who, old);
    await use(who, young);
    expect(await setup.audit(INCREMENTAL)).toEqual(SOUND);
    // The credit is from now, so only the old request is folded.
    expect(await checkpointOf(who.account)).toEqual({ posted: "-15000", usage_through: old });

    // Behind the checkpoint only a full run reads again. The day of a record moves no money.
    await changeRecord(old, "billing_day = billing_day + 1");
    expect(await setup.audit(INCREMENTAL)).toEqual(SOUND);
    expect((await setup.audit()).violations.map(({ subject }) => subject)).toEqual([old]);
    await changeRecord(old, "billing_day = billing_day - 1");
    // New rows are checked, and checked again for as long as one of them is wrong.
    const next = minutesAgo(1);
    await use(who, next);
    await changeRecord(next, "billing_day = billing_day + 1");
    expect((await setup.audit(INCREMENTAL)).violations.map(({ subject }) => subject)).toEqual([next]);
    expect((await setup.audit(INCREMENTAL)).violations.map(({ subject }) => subject)).toEqual([next]);
    await changeRecord(next, "billing_day = billing_day - 1");
    expect(await setup.audit(INCREMENTAL)).toEqual(SOUND);
  });

  it("sees money that moved behind a checkpoint, because the sums do not meet any more", async () => {
    const who = await customer();
    const old = minutesAgo(30);
    await use(who, old);
    await setup.audit(INCREMENTAL);
    await setup.asOwner(`UPDATE account SET posted = posted + 1 WHERE id = '${who.account}'`);
    expect((await setup.audit(INCREMENTAL)).violations.map(({ subject }) => subject)).toEqual([who.account]);
    await setup.asOwner(`UPDATE account SET posted = posted - 1 WHERE id = '${who.account}'`);
    expect(await setup.audit(INCREMENTAL)).toEqual(SOUND);
  });

  it("folds nothing behind the oldest open hold, so that its record is not missed", async () => {
    const who = await customer();
    const [before, open, behind] = [minutesAgo(40), minutesAgo(30), minutesAgo(20)];
    await use(who, before);
    await admit(who, open);
    await use(who, behind);
    await setup.audit(INCREMENTAL);
    expect(await checkpointOf(who.account)).toMatchObject({ usage_through: before });
    await process.ledger.settle(settlement(who.account, open, 5));
    expect(await setup.audit(INCREMENTAL)).toEqual(SOUND);
    expect(await checkpointOf(who.account)).toEqual({ posted: "-55000", usage_through: behind });
  });

  it("gives no false alarm for a record that comes later than any should, and folds it then", async () => {
    const who = await customer();
    const [late, old] = [minutesAgo(30), minutesAgo(20)];
    await use(who, old);
    await setup.audit(INCREMENTAL);
    await use(who, late);
    expect(await setup.audit(INCREMENTAL)).toEqual(SOUND);
    expect(await checkpointOf(who.account)).toEqual({ posted: "-30000", usage_through: old });
    expect(await setup.audit()).toEqual(SOUND);
  });

  it("folds a long history page by page, with the same sums as a full run", async () => {
    const who = await customer();
    await setup.asOwner(insertRecords(who, 4_500));
    expect(await setup.audit(INCREMENTAL)).toEqual(SOUND);
    const incremental = await checkpointOf(who.account);
    expect(incremental).toMatchObject({ posted: String(-4500 * 5) });
    expect(await setup.audit()).toEqual(SOUND);
    expect(await checkpointOf(who.account)).toEqual(incremental);
  });

  it("reads each record a few times and no more, though one account has most of them", async () => {
    const RECORDS = 20_000;
    const grown = await MoneySetup.create(backend);
    try {
      const account = await grown.account(1_000_000_000n);
      await grown.asOwner(`
        INSERT INTO account (id) SELECT gen_random_uuid() FROM generate_series(1, 500);
        ${insertRecords({ account, key: account }, RECORDS)}; ANALYZE`);
      const { pool, statements } = recordingPool(grown.pool);
      expect(await audit(pool)).toEqual(SOUND);
      expect(statements.length).toBeGreaterThan(10);
      const touched = await rowsRead(grown.opened.database, statements);
      // Folded, and checked; the rest is steps and pages.
      expect(touched["usage_record"]).toBeGreaterThanOrEqual(2 * RECORDS);
      expect(touched["usage_record"]).toBeLessThan(2.5 * RECORDS);
      expect(touched["account"]).toBeLessThan(5_000);
      expect(touched["posting"] ?? 0).toBeLessThan(5_000);
    } finally {
      await grown.close();
    }
  });

  it("reads as many rows of a few active accounts among many idle ones as among few", async () => {
    const grown = await MoneySetup.create(backend);
    try {
      const own = await grown.process();
      const account = await grown.account(1_000_000_000n);
      const key = await grown.key(account);
      const run = async () => {
        for (let count = 0; count < 3; count += 1) {
          const requestId = uuidv7();
          await own.ledger.admit({ ...admission(account, key, 100_000n), requestId });
          await own.ledger.settle(settlement(account, requestId, 3));
        }
        const { pool, statements } = recordingPool(grown.pool);
        expect(await audit(pool, { ...INCREMENTAL, topics: topicAudits() })).toEqual(SOUND);
        return rowsRead(grown.opened.database, statements);
      };
      const idle = (count: number) =>
        grown.asOwner(`INSERT INTO account (id) SELECT gen_random_uuid() FROM generate_series(1, ${count});
          INSERT INTO usage_rolled_up (account_id) SELECT id FROM account ON CONFLICT DO NOTHING;
          UPDATE usage_rolled_up SET rolled_at = rolled_at - interval '1 hour'`);
      await idle(10);
      await run();
      const few = await run();
      await idle(1_990);
      // It looks at the new ones once, and at none of them again.
      await run();
      const [checkpoints] = await grown.asOwner("SELECT count(*)::int AS count FROM audit_checkpoint");
      expect(checkpoints).toEqual({ count: 2_001 });
      // An open transaction of another database of the server makes the accounts of before look new: until it has ended.
      let many = await run();
      for (let again = 0; again < 20 && (many["audit_checkpoint"] ?? 0) > 1_000; again += 1) many = await run();
      // One pass over each table that has a row of an account, and no look at the months.
      expect(many["account"]).toBeLessThan(2 * 2_001 + 100);
      expect(many["usage_rolled_up"]).toBeLessThan(2 * 2_001 + 100);
      for (const table of ["usage_record", "posting", "audit_checkpoint", "hold"])
        expect(many[table] ?? 0, table).toBeLessThanOrEqual((few[table] ?? 0) * 2 + 30);
    } finally {
      await grown.close();
    }
  });

  /**
   * Forgeries behind a checkpoint of an idle account, and whether the incremental audit surely finds them at once. It may find others, too,
   * where a transaction elsewhere on the server was open.
   */
  const forgeries: readonly [name: string, isSeenAtOnce: boolean, forge: (account: string, old: string) => string][] = [
    ["a balance that was raised", true, (account) => `UPDATE account SET posted = posted + 1 WHERE id = '${account}'`],
    [
      "a credit without its balance",
      true,
      (account) => `INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason)
        VALUES ('${account}', new_uuidv7(), new_uuidv7(), 'IDR/6', '${systemAccounts.promotions}', '${account}', 5, 'demo_credit')`,
    ],
    [
      "a hold without its account",
      true,
      (account) => `INSERT INTO hold (account_id, id, owner, amount, key_id, model, input_price, output_price)
        SELECT '${account}', new_uuidv7(), id, 1, new_uuidv7(), 'm', 1, 1 FROM process LIMIT 1`,
    ],
    [
      "a record that was deleted",
      false,
      (account, old) => `DELETE FROM usage_record WHERE account_id = '${account}' AND request_id = '${old}'`,
    ],
    [
      "a record that was added",
      false,
      (
        account,
        old,
      ) => `INSERT INTO usage_record SELECT (jsonb_populate_record(u, jsonb_build_object('request_id', new_uuidv7(), 'billing_day',
          (clock_timestamp() AT TIME ZONE 'Asia/Jakarta')::date))).* FROM usage_record u WHERE account_id = '${account}' AND request_id = '${old}'`,
    ],
    [
      "a record that was made dearer",
      false,
      (account, old) =>
        `UPDATE usage_record SET cost = cost + 1, charge = charge + 1 WHERE account_id = '${account}' AND request_id = '${old}'`,
    ],
  ];
  it.each(forgeries)("behind a checkpoint: %s", async (_, isSeenAtOnce, forge) => {
    const forged = await MoneySetup.create(backend);
    try {
      const own = await forged.process();
      const account = await forged.account(10_000_000n);
      const key = await forged.key(account);
      const request = async (requestId: string) => {
        await own.ledger.admit({ ...admission(account, key, 100_000n), requestId });
        await own.ledger.settle(settlement(account, requestId, 3));
      };
      const old = minutesAgo(30);
      await request(old);
      // Its credit is folded, too: nothing is left to do.
      await forged.asOwner(`ALTER TABLE posting DISABLE TRIGGER USER; ALTER TABLE usage_record DISABLE TRIGGER USER;
        UPDATE posting SET id = '${minutesAgo(40)}'; ALTER TABLE posting ENABLE ALWAYS TRIGGER append_only;
        ALTER TABLE posting ENABLE ALWAYS TRIGGER append_only_truncate`);
      const about = async (kind: "incremental" | "full") =>
        (await audit(forged.pool, { kind })).violations.filter(
          ({ check }) => check !== "nothing posted can be changed",
        );
      expect(await about("incremental")).toEqual([]);
      expect(await about("incremental")).toEqual([]);
      expect(await forged.asOwner("SELECT account_id FROM audit_checkpoint WHERE open_since IS NOT NULL")).toEqual([]);
      await forged.asOwner(forge(account, old));
      // What was found is found again, though nothing has changed since.
      for (let run = 0; run < 2 && isSeenAtOnce; run += 1)
        expect((await about("incremental")).length).toBeGreaterThan(0);
      expect((await about("full")).length).toBeGreaterThan(0);
    } finally {
      await forged.close();
    }
  });

  it("finds a hold that is gone though its account was not written", async () => {
    const own = await MoneySetup.create(backend);
    try {
      const account = await own.account(10_000_000n);
      const request = { ...admission(account, await own.key(account), 100_000n), requestId: uuidv7() };
      await (await own.process()).ledger.admit(request);
      // Its credit is folded, so that the hold is all that is open.
      await own.asOwner(`ALTER TABLE posting DISABLE TRIGGER USER; UPDATE posting SET id = '${minutesAgo(40)}';
        ALTER TABLE posting ENABLE ALWAYS TRIGGER append_only; ALTER TABLE posting ENABLE ALWAYS TRIGGER append_only_truncate`);
      const runs = async () => (await audit(own.pool, INCREMENTAL)).violations.map(({ subject }) => subject);
      expect([await runs(), await runs(), await runs()]).toEqual([[], [], []]);
      expect(await own.asOwner("SELECT account_id FROM audit_checkpoint WHERE open_since IS NOT NULL")).toEqual([]);
      await own.asOwner(`DELETE FROM hold WHERE id = '${request.requestId}'`);
      expect(await runs()).toContain(account);
    } finally {
      await own.close();
    }
  });

  it("finds a record that was added with the account's next request", async () => {
    const who = await customer();
    const old = minutesAgo(30);
    await use(who, old);
    expect(await setup.audit(INCREMENTAL)).toEqual(SOUND);
    const added = uuidv7();
    await setup.asOwner(`INSERT INTO usage_record SELECT (jsonb_populate_record(u, jsonb_build_object('request_id', '${added}', 'billing_day',
      (clock_timestamp() AT TIME ZONE 'Asia/Jakarta')::date))).* FROM usage_record u WHERE account_id = '${who.account}' AND request_id = '${old}'`);
    await use(who, uuidv7());
    expect((await setup.audit(INCREMENTAL)).violations.map(({ subject }) => subject)).toEqual([who.account]);
    await setup.asOwner(`UPDATE account SET posted = posted - (SELECT charge FROM usage_record WHERE account_id = '${who.account}' AND request_id = '${added}')
      WHERE id = '${who.account}'`);
    expect(await setup.audit(INCREMENTAL)).toEqual(SOUND);
  });

  it("folds a merchant's fund, and finds one that is not the sum of its postings", async () => {
    const merchants = await MoneySetup.create(backend);
    try {
      const account = await merchants.account(0n);
      const fund = uuidv7();
      const clearing = systemAccounts.merchantClearing;
      const paid = (id: string, amount: number) => `
        INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason)
          VALUES ('${account}', '${id}', '${id}', 'BTC/8', '${clearing}', '${fund}', ${amount}, 'merchant_credit');
        UPDATE merchant_fund SET posted = posted + ${amount} WHERE id = '${fund}'`;
      const old = minutesAgo(30);
      await merchants.asOwner(`INSERT INTO merchant (id, account_id, environment) VALUES ('${account}', '${account}', 'sandbox');
        INSERT INTO merchant_fund (merchant_id, account_id, asset, id) VALUES ('${account}', '${account}', 'BTC/8', '${fund}');
        ${paid(old, 70)}; ${paid(uuidv7(), 5)}`);
      const run = async (kind: "incremental" | "full" = "incremental") =>
        (await audit(merchants.pool, { kind })).violations;
      const wrong = [{ check: "a merchant's fund is the sum of its postings", subject: fund }];
      expect(await run()).toEqual([]);
      const folds = () => merchants.asOwner("SELECT posted::text, folded_through FROM fund_checkpoint");
      expect(await folds()).toEqual([{ posted: "70", folded_through: old }]);
      expect(await run()).toEqual([]);
      await merchants.asOwner(`UPDATE merchant_fund SET posted = posted + 1 WHERE id = '${fund}'`);
      expect(await run()).toMatchObject(wrong);
      expect(await run()).toMatchObject(wrong);
      expect(await run("full")).toMatchObject(wrong);
      await merchants.asOwner(`UPDATE merchant_fund SET posted = posted - 1 WHERE id = '${fund}'`);
      // Later than any should, behind what is folded.
      await merchants.asOwner(paid(minutesAgo(40), 3));
      expect(await run()).toEqual([]);
      expect(await run()).toEqual([]);
      expect(await folds()).toEqual([{ posted: "73", folded_through: old }]);
    } finally {
      await merchants.close();
    }
  });

  it("looks at every account where the last run was on another server", async () => {
    const who = await customer();
    await setup.audit(INCREMENTAL);
    const [{ trace = "" } = {}] = (await setup.asOwner("SELECT trace FROM audit_run WHERE kind = 'incremental'")) as {
      trace?: string;
    }[];
    expect(trace).toMatch(/^\d+:\d+$/);
    const look = createLook(setup.pool, { share: 1 });
    const [system = "", number = "0"] = trace.split(":");
    expect(await changedAccounts(look, `1${system}:${number}`)).toBeNull();
    // Of another database of the server, whose transactions went further.
    expect(await changedAccounts(look, `${system}:${BigInt(number) + 1_000_000n}`)).toBeNull();
    expect(await changedAccounts(look, null)).toBeNull();
    await setup.asOwner(`UPDATE account SET frozen_at = now() WHERE id = '${who.account}'`);
    expect(await changedAccounts(look, trace)).toContain(who.account);
  });

  it("finds nothing in a running system, however often it runs", async () => {
    const seed = chooseSeed();
    const random = seededRandom(seed);
    const customers = await Promise.all(Array.from({ length: 6 }, () => customer(3_000_000n)));
    let running = true;
    // Ids of up to half an hour ago: behind the horizon, where a checkpoint could miss them.
    const client = async (who: Customer): Promise<number> => {
      let used = 0;
      while (running) {
        const requestId = minutesAgo(random() * 30);
        if ((await admit(who, requestId)).outcome !== "granted") return used;
        await sleep(random() * 5);
        await process.ledger.settle(settlement(who.account, requestId, Math.floor(random() * 4)));
        used += 1;
      }
      return used;
    };
    const clients = customers.flatMap((who) => [client(who), client(who)]);
    try {
      for (let round = 0; round < 15; round += 1) {
        const kind = round % 5 === 4 ? "full" : "incremental";
        expect(await setup.audit({ kind }), `seed ${seed}, round ${round}`).toEqual(SOUND);
      }
    } finally {
      running = false;
    }
    const used = await Promise.all(clients);
    expect(Math.min(...used), `seed ${seed}`).toBeGreaterThan(0);
    expect(await setup.audit(), `seed ${seed}`).toEqual(SOUND);
  });

  it("stores its last time and findings, and is run by one process at a time", async () => {
    const who = await customer();
    await setup.asOwner(`UPDATE account SET posted = posted + 1 WHERE id = '${who.account}'`);
    await setup.audit(INCREMENTAL);
    const { incremental } = await readAuditStates(setup.pool);
    expect(incremental.violations).toBe(1);
    expect(incremental.lagSeconds).toBeLessThan(60);
    await setup.asOwner(`UPDATE account SET posted = posted - 1 WHERE id = '${who.account}'`);
    await setup.audit();
    expect(await readAuditStates(setup.pool)).toMatchObject({
      incremental: { violations: 0 },
      full: { violations: 0 },
    });

    const claim = (everyMs: number, retryAfterMs = 3_600_000) =>
      claimAudit(setup.pool, { kind: "full", everyMs, retryAfterMs });
    // A run by hand counts too; then a day goes by.
    expect(await claim(3_600_000)).toBe(false);
    await setup.asOwner(
      "UPDATE audit_run SET started_at = started_at - interval '1 day', covered_at = covered_at - interval '1 day'",
    );
    const claims = await Promise.all(Array.from({ length: 8 }, () => claim(3_600_000)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    // The claimed run never ends: it is taken up again, though it is not due.
    expect(await claim(3_600_000, 0)).toBe(true);
    await setup.audit();
    expect(await claim(3_600_000, 0)).toBe(false);
    expect(await claim(0)).toBe(true);
  });

  it("lets no process take an unfinished run before its process must have died", async () => {
    await setup.audit();
    const began = (minutes: number) =>
      setup.asOwner(`UPDATE audit_run SET started_at = clock_timestamp() - interval '${minutes} minutes'
        WHERE kind = 'incremental'`);
    const claim = () =>
      claimAudit(setup.pool, { ...INCREMENTAL, everyMs: 0.9 * MINUTE_MS, retryAfterMs: 5 * MINUTE_MS });
    await setup.asOwner("UPDATE audit_run SET covered_at = clock_timestamp() - interval '10 minutes'");
    await began(1);
    expect(await claim()).toBe(false);
    await began(6);
    expect(await claim()).toBe(true);
    // The first run has ended, the second one has not.
    await setup.asOwner("UPDATE audit_run SET covered_at = clock_timestamp() - interval '6 minutes'");
    expect(await claim()).toBe(false);
    await setup.audit(INCREMENTAL);
    expect(await claim()).toBe(false);
    await setup.asOwner(
      `UPDATE audit_run SET started_at = started_at - interval '1 minute', covered_at = covered_at - interval '1 minute'`,
    );
    expect(await claim()).toBe(true);
    await setup.audit(INCREMENTAL);
  });

  it("keeps the findings of a newer run when an older one ends after it", async () => {
    const who = await customer();
    const runs = async () =>
      (await setup.asOwner(
        "SELECT kind, covered_at::text, violations, postings_before FROM audit_run ORDER BY kind",
      )) as { kind: string; covered_at: string; violations: number; postings_before: string }[];
    const beganAt = await beginAudit(setup.pool, "full");
    await setup.asOwner(`UPDATE account SET posted = posted + 1 WHERE id = '${who.account}'`);
    await setup.audit(INCREMENTAL);
    await setup.asOwner(`UPDATE account SET posted = posted - 1 WHERE id = '${who.account}'`);
    const [, incremental] = await runs();
    expect(incremental).toMatchObject({ kind: "incremental", violations: 1 });
    const postingsBefore = minutesAgo(60);
    await recordAudit(setup.pool, { kind: "full", beganAt, violations: [], postingsBefore, trace: null });
    const [full, ...others] = await runs();
    expect(full).toMatchObject({ kind: "full", violations: 0 });
    expect(others).toEqual([incremental]);
    expect(await setup.audit()).toEqual(SOUND);
    expect((await runs()).map(({ violations }) => violations)).toEqual([0, 0]);
  });

  it("ends at once when it is aborted", async () => {
    const stopped = AbortSignal.abort();
    await expect(setup.audit({ ...INCREMENTAL, signal: stopped })).rejects.toThrow("aborted");
  });
});
