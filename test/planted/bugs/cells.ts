// Guards of accounts that are in other cells.

import { ledger, type PlantedBug } from "../planted-bug.ts";

const everyCell = (test: string) => ({ file: "test/cells/every-cell.test.ts", test });
const operators = (test: string) => ({ file: "test/cells/operators.test.ts", test });
const cells = (test: string) => ({ file: "test/cells/cells.test.ts", test });
const starts = (test: string) => ({ file: "test/cells/starts.test.ts", test });

/** Each with the test that must notice it. */
export const CELL_BUGS: readonly PlantedBug[] = [
  {
    name: "the row of an account that is in another cell is locked like any other",
    edits: [ledger("account-lock.ts", "if (cell !== null) throw new AccountElsewhere(cell);", "")],
    noticedBy: cells("is refused by every command that does not name its cell"),
  },
  {
    name: "the empty row of an account that is in another cell is shown as its balance",
    edits: [ledger("accounts.ts", "if (cell !== null) throw new AccountElsewhere(cell);", "")],
    noticedBy: cells("is refused by every command that does not name its cell"),
  },
  {
    name: "a cell gives the welcome credit whenever it is asked for an account",
    edits: [
      {
        file: "src/app/compose/open-in-cell.ts",
        find: "if (!(await openAccountOnce(client, accountId))) return;",
        replace: "await openAccountOnce(client, accountId);",
      },
    ],
    noticedBy: operators("gives no welcome credit to an account of before the setting"),
  },
  {
    name: "cells whose addresses are exchanged are served",
    edits: [
      {
        file: "src/database/cell-claim.ts",
        find: "if (claim.cell !== wanted.cell)",
        replace: "if (claim.cell === HOME_CELL)",
      },
    ],
    noticedBy: starts("refuses two cells whose addresses are exchanged"),
  },
  {
    name: "a cell of another deployment is served",
    edits: [
      {
        file: "src/database/cell-claim.ts",
        find: "if (claim.deployment !== wanted.deployment)",
        replace: "if (claim.deployment === '')",
      },
    ],
    noticedBy: starts("refuses a cell of another deployment"),
  },
  {
    name: "a start may leave out a cell that has accounts",
    edits: [
      {
        file: "src/app/compose/open-in-cell.ts",
        find: "if (missing.length > 0)",
        replace: "if (missing.length > cells.length)",
      },
    ],
    noticedBy: starts("refuses settings that leave a cell with accounts out"),
  },
  {
    name: "a person gets a key of an account in another cell without a role there",
    edits: [
      {
        file: "src/app/compose/members.ts",
        find: "return (_client, member) => requireKeyRole(people.pool, member);",
        replace: "return () => Promise.resolve();",
      },
    ],
    noticedBy: cells("makes no key for a person who has lost the account meanwhile"),
  },
  {
    name: "receipts of another cell are numbered in the series of the home cell",
    edits: [
      {
        file: "src/billing/receipts/issue-receipts.ts",
        find: "await readOtherCell(client)",
        replace: "null",
      },
    ],
    noticedBy: cells("is topped up there, by a notification that any node takes"),
  },
  {
    name: "settlements that are owed in another cell lie among those of the home cell",
    edits: [
      {
        file: "src/app/compose/cell-config.ts",
        find: "dataDir: folder(config.dataDir),",
        replace: "",
      },
    ],
    noticedBy: {
      file: "test/cells/owed.test.ts",
      test: "settles what a killed node owed in another cell, when that is back, and nothing in the home cell",
    },
  },
  {
    name: "the key of secrets is changed in the cells that are there, while one is away",
    edits: [{ file: "src/commands/secrets.ts", find: "await openAll(context);", replace: "" }],
    noticedBy: everyCell("changes the key of no cell while one of them is away"),
  },
  {
    name: "the key of secrets is changed in the home cell alone",
    edits: [
      {
        file: "src/commands/secrets.ts",
        find: "const done = await inEach(context, ({ database }) => rotateOne(database, form));",
        replace:
          "const done = await inEach({ cells: context.cells.slice(0, 1) }, ({ database }) => rotateOne(database, form));",
      },
    ],
    noticedBy: everyCell("changes the key of every cell, so that all start without the former one"),
  },
  {
    name: "admissions are stopped in the home cell alone",
    edits: [
      {
        file: "src/commands/every-cell.ts",
        find: "if (cells.length === 1 && first !== undefined)",
        replace: "if (first !== undefined)",
      },
    ],
    noticedBy: everyCell("is stopped and started in every cell, or in the one that is named"),
  },
  {
    name: "freezing an account of another cell leaves the sessions of its person",
    edits: [
      {
        file: "src/operator/commands/accounts.ts",
        find: "if (people !== undefined)\n    await withRetry(",
        replace: "if (people === undefined)\n    await withRetry(",
      },
    ],
    noticedBy: operators("end the sessions of the person of an account that they freeze, at home and by the command"),
  },
];
