// Guards of accounts that are in other cells.

import { ledger, type PlantedBug } from "../planted-bug.ts";

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
    noticedBy: cells("gives no welcome credit to an account of before the setting"),
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
];
