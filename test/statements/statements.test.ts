// The statement of a month comes to the ledger, to the last digit: with roll-ups that are whole, partly made or missing, and for requests
// that were settled in another month than they came in.

import { extractText, getDocumentProxy } from "unpdf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { drawDocument } from "../../src/billing/documents/draw-document.ts";
import { rollUpUsage } from "../../src/billing/usage/roll-up.ts";
import { NOBODY } from "../../src/billing/receipts/party.ts";
import { listStatements, readStatement, type Statement } from "../../src/billing/statements/statement.ts";
import { statementCsv } from "../../src/billing/statements/statement-csv.ts";
import { statementDocument } from "../../src/billing/statements/statement-document.ts";
import { NotFound, ValidationError } from "../../src/kernel/errors.ts";
import { idr } from "../../src/kernel/money.ts";
import { rupiahText } from "../../src/kernel/rupiah-text.ts";
import { MoneySetup } from "../money/money-setup.ts";
import { chance, micro } from "../money/usage-setup.ts";
import { expectedMonth, MODELS, MONTHS, writeHistory } from "./statement-history.ts";

const EVENTS = 240;

let setup: MoneySetup;
beforeAll(async () => {
  setup = await MoneySetup.create("embedded");
});
afterAll(() => setup.close());

/** An account with a history, and its statements, the oldest first. */
async function accountWithHistory(): Promise<{ accountId: string; about: string }> {
  const chosen = chance();
  const accountId = await setup.account(0n);
  await writeHistory(setup.pool, accountId, { chance: chosen, events: EVENTS, nowMs: Date.now() });
  return { accountId, about: `seed ${chosen.seed}` };
}

async function statementsOf(accountId: string): Promise<Statement[]> {
  const months = await listStatements(setup.pool, accountId);
  return Promise.all(months.toReversed().map(({ month }) => readStatement(setup.pool, { accountId, month })));
}

async function expectToBeTheLedger(accountId: string, about: string): Promise<void> {
  const statements = await statementsOf(accountId);
  expect(statements.length, about).toBe(MONTHS + 1);
  for (const [index, statement] of statements.entries()) {
    const expected = await expectedMonth(setup.pool, accountId, statement);
    expect([statement.opening, statement.closing], `${about}, ${statement.month}`).toEqual([
      expected.opening,
      expected.closing,
    ]);
    const sums = statement.sums.map(({ reason, amount }) => [reason, amount] as const);
    const changed = sums.filter(([, amount]) => amount !== 0n);
    expect(new Map(changed), about).toEqual(expected.sums);
    const usage = statement.usage.map(({ model, requests, inputTokens, outputTokens, charge }) => {
      return [model, { requests, tokens: inputTokens + outputTokens, charge }] as const;
    });
    expect(new Map(usage), `${about}, ${statement.month}`).toEqual(expected.usage);
    expect(statement.opening, about).toBe(index === 0 ? 0n : statements[index - 1]?.closing);
  }
  const { rows } = await setup.pool.query<{ posted: bigint }>("SELECT posted FROM account WHERE id = $1", [accountId]);
  expect(statements.at(-1)?.closing, about).toBe(rows[0]?.posted);
}

