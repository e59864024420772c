// What a start with cells refuses: each would look for accounts in a database that does not have them.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { runSaldo } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

const databases: TestDatabase[] = [];
const database = async (): Promise<TestDatabase> => {
  const made = await createTestDatabase();
  databases.push(made);
  return made;
};
let [home, two, three]: TestDatabase[] = [];
let started: SaldoHere | null = null;
const urlOf = (opened: TestDatabase | undefined): string => opened?.url ?? "";
const start = async (settings: Readonly<Record<string, string>>): Promise<void> => {
  started = await SaldoHere.start({ DATABASE_URL: urlOf(home), ...settings });
};
const cells = (...all: (readonly [string, TestDatabase | undefined])[]): Record<string, string> => ({
  SALDO_CELLS: all.map(([name, opened]) => `${name}=${urlOf(opened)}`).join(","),
});

beforeAll(async () => {
  [home, two, three] = [await database(), await database(), await database()];
  await start(cells(["two", two], ["three", three]));
});
afterEach(async () => {
  await started?.stop();
  started = null;
});
afterAll(async () => {
  await Promise.all(databases.map((each) => each.drop()));
});

describe("a start", () => {
  it("serves the cells that it served before", async () => {
    await start(cells(["three", three], ["two", two]));
    expect((await fetch(`${started?.httpUrl}/readyz`)).status).toBe(200);
  });

  it("refuses two cells whose addresses are exchanged", async () => {
    await expect(start(cells(["two", three], ["three", two]))).rejects.toThrow(/the database of \w+ is the cell \w+\./);
  });

  it("refuses the home cell as another one, and another one as home", async () => {
    await expect(start(cells(["four", home]))).rejects.toThrow("the database of four is the cell home.");
    await expect(start({ DATABASE_URL: urlOf(two) })).rejects.toThrow("The database is the cell two of a deployment");
  });

  it("refuses a cell of another deployment, and one that has accounts of its own", async () => {
    const elsewhere = await database();
    await expect(start({ DATABASE_URL: elsewhere.url, ...cells(["two", two]) })).rejects.toThrow(
      "the database of two is a cell of another deployment.",
    );
    const used = await database();
    await used.database.pool.query("INSERT INTO account (id) VALUES ($1)", [uuidv7()]);
    await expect(start(cells(["five", used]))).rejects.toThrow("The database of the cell five has accounts of its own");
  });

  it("refuses settings that leave a cell with accounts out", async () => {
    await home?.database.pool.query("INSERT INTO account (id, cell) VALUES ($1, 'two')", [uuidv7()]);
    await expect(start({})).rejects.toThrow("Accounts are in cells that SALDO_CELLS does not name: two.");
    await expect(start(cells(["three", three]))).rejects.toThrow("does not name: two.");
    await start(cells(["two", two]));
  });

  it("is not needed by a command, which compares as well", async () => {
    const settings = { DATABASE_URL: urlOf(home), ...cells(["two", three], ["three", two]) };
    expect(await runSaldo(["audit", "--cell", "two"], settings)).toMatchObject({
      code: 1,
      stderr: "SALDO_CELLS: the database of two is the cell three.\n",
    });
    expect((await runSaldo(["audit", "--cell", "six"], settings)).code).toBe(2);
    expect((await runSaldo(["member", "list", "--cell", "two", "--account", uuidv7()], settings)).code).toBe(2);
    const { stdout } = await runSaldo(["doctor", "--json"], settings);
    const { checks } = JSON.parse(stdout) as { checks: { check: string; state: string }[] };
    expect(checks).toContainEqual(expect.objectContaining({ check: "cell two: database", state: "ok" }));
    expect(checks).toContainEqual(expect.objectContaining({ check: "cell two", state: "failed" }));
  });
});
