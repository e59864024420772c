// Guards of what outlives a process, a machine, and a restore.

import { ledger, type PlantedBug } from "../planted-bug.ts";

const spool = (test: string) => ({ file: "test/money/owed-spool.test.ts", test });

/** Each with the test that must notice it. */
export const BACKUP_BUGS: readonly PlantedBug[] = [
  {
    name: "a settlement that is owed in another history is settled",
    edits: [
      ledger(
        "group-commit/owed-spool.ts",
        "return entry.history !== null && isSameHistory(entry.history, history);",
        "return true;",
      ),
    ],
    noticedBy: spool("are never settled by"),
  },
  {
    name: "a settlement is stored when it has waited too long, and not before",
    edits: [
      ledger(
        "group-commit/group-commit.ts",
        "new Lane(database, () => this.#storeWaiting(index))",
        "new Lane(database)",
      ),
    ],
    noticedBy: spool("are on disk as soon as the database is away"),
  },
];