describe("the statements of an account", () => {
  it("come to the ledger in every month, whatever of the usage is rolled up", async () => {
    const { accountId, about } = await accountWithHistory();
    await expectToBeTheLedger(accountId, `${about}, nothing rolled up`);
    await rollUpUsage(setup.pool);
    await expectToBeTheLedger(accountId, `${about}, all rolled up`);
    // More requests in months that are rolled up: the roll-ups are not whole, and the records are read. A free one moves no balance, so
    // that it is missing is found by the audit alone.
    await writeHistory(setup.pool, accountId, { chance: chance(), events: 8, nowMs: Date.now(), leastCharge: 1n });
    await expectToBeTheLedger(accountId, `${about}, rolled up before the last`);
    const rolledUp = "SELECT count(*)::int AS rows FROM usage_roll_up WHERE account_id = $1";
    expect((await setup.pool.query<{ rows: number }>(rolledUp, [accountId])).rows[0]?.rows).toBeGreaterThan(0);
  });

  it("are final an hour after the month, and so far before", async () => {
    const { accountId } = await accountWithHistory();
    const months = await listStatements(setup.pool, accountId);
    expect(months.map(({ month }) => month)).toEqual(
      months
        .map(({ month }) => month)
        .toSorted()
        .toReversed(),
    );
    expect(months[0]?.isComplete).toBe(false);
    expect(months.slice(2).map(({ isComplete }) => isComplete)).toEqual(months.slice(2).map(() => true));
    const read = (month: string) => readStatement(setup.pool, { accountId, month });
    for (const month of ["1999-12", "2999-01"]) await expect(read(month)).rejects.toThrow(NotFound);
    for (const month of ["2026-13", "2026-1", "", "2026-11-01"])
      await expect(read(month)).rejects.toThrow(ValidationError);
    const empty = await setup.account(0n);
    expect(await listStatements(setup.pool, empty)).toEqual([]);
    const month = months[0]?.month ?? "";
    await expect(readStatement(setup.pool, { accountId: empty, month })).rejects.toThrow(NotFound);
  });

  it("are CSV files whose lines come to the last one, and run nothing in a spreadsheet", async () => {
    const { accountId } = await accountWithHistory();
    for (const statement of await statementsOf(accountId)) {
      const [head, ...lines] = statementCsv(statement).trimEnd().split("\r\n");
      expect(head).toBe(
        "month,type,posted_at,model,receipt_number,top_up_id,count,input_tokens,output_tokens,amount_idr",
      );
      const amounts = lines.map((line) => micro(line.split(",").at(-1) ?? ""));
      const last = amounts.pop();
      expect(last).toBe(statement.closing);
      expect(amounts.reduce((sum, amount) => sum + amount, 0n)).toBe(last);
      expect(lines.filter((line) => /(^|,)[=+@]/.test(line))).toEqual([]);
    }
  });

  it("have the sums of all changes and models, also where not all are listed", async () => {
    const { accountId } = await accountWithHistory();
    const [, statement] = await statementsOf(accountId);
    const [entry] = statement?.entries ?? [];
    if (statement === undefined || entry === undefined)
      throw new Error("the account has no change in its second month");
    const usage = Array.from({ length: 130 }, (_, index) => {
      return { model: `model-${index}`, requests: 2n, inputTokens: 3n, outputTokens: 5n, charge: 7_000_000n };
    });
    const entries = Array.from({ length: 230 }, () => entry);
    const long = { ...statement, usage, entries, entriesLeftOut: 4 };
    const file = await drawDocument(statementDocument(long, { seller: NOBODY, buyer: NOBODY }, "en"));
    const { text } = await extractText(await getDocumentProxy(new Uint8Array(file)), { mergePages: true });
    const plain = text.replaceAll(/\s+/g, " ");
    for (const part of ["30 other models 60 90 150 Rp 210.00", "Total 260 390 650 Rp 910.00", "34 more changes"])
      expect(plain).toContain(part);
    expect(plain).not.toContain("model-100 ");
    const lines = statementCsv({ ...statement, entries: statement.entries.slice(1) })
      .trimEnd()
      .split("\r\n")
      .slice(1);
    const amounts = lines.map((line) => micro(line.split(",").at(-1) ?? ""));
    expect(amounts.slice(0, -1).reduce((sum, amount) => sum + amount, 0n)).toBe(statement.closing);
  });

  it.each(["id", "en"] as const)("are PDF files with the same figures: %s", async (language) => {
    const { accountId } = await accountWithHistory();
    const [, statement] = await statementsOf(accountId);
    if (statement === undefined) throw new Error("the account has no second month");
    const buyer = { name: "PT Pembeli Setia", address: "Bandung", npwp: "012345678901000" };
    const file = await drawDocument(statementDocument(statement, { seller: NOBODY, buyer }, language));
    const { text } = await extractText(await getDocumentProxy(new Uint8Array(file)), { mergePages: true });
    const plain = text.replaceAll(/\s+/g, " ");
    const expected = await expectedMonth(setup.pool, accountId, statement);
    const money = (units: bigint): string => rupiahText(idr(units), language);
    const figures = [expected.opening, expected.closing, ...expected.sums.values()].map(money);
    const usage = [...expected.usage].flatMap(([model, { charge }]) => [model, money(charge)]);
    for (const part of [...figures, ...usage, "PT Pembeli Setia", "01.234.567.8-901.000", accountId])
      expect(plain).toContain(part);
    expect(MODELS.filter((model) => expected.usage.has(model)).length).toBeGreaterThan(0);
  });
});
