// Does the audit find what it is for? Each case breaks one invariant by hand, past every constraint of the database.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { testBackends } from "../setup/test-database.ts";
import { admission, MoneySetup, settlement, SOUND, type TestProcess } from "./money-setup.ts";

describe.each(testBackends())("the audit on the %s database", (backend) => {
  let setup: MoneySetup;
  let process: TestProcess;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    process = await setup.process();
  });
  afterAll(() => setup.close());

  async function used(tokens: number) {
    const account = await setup.account(10_000_000n);
    const request = admission(account, await setup.key(account), 1_000_000n);
    await process.ledger.admit(request);
    await process.ledger.settle(settlement(account, request.requestId, tokens));
    return { account, requestId: request.requestId };
  }
  const unguarded = (table: string, sql: string) =>
    setup.asOwner(`ALTER TABLE ${table} DISABLE TRIGGER USER; ${sql}; ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only;
      ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only_truncate`);
  /** Damages the books, runs the audit, and repairs them. */
  async function found(damage: () => Promise<unknown>, repair: () => Promise<unknown>) {
    await damage();
    const { ok, violations } = await setup.audit();
    const incremental = await setup.audit({ kind: "incremental" });
    await repair();
    expect(ok).toBe(false);
    // Both kinds of runs find new damage, and an incremental run finds it again until it is repaired.
    expect(incremental).toEqual({ ok, violations, hasMore: false });
    return violations.map(({ check, subject }) => [check, subject]);
  }

  it("finds nothing in books that are in order", async () => {
    await used(3);
    expect(await setup.audit()).toEqual(SOUND);
  });

  it.each(["posted", "held"])("finds a balance whose %s is one unit off", async (column) => {
    const { account } = await used(3);
    const add = (units: number) =>
      setup.asOwner(
        `ALTER TABLE account DISABLE TRIGGER USER; UPDATE account SET ${column} = ${column} + ${units} WHERE id = '${account}'`,
      );
    expect(
      await found(
        () => add(1),
        () => add(-1),
      ),
    ).toEqual([["posted = sum of postings, held = sum of open holds, available >= 0", account]]);
  });

  it("finds a cost that its tokens and prices do not give, and the balance that it moved", async () => {
    const { account, requestId } = await used(3);
    const cost = (units: number) =>
      unguarded(
        "usage_record",
        `UPDATE usage_record SET cost = ${units}, charge = ${units} WHERE request_id = '${requestId}'`,
      );
    expect(
      await found(
        () => cost(15_001),
        () => cost(15_000),
      ),
    ).toEqual(
      expect.arrayContaining([
        ["a cost is recomputed from tokens and prices", requestId],
        ["posted = sum of postings, held = sum of open holds, available >= 0", account],
      ]),
    );
  });

  it("finds a charge below its cost that was not posted as a loss", async () => {
    const { account, requestId } = await used(3);
    const charge = (units: number) =>
      unguarded(
        "usage_record",
        `UPDATE usage_record SET charge = ${units} WHERE request_id = '${requestId}';
        UPDATE account SET posted = 10000000 - ${units} WHERE id = '${account}'`,
      );
    expect(
      await found(
        () => charge(14_999),
        () => charge(15_000),
      ),
    ).toEqual([["what was cut off a charge is booked as our loss", requestId]]);
  });

  it("finds a request billed on another day than its own", async () => {
    const { requestId } = await used(3);
    const move = (days: number) =>
      unguarded(
        "usage_record",
        `UPDATE usage_record SET billing_day = billing_day + ${days} WHERE request_id = '${requestId}'`,
      );
    expect(
      await found(
        () => move(1),
        () => move(-1),
      ),
    ).toEqual([["the billing day is the day of the request", requestId]]);
  });

  it("finds a record with a count below zero, and one of an unknown basis", async () => {
    const { requestId } = await used(0);
    const change = (set: string) =>
      unguarded("usage_record", `UPDATE usage_record SET ${set} WHERE request_id = '${requestId}'`);
    const check = "a record has a known basis and no count below zero";
    // Free output: the cost is the same. The database itself refuses such a count while its constraint is in place.
    expect(
      await found(
        async () => {
          await setup.asOwner("ALTER TABLE usage_record DROP CONSTRAINT usage_record_tokens_check");
          await change("output_tokens = -1, output_price = 0");
        },
        async () => {
          await change("output_tokens = 0");
          await setup.asOwner(`ALTER TABLE usage_record ADD CONSTRAINT usage_record_tokens_check
            CHECK (least(input_tokens_uncached, input_tokens_cached, output_tokens) >= 0)`);
        },
      ),
    ).toEqual(
      expect.arrayContaining([
        [check, requestId],
        ["the database refuses what must never be", "usage_record.usage_record_tokens_check"],
      ]),
    );
    expect(
      await found(
        () => change("basis = 'guessed'"),
        () => change("basis = 'exact'"),
      ),
    ).toEqual([[check, requestId]]);
  });

  it("finds a hold of a settled request, and one without a living owner", async () => {
    const { account, requestId } = await used(3);
    const damage = (owner: string, age: string) =>
      setup.asOwner(`INSERT INTO hold (account_id, id, owner, amount, key_id, model, input_price, output_price, placed_at)
        VALUES ('${account}', '${requestId}', '${owner}', 0, '${account}', 'm', 1, 1, now() - interval '${age}');
        UPDATE account SET open_holds = 1 WHERE id = '${account}'`);
    const repair = () =>
      setup.asOwner(`DELETE FROM hold WHERE id = '${requestId}';
        UPDATE account SET open_holds = 0 WHERE id = '${account}'`);
    // Behind a pooler an admission runs again after its settlement, and the sweep releases its hold a minute later.
    await damage(process.lease.processId, "2 minutes");
    for (const kind of ["incremental", "full"] as const) expect(await setup.audit({ kind })).toEqual(SOUND);
    await repair();
    expect(await found(() => damage(uuidv7(), "4 minutes"), repair)).toEqual([
      ["no hold of a dead or unknown process is older than 90 s", requestId],
      ["a hold is resolved once", requestId],
    ]);
  });

  it("finds postings, holds and usage of accounts that do not exist", async () => {
    const [nobody, id] = [uuidv7(), uuidv7()];
    const keyId = await setup.key(nobody);
    const damage = () =>
      setup.asOwner(`INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason)
          VALUES ('${nobody}', '${id}', '${id}', 'IDR/6', '${systemAccounts.promotions}', '${nobody}', 5, 'demo_credit');
        INSERT INTO hold (account_id, id, owner, amount, key_id, model, input_price, output_price)
          SELECT '${nobody}', '${id}', id, 0, '${keyId}', 'm', 1, 1 FROM process LIMIT 1;
        INSERT INTO usage_record (account_id, request_id, key_id, model, input_tokens_uncached, input_tokens_cached, output_tokens,
          input_price, output_price, cost, charge, basis, billing_day, streamed, duration_ms)
          VALUES ('${nobody}', '${id}', '${keyId}', 'm', 0, 0, 0, 1, 1, 0, 0, 'free', now()::date, false, 0)`);
    const repair = async () => {
      await setup.asOwner(`DELETE FROM hold WHERE id = '${id}'`);
      await unguarded("posting", `DELETE FROM posting WHERE id = '${id}'`);
      await unguarded("usage_record", `DELETE FROM usage_record WHERE request_id = '${id}'`);
    };
    expect(await found(damage, repair)).toEqual([
      ["every hold is on an account that exists", id],
      ["every usage record is on an account that exists", nobody],
      ["every posting is between ledger accounts that exist", id],
      ["every posting is under the account that it is about", id],
    ]);
  });

  it("finds a partition whose guard is off or not always on, and usage outside every month", async () => {
    const [{ partition }] = (await setup.asOwner(
      "SELECT inhrelid::regclass::text AS partition FROM pg_inherits WHERE inhparent = 'usage_record'::regclass AND inhrelid <> 'usage_record_default'::regclass LIMIT 1",
    )) as [{ partition: string }];
    const guard = (how: string) => setup.asOwner(`ALTER TABLE ${partition} ${how} TRIGGER append_only_truncate`);
    const missing = ["nothing posted can be changed", partition];
    expect(
      await found(
        () => guard("DISABLE"),
        () => guard("ENABLE ALWAYS"),
      ),
    ).toEqual([missing]);
    expect(
      await found(
        () => guard("ENABLE"),
        () => guard("ENABLE ALWAYS"),
      ),
    ).toEqual([missing]);

    const { account } = await used(0);
    const old = "01800000-0000-7000-8000-000000000000";
    const damage = () =>
      setup.asOwner(`INSERT INTO usage_record SELECT account_id, '${old}', key_id, model, 0, 0, 0, input_price, output_price, cache_hit_price,
        0, 0, 'free', (uuid_time('${old}') AT TIME ZONE 'Asia/Jakarta')::date, NULL, NULL, NULL, NULL, false, 0, NULL, false
        FROM usage_record WHERE account_id = '${account}'`);
    const repair = () => unguarded("usage_record", `DELETE FROM usage_record WHERE request_id = '${old}'`);
    expect(await found(damage, repair)).toEqual([["usage lies in its month's partition", old]]);
  });

  it("finds a missing constraint, and settings that can lose acknowledged data", async () => {
    const constraint = "ALTER TABLE posting DROP CONSTRAINT posting_amount_check";
    expect(
      await found(
        () => setup.asOwner(constraint),
        () => setup.asOwner("ALTER TABLE posting ADD CONSTRAINT posting_amount_check CHECK (amount > 0)"),
      ),
    ).toEqual([["the database refuses what must never be", "posting.posting_amount_check"]]);
    const [{ name }] = (await setup.asOwner("SELECT current_database() AS name")) as [{ name: string }];
    for (const value of ["off", "local"]) {
      const violations = await found(
        () => setup.asOwner(`ALTER DATABASE ${name} SET synchronous_commit = ${value}`),
        () => setup.asOwner(`ALTER DATABASE ${name} RESET synchronous_commit`),
      );
      expect(violations, value).toContainEqual(["what was acknowledged is durable", "synchronous_commit"]);
    }
  });

  it("finds credit notes above the charge of their request, and money that left revenue without one", async () => {
    const { account, requestId } = await used(3);
    const [note, other] = [uuidv7(Date.now() - 1_000), uuidv7()];
    const damage = () =>
      setup.asOwner(`INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason) VALUES
        ('${account}', '${note}', '${requestId}', 'IDR/6', '${systemAccounts.revenue}', '${account}', 15001, 'credit_note'),
        ('${account}', '${other}', '${other}', 'IDR/6', '${systemAccounts.revenue}', '${account}', 1, 'gift');
        UPDATE account SET posted = posted + 15002 WHERE id = '${account}'`);
    const repair = () =>
      unguarded(
        "posting",
        `DELETE FROM posting WHERE id IN ('${note}', '${other}'); UPDATE account SET posted = posted - 15002 WHERE id = '${account}'`,
      );
    const check = "credit notes of a request are at most its charge";
    expect(await found(damage, repair)).toEqual([
      [check, note],
      [check, other],
      ["money that an operator moved has its line in the operators' log", note],
    ]);
  });

  it("finds a loss above the uncovered cost, and one without a record", async () => {
    const account = await setup.account(12_000n);
    const { requestId, ...request } = admission(account, await setup.key(account), 10_000n);
    await process.ledger.admit({ requestId, ...request });
    const settled = await process.ledger.settle(settlement(account, requestId, 3));
    expect(settled).toEqual({ cost: 15_000n, charge: 12_000n });
    const check = "a loss of ours is what was cut off a charge";
    const amount = (units: number) =>
      unguarded("posting", `UPDATE posting SET amount = ${units} WHERE id = '${requestId}'`);
    expect(
      await found(
        () => amount(3_001),
        () => amount(3_000),
      ),
    ).toEqual([
      ["what was cut off a charge is booked as our loss", requestId],
      [check, requestId],
    ]);

    const { requestId: whole } = await used(3);
    const loose = uuidv7();
    const book = (id: string) =>
      setup.asOwner(`INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason) VALUES
        ('${account}', '${id}', '${id}', 'IDR/6', '${systemAccounts.operatorLoss}', '${systemAccounts.revenue}', 7, 'lost')`);
    expect(
      await found(
        () => Promise.all([book(whole), book(loose)]),
        () => unguarded("posting", `DELETE FROM posting WHERE id IN ('${whole}', '${loose}')`),
      ),
    ).toEqual([
      [check, whole],
      [check, loose],
    ]);
  });

  it("finds nothing after all corrections", async () => {
    expect(await setup.audit()).toEqual(SOUND);
  });
});
