// The functions that the login of the request path may call, with arguments that no code of ours sends: none of them mints.

import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clientConfig, connectClient } from "../../src/database/connections.ts";
import { sqlState } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { requestUrlOf, testBackends } from "../setup/test-database.ts";
import { MoneySetup } from "./money-setup.ts";
import {
  type Account,
  ADMIT,
  admissions,
  extensions,
  list,
  type Lists,
  LISTS,
  NAMES,
  OWNER,
  RequestSession,
  settlements,
  UNIT,
} from "./request-session.ts";

const MUST_NOT_BE_NULL = "23502";
const REFUSED_BY_A_CHECK = "23514";
const SETTLE_LATE = `SELECT outcome, charge FROM
  post_late_usage($1, $2, $3, $4, 0, 0, 'exact', current_date, 'test', 'model', NULL, NULL, false, 1, NULL, false, NULL, NULL, $5, $6, false)`;
/** The one thing that a session can write wrong. The audit finds it. */
const FORGED_COST = "a cost is recomputed from tokens and prices";

const state = (work: Promise<unknown>): Promise<unknown> => work.then(() => "done", sqlState);

describe.each(testBackends())("the functions of requests on the %s database", (backend) => {
  let setup: MoneySetup;
  let session: RequestSession;
  let [one, other]: readonly Account[] = [];
  const of = (account: Account | undefined): Account => account ?? { id: "", key: "" };
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    session = await RequestSession.open(setup);
    [one, other] = [await session.account(1_000n), await session.account(1_000n)];
  });
  afterAll(async () => {
    const { violations } = await setup.audit();
    expect(violations.filter(({ check }) => check !== FORGED_COST)).toEqual([]);
    await session.close();
    await setup.close();
  });

  it("place no negative hold", async () => {
    const before = await session.books();
    const { id, key } = of(one);
    expect(await state(session.client.query(ADMIT, [id, key, uuidv7(), OWNER, -5n, -5n]))).toBe(REFUSED_BY_A_CHECK);
    const asked = admissions(of(one), [{ request: uuidv7(), amount: -5n }]);
    expect(await state(session.commit(asked))).toBe(REFUSED_BY_A_CHECK);
    expect(await session.books()).toEqual(before);
  });

  it("hold no more than is available, whatever is asked", async () => {
    const { id, key } = await session.account(7n);
    const { rows } = await session.client.query(ADMIT, [id, key, uuidv7(), OWNER, 2n ** 62n, -(2n ** 62n)]);
    expect(rows).toMatchObject([{ outcome: "granted", amount: 7n * UNIT }]);
  });

  it("charge no negative and no unknown cost", async () => {
    const account = of(one);
    const before = await session.books();
    const request = await session.hold(account);
    expect(await state(session.settle(account, request, -UNIT))).toBe(REFUSED_BY_A_CHECK);
    expect(await state(session.settle(account, request, null))).toBe(MUST_NOT_BE_NULL);
    expect(await state(session.settle(account, request, 0n, { unbilled: -UNIT }))).toBe(REFUSED_BY_A_CHECK);
    for (const cost of [-UNIT, null])
      expect(await state(session.commit(settlements([{ account: account.id, request, cost }])))).toBe(
        REFUSED_BY_A_CHECK,
      );
    expect(await session.settle(account, request, 0n)).toMatchObject({ outcome: "settled", other: 0n });
    expect(await session.books()).toMatchObject(before);
  });

  it("charge the hold and what is available at most", async () => {
    const account = await session.account(20n);
    const request = await session.hold(account);
    expect(await session.settle(account, request, 50n * UNIT)).toMatchObject({ amount: 50n * UNIT, other: 20n * UNIT });
    expect(await setup.balance(account.id)).toEqual({ posted: 0n, held: 0n, available: 0n });
  });

  it("settle a hold once, and of its own account", async () => {
    const [ours, theirs] = [of(one), of(other)];
    const request = await session.hold(ours);
    const together = (account: Account): Lists => settlements([{ account: account.id, request, cost: UNIT }]);
    expect(await session.settle(theirs, request, UNIT)).toMatchObject({ outcome: null });
    expect((await session.commit(together(theirs))).rowCount).toBe(0);
    expect(await session.settle(ours, request, UNIT)).toMatchObject({ outcome: "settled" });
    const before = await session.books();
    expect(await session.settle(ours, request, UNIT)).toMatchObject({ outcome: null });
    expect(await session.settle(ours, uuidv7(), UNIT)).toMatchObject({ outcome: null });
    expect((await session.commit(together(ours))).rowCount).toBe(0);
    expect(await session.books()).toEqual(before);
    // A hold under the id of a settled request is released, and the record stays that of the first.
    await session.hold(ours, 10n * UNIT, request);
    expect(await session.settle(ours, request, 9n * UNIT)).toMatchObject({ outcome: null });
    expect(await session.books()).toEqual(before);
  });

  it("settle no hold of an account that another one of the group names", async () => {
    const [ours, theirs] = [of(one), of(other)];
    const requests = { ours: await session.hold(ours), theirs: await session.hold(theirs) };
    const before = await session.books();
    const crossed = [
      { account: ours.id, request: requests.theirs, cost: UNIT },
      { account: theirs.id, request: requests.ours, cost: UNIT },
    ];
    expect(await state(session.commit(settlements(crossed)))).toBe(REFUSED_BY_A_CHECK);
    expect(await session.books()).toEqual(before);
    // One id in two accounts: the group names it for one of them.
    await session.hold(theirs, 10n * UNIT, requests.ours);
    const doubled = [
      { account: ours.id, request: requests.ours, cost: UNIT },
      { account: theirs.id, request: requests.theirs, cost: UNIT },
    ];
    expect(await state(session.commit(settlements(doubled)))).toBe(REFUSED_BY_A_CHECK);
    await session.settle(ours, requests.ours, 0n);
    await session.settle(theirs, requests.theirs, 0n);
    await session.settle(theirs, requests.ours, 0n);
    await session.expectNoneMinted(before);
  });

  it.each([5, 2, 0, -3])("free nothing by lists that begin at %i", async (from) => {
    const account = of(one);
    const request = await session.hold(account);
    const before = await session.books();
    for (const cost of [-1_000n * UNIT, 0n]) {
      const asked = settlements([{ account: account.id, request, cost }], from);
      expect(await state(session.commit(asked))).toBe(REFUSED_BY_A_CHECK);
    }
    expect(await session.books()).toEqual(before);
    await session.settle(account, request, 0n);
  });

  it("write no record into the past", async () => {
    const account = of(one);
    const [lone, grouped] = [await session.hold(account), await session.hold(account)];
    await session.settle(account, lone, 0n, { at: "2020-01-01" });
    const asked = settlements([{ account: account.id, request: grouped, cost: 0n }]);
    await session.commit({ ...asked, s_settled: list(["2020-01-01"]) });
    const old = await setup.asOwner("SELECT FROM usage_record WHERE settled_at < now() - interval '1 hour'");
    expect(old).toEqual([]);
  });

  it("post nothing late for a request that was not recovered, and no less than was recovered", async () => {
    const { id } = of(one);
    const request = await session.hold(of(one));
    const before = await session.books();
    const late = (cost: bigint | null, unbilled = 0n) =>
      session.client.query(SETTLE_LATE, [id, request, cost, 0, unbilled, "2020-01-01"]);
    expect((await late(UNIT)).rows).toEqual([{ outcome: null, charge: null }]);
    await setup.asOwner(`WITH gone AS (DELETE FROM hold WHERE id = '${request}' RETURNING *), record AS (
      INSERT INTO usage_record (account_id, request_id, cost, charge, key_id, model, input_price, output_price, input_tokens_uncached,
        input_tokens_cached, output_tokens, basis, billing_day, streamed, duration_ms)
      SELECT account_id, id, 0, 0, key_id, model, input_price, output_price, 0, 0, 0, 'recovered', current_date, false, 0 FROM gone)
      UPDATE account SET held = held - ${10n * UNIT}, open_holds = open_holds - 1 WHERE id = '${id}'`);
    expect(await state(late(-UNIT))).toBe(REFUSED_BY_A_CHECK);
    expect(await state(late(null))).toBe(MUST_NOT_BE_NULL);
    expect(await state(late(0n, -UNIT))).toBe(REFUSED_BY_A_CHECK);
    await session.expectNoneMinted(before);
    expect((await late(0n, UNIT)).rows).toEqual([{ outcome: "posted", charge: 0n }]);
    expect(await setup.asOwner("SELECT FROM late_usage WHERE settled_at < now() - interval '1 hour'")).toEqual([]);
  });

  it("decide on the tables and operators of the schema, whatever a session puts in front of them", async () => {
    const { id, key } = await session.account(3n);
    const before = await session.books();
    const client = await connectClient(clientConfig({ connectionString: requestUrlOf(setup.opened.url) }, "test"));
    try {
      for (const table of ["account", "hold", "api_key", "usage_record"])
        await client.query(`CREATE TEMP TABLE ${table} (LIKE public.${table})`);
      await client.query("INSERT INTO pg_temp.account SELECT * FROM public.account");
      await client.query("UPDATE pg_temp.account SET posted = 1000000000000");
      await client.query("INSERT INTO pg_temp.api_key SELECT * FROM public.api_key");
      await client.query(
        "CREATE FUNCTION pg_temp.more(bigint, bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 1000000000000::bigint'",
      );
      await client.query("CREATE OPERATOR pg_temp.- (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = pg_temp.more)");
      await client.query("SET search_path = pg_temp, pg_catalog, public");
      const statement = ADMIT.replace("admit_request", "public.admit_request");
      const { rows } = await client.query(statement, [id, key, uuidv7(), OWNER, 50n * UNIT, 50n * UNIT]);
      expect(rows).toMatchObject([{ outcome: "refused" }]);
    } finally {
      await client.end();
    }
    expect(await session.books()).toEqual(before);
  });

  it("mint nothing by lists that are right but for a few values", { timeout: 60_000 }, async () => {
    const accounts = [await session.account(0n), await session.account(0n), of(one), of(other)];
    const amounts = fc.oneof(
      fc.constantFrom(null, 0n, -1n, 1n, -(2n ** 63n), 2n ** 63n - 1n),
      fc.bigInt({ min: -100n * UNIT, max: 100n * UNIT }),
    );
    const places = fc.nat(accounts.length - 1);
    const wrongs = fc.record({
      name: fc.constantFrom(...NAMES),
      from: fc.oneof(
        { weight: 3, arbitrary: fc.constant(1) },
        { weight: 1, arbitrary: fc.integer({ min: -2, max: 3 }) },
      ),
      values: fc.array(fc.tuple(amounts, places, fc.boolean()), { maxLength: 3 }),
    });
    const calls = fc.record({
      places: fc.tuple(places, places, places),
      amounts: fc.tuple(amounts, amounts, amounts),
      wrongs: fc.array(wrongs, { maxLength: 2 }),
    });
    const count = { done: 0, refused: 0 };
    const property = fc.asyncProperty(calls, async (call) => {
      for (const { id } of accounts) await setup.credit(id, 50n * UNIT);
      const before = await session.books();
      const [settled, extended, admitted] = call.places.map((place) => of(accounts[place])) as [
        Account,
        Account,
        Account,
      ];
      const open = [await session.hold(settled, UNIT), await session.hold(extended, UNIT)] as const;
      const [cost, amount, wanted] = call.amounts;
      const wrong = call.wrongs.map(({ name, from, values }) => {
        const type = LISTS[name];
        const made = values.map(([number, place, isNull]) => {
          if (isNull) return null;
          if (type === "bigint") return number;
          if (type === "int") return place - 1;
          if (type === "boolean") return place > 1;
          if (name.endsWith("_account")) return of(accounts[place]).id;
          if (name.endsWith("_key")) return of(accounts[place]).key;
          if (type === "uuid") return open[place % 2] ?? null;
          return name === "s_basis" ? "recovered" : null;
        });
        return [name, list(made, from)] as const;
      });
      const asked = {
        ...settlements([{ account: settled.id, request: open[0], cost }]),
        ...extensions([{ account: extended.id, request: open[1], amount: amount ?? 0n }]),
        ...admissions(admitted, [{ request: uuidv7(), amount: wanted }]),
        ...Object.fromEntries(wrong),
      };
      count[(await state(session.commit(asked))) === "done" ? "done" : "refused"] += 1;
      await session.expectNoneMinted(before);
      const { rows } = await session.client.query<{ account_id: string; id: string }>(
        "SELECT account_id, id FROM hold",
      );
      for (const { account_id: id, id: request } of rows) await session.settle({ id }, request, 0n);
    });
    await fc.assert(property, { numRuns: 200 });
    expect(Math.min(count.done, count.refused)).toBeGreaterThan(20);
  });
});
