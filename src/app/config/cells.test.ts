import { describe, expect, it } from "vitest";
import { readConfig } from "./config.ts";
import { safetyProblems } from "./safety.ts";

const ONE = "postgres://saldo:secret@one.example/saldo";
const TWO = "postgres://saldo@a.example:5432,b.example:5433/saldo?sslmode=verify-full";

const cellsOf = (text: string) => readConfig({ SALDO_CELLS: text }).cells;

describe("SALDO_CELLS", () => {
  it("names cells with their addresses and logins; an address may have several servers", () => {
    expect(readConfig({}).cells).toEqual([]);
    expect(cellsOf(`one=${ONE},two=${TWO} owner=${ONE} request=${TWO}`)).toEqual([
      { name: "one", url: ONE, ownerUrl: null, requestUrl: null },
      { name: "two", url: TWO, ownerUrl: ONE, requestUrl: TWO },
    ]);
  });

  it.each([
    [ONE, "name=address"],
    ["one=http://one.example", "name=address"],
    [`One=${ONE}`, "must name each cell"],
    [`home=${ONE}`, "must name each cell"],
    [`least-full=${ONE}`, "must name each cell"],
    [`one=${ONE},one=${TWO}`, "twice"],
    [`one=${ONE},two=${ONE}`, "one address for two cells"],
    [`one=${ONE} reader=${TWO}`, "owner= and request="],
    [`one=${ONE} owner=${TWO} owner=${TWO}`, "each once"],
  ])("refuses %s, without the password", (text, message) => {
    expect(() => cellsOf(text)).toThrow(message);
    expect(() => cellsOf(text)).not.toThrow("secret");
  });

  it("refuses what is not watched in other cells yet", () => {
    expect(() => readConfig({ SALDO_CELLS: `one=${ONE}`, SALDO_REQUIRE_SYNC_STANDBY: "1" })).toThrow("SALDO_CELLS");
  });

  it("has the cell of new accounts", () => {
    const placed = (cell: string) =>
      readConfig({ SALDO_CELLS: `one=${ONE}`, SALDO_NEW_ACCOUNTS_IN: cell }).newAccountsIn;
    expect(["home", "one", "least-full"].map(placed)).toEqual(["home", "one", "least-full"]);
    expect(() => placed("two")).toThrow("one of home, one, least-full");
    expect(readConfig({}).newAccountsIn).toBe("home");
  });

  it("may not be sent in clear in production", () => {
    const problems = safetyProblems(readConfig({ NODE_ENV: "production", SALDO_CELLS: `one=${ONE}` }));
    expect(problems).toContainEqual(expect.stringContaining("SALDO_CELLS: add sslmode=verify-full"));
  });
});
