// Books that are wrong everywhere: the audit ends, stores its findings, and keeps no more of them than it reports.

import type { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readAuditStates } from "../../src/ledger/audit/run.ts";
import { audit } from "../../src/ledger/audit/audit.ts";
import { testBackends } from "../setup/test-database.ts";
import { MoneySetup } from "./money-setup.ts";

/** More than the arguments of a call, the limit of collecting them by `push(...)`. */
const RECORDS = 160_000;
const REPORTED = 100;

describe.each(testBackends())("the audit of books that are wrong everywhere, on the %s database", (backend) => {
  let setup: MoneySetup;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
  });
  afterAll(() => setup.close());

  it("ends, reports some of each check, reports that there are more, and reads little more than it reports", async () => {
    const account = await setup.account(10_000_000n);
    // Half an hour old, so that they are folded too; each has the right cost and a billing day that is a year too early.
    await setup.asOwner(`
      INSERT INTO usage_record (account_id, request_id, key_id, model, input_tokens_uncached, input_tokens_cached, output_tokens,
        input_price, output_price, cost, charge, basis, billing_day, streamed, duration_ms)
      SELECT '${account}', (substr(uuid_floor(now() - interval '30 minutes')::text, 1, 19) || '8' || lpad(to_hex(n), 15, '0'))::uuid,
        '${account}', 'm', 0, 0, CASE n WHEN ${RECORDS} THEN 1 ELSE 0 END, 1, 1, 0, 0, 'exact', current_date - 365, false, 1
      FROM generate_series(1, ${RECORDS}) n`);
    let mostRows = 0;
    const connect = async () => {
      const client = await setup.pool.connect();
      const query = async (statement: string) => {
        const result = await client.query(statement);
        // Several statements in one text give a list of results.
        for (const { rows } of [result].flat()) mostRows = Math.max(mostRows, rows.length);
        return result;
      };
      return { query, release: (broken?: Error) => client.release(broken) };
    };
    const counting = { connect, query: (...query: [string]) => setup.pool.query(...query) } as unknown as Pool;
    const { ok, hasMore, violations } = await audit(counting);
    expect({ ok, hasMore }).toEqual({ ok: false, hasMore: true });
    const of = (name: string) => violations.filter(({ check }) => check === name);
    expect(of("the billing day is the day of the request")).toHaveLength(REPORTED);
    // A violation in all of them does not hide one in a single record.
    expect(of("a cost is recomputed from tokens and prices")).toHaveLength(1);
    expect(violations).toHaveLength(REPORTED + 1);
    expect(await readAuditStates(setup.pool)).toMatchObject({ full: { violations: REPORTED + 1 } });
    expect(mostRows).toBeLessThan(1_000);
  });
});
