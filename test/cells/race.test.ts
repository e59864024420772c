// Two nodes race for accounts of two cells: none spends more than it has, and no cell has what is another's.

import { describe, expect, it } from "vitest";
import { newCustomer } from "../app/customer.ts";
import { HELLO } from "../app/rolling-load.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { askAll, atHome, customerInTwo, useTwoNodes } from "./two-cells.ts";

/** Holds less than two rupiah, so that five cover some of sixteen at once. */
const SHORT = { ...HELLO, max_tokens: 100 };
const SOUND = { ok: true, violations: [] };

const use = useTwoNodes();

describe("an account in another cell", () => {
  it("spends no more than it has, like one at home, while both nodes race for both", async () => {
    const two = await customerInTwo(use.cells, use.node(0), "5");
    const home = await newCustomer(atHome(use.cells), { amount: "5" });
    const [inTwo, inHome] = await Promise.all([two, home].map(({ key }) => askAll(use.nodes, key, 16, SHORT)));
    for (const [statuses = [], { accountId }, { database }] of [
      [inTwo, two, use.cells.two],
      [inHome, home, use.cells.home],
    ] as const) {
      expect(new Set(statuses)).toEqual(new Set([200, 402]));
      const { rows } = await database.pool.query<{ posted: bigint; held: bigint; used: number; spent: string }>(
        `SELECT posted, held, (SELECT count(*)::int FROM usage_record WHERE account_id = a.id AND charge > 0) AS used,
           (SELECT sum(charge) FROM usage_record WHERE account_id = a.id) AS spent
         FROM account a WHERE id = $1`,
        [accountId],
      );
      expect(rows[0]).toMatchObject({ held: 0n, used: statuses.filter((status) => status === 200).length });
      expect(BigInt(rows[0]?.spent ?? 0) + (rows[0]?.posted ?? 0n)).toBe(5_000_000n);
    }
    expect(await saldoJson(["audit", "--hurry"], use.cells.settings)).toMatchObject(SOUND);
    expect(await saldoJson(["audit", "--hurry", "--cell", "two"], use.cells.settings)).toMatchObject(SOUND);
  });
});
