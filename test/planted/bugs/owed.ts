// Guards of settlements that are owed: on disk, in other processes, in other histories.

import { ledger, type PlantedBug } from "../planted-bug.ts";

const spool = (test: string) => ({ file: "test/money/owed-spool.test.ts", test });
const owedDamage = (test: string) => ({ file: "src/ledger/group-commit/owed-spool.test.ts", test });

/** Each with the test that must notice it. */
export const OWED_BUGS: readonly PlantedBug[] = [
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
  {
    name: "a damaged line of owed settlements is taken for one",
    edits: [ledger("group-commit/owed-lines.ts", "piece.slice(0, 8) === checksumOf(text)", "text.length > 0")],
    noticedBy: owedDamage("survives each bit that falls over"),
  },
  {
    name: "a torn line costs the owed settlement behind it",
    edits: [
      ledger(
        "group-commit/owed-lines.ts",
        "line.slice(head, heads[place + 1])",
        "place === 0 ? line : line.slice(head)",
      ),
      ledger("group-commit/owed-lines.ts", "const pieces = heads.map", "const pieces = heads.slice(0, 1).map"),
    ],
    noticedBy: owedDamage("has a line that a torn write has cut, and the next one behind it"),
  },
  {
    name: "a file with damaged lines of owed settlements is removed",
    edits: [
      ledger(
        "group-commit/owed-spool.ts",
        "await link(path, path + ASIDE).catch(nullIfGone).catch(ignoreIfThere);",
        "",
      ),
    ],
    noticedBy: owedDamage(": the others are taken over, and the file is kept and listed"),
  },
  {
    name: "owed settlements that the disk did not take are forgotten",
    edits: [ledger("group-commit/owed-spool.ts", "this.#waiting = [...entries, ...this.#waiting];", "")],
    noticedBy: owedDamage("is counted, reported, and repeated with all that came since"),
  },
  {
    name: "an owed settlement is appended to a torn line",
    edits: [ledger("group-commit/owed-spool.ts", "if (size > begin) await file.truncate(begin);", "")],
    noticedBy: owedDamage("leaves nothing behind which the next line is appended"),
  },
  {
    name: "an owed file waits for a program that has its process's number",
    edits: [
      ledger(
        "group-commit/owed-process.ts",
        'return start === null || start === "0" || now === "0" || start === now;',
        'return now !== "";',
      ),
    ],
    noticedBy: owedDamage("takes over the file of a process whose number another program has"),
  },
];
