// Requests without a pause to accounts of two cells, over two nodes, one of which is killed again and again: each answer that was whole is
// billed once, in the cell of its account, and no hold is left in either.

import { afterAll, beforeAll, expect, it } from "vitest";
import { chat, newCustomer } from "../app/customer.ts";
import { HELLO } from "../app/rolling-load.ts";
import { IS_LONG } from "../setup/long-tests.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import type { TestDatabase } from "../setup/test-database.ts";
import { atHome, customerInTwo, type TwoCells, twoCells } from "./two-cells.ts";

const KILLS = IS_LONG ? 10 : 1;
const CLIENTS_OF_EACH = 2;
const ANSWERS_BETWEEN = IS_LONG ? 15 : 8;
// The survivor is the first process: what was killed is overdue, and the survivor has renewed for a whole term.
const PASS_LEASES = `
UPDATE process SET gapless_since = gapless_since - interval '20 s',
  expires_at = CASE WHEN id = (SELECT id FROM process ORDER BY id LIMIT 1) THEN expires_at ELSE clock_timestamp() END
WHERE dead_at IS NULL`;
const PAID = 10_000_000_000n;

type Payer = { readonly accountId: string; readonly key: string; readonly database: TestDatabase; answered: string[] };

let cells: TwoCells;
let survivor: SaldoHere;
let victim: SaldoProcess | null = null;
beforeAll(async () => {
  cells = await twoCells();
  survivor = await SaldoHere.start(cells.settings);
});
afterAll(async () => {
  await victim?.stop();
  await survivor.stop();
  await cells.close();
});

/** Asks until `ended`, of the two nodes in turn, and notes the whole answers. */
async function ask(payer: Payer, ended: () => boolean): Promise<void> {
  for (let turn = 0; !ended(); turn += 1) {
    const node = turn % 2 === 0 ? survivor : (victim ?? survivor);
    try {
      const answer = await chat(node.httpUrl, payer.key, { ...HELLO, stream: turn % 3 === 0 });
      const text = await answer.text();
      const isWhole = text.includes('"cost_idr"') && (turn % 3 !== 0 || text.trimEnd().endsWith("data: [DONE]"));
      if (answer.status === 200 && isWhole) payer.answered.push(answer.headers.get("x-request-id") ?? "");
    } catch {
      // its node was killed: whether it was billed is not known
    }
  }
}

it("bills each answer once in its cell while a node is killed again and again", async () => {
  const [two, home] = [
    await customerInTwo(cells, survivor, "10000"),
    await newCustomer(atHome(cells), { amount: "10000" }),
  ];
  const payers: Payer[] = [
    { ...two, database: cells.two, answered: [] },
    { ...home, database: cells.home, answered: [] },
  ];
  let ended = false;
  const clients = payers.flatMap((payer) => Array.from({ length: CLIENTS_OF_EACH }, () => ask(payer, () => ended)));
  const answeredMore = async (): Promise<void> => {
    const goals = payers.map(({ answered }) => answered.length + ANSWERS_BETWEEN);
    const reached = (): boolean => payers.every(({ answered }, index) => answered.length >= (goals[index] ?? 0));
    await expect.poll(reached, { timeout: 90_000 }).toBe(true);
  };
  for (let kill = 0; kill < KILLS; kill += 1) {
    victim = await SaldoProcess.start(cells.settings);
    await answeredMore();
    const killed = victim;
    victim = null;
    await killed.stop("SIGKILL");
  }
  await answeredMore();
  ended = true;
  await Promise.all(clients);
  for (const { accountId, database, answered } of payers) {
    const { pool } = database.database;
    if (!IS_LONG) await pool.query(PASS_LEASES);
    const holds = async () => (await pool.query("SELECT FROM hold")).rowCount;
    await expect.poll(holds, { timeout: 60_000 }).toBe(0);
    const { rows } = await pool.query<{ id: string; charge: bigint }>(
      "SELECT request_id AS id, charge FROM usage_record WHERE account_id = $1",
      [accountId],
    );
    const billed = new Set(rows.filter(({ charge }) => charge > 0n).map(({ id }) => id));
    expect(answered.filter((id) => !billed.has(id))).toEqual([]);
    const spent = rows.reduce((sum, { charge }) => sum + charge, 0n);
    const left = await pool.query("SELECT posted, held FROM account WHERE id = $1", [accountId]);
    expect(left.rows).toEqual([{ posted: PAID - spent, held: 0n }]);
    const others = payers.filter((each) => each.accountId !== accountId);
    for (const other of others)
      expect((await pool.query("SELECT FROM usage_record WHERE account_id = $1", [other.accountId])).rowCount).toBe(0);
  }
  for (const more of [[], ["--cell", "two"]])
    expect(await saldoJson(["audit", "--hurry", ...more], cells.settings)).toMatchObject({ ok: true });
}, 240_000);
