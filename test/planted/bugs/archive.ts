// Months of usage in the archive: what may be taken away and when, what counts for it, and what is found changed.

import type { PlantedBug } from "../planted-bug.ts";

const ARCHIVE = "src/billing/archive/";
const read = (test: string) => ({ file: "test/archive/archive.test.ts", test });
const beside = (test: string) => ({ file: "test/archive/archive-readers.test.ts", test });
const late = (test: string) => ({ file: "test/archive/archive-hazards.test.ts", test });
const refused = (test: string) => ({ file: "test/archive/archive-refusals.test.ts", test });
const stepped = (test: string) => ({ file: "test/archive/archive-steps.test.ts", test });

const dated = (test: string) => ({ file: "test/archive/archive-clock.test.ts", test });
const sealed = (test: string) => ({ file: "test/archive/archive-seals.test.ts", test });

/** Each with the test that must notice it. */
export const ARCHIVE_BUGS: readonly PlantedBug[] = [
  {
    name: "a request with an id of an archived month is admitted",
    edits: [
      {
        file: `${ARCHIVE}take-away.ts`,
        find: "  await refuseIdsBefore(client, monthAfter(month));\n",
        replace: "",
      },
    ],
    noticedBy: dated("a request of an archived month is refused as busy"),
  },
  {
    name: "a table is made again for a month whose records are in the archive",
    edits: [
      {
        file: "src/database/functions/usage_partitions.sql",
        find: "IF month < at_hand THEN",
        replace: "IF month < '-infinity' THEN",
      },
    ],
    noticedBy: dated("no months are made whose records are in the archive"),
  },
  {
    name: "the first hours of the oldest month at hand are compared with no seal",
    edits: [
      {
        file: "src/billing/proof/audit-seals.ts",
        find: "if (window.untilMicros <= atHand) return;",
        replace: "if (window.fromMicros < atHand) return;",
      },
    ],
    noticedBy: sealed("finds a line that was changed in the first hours"),
  },
  {
    name: "lines that are missing at the beginning of the oldest month at hand are not looked for",
    edits: [
      {
        file: "src/billing/proof/audit-cut-window.ts",
        find: "if (balance === seal.balance) return [];",
        replace: "if (balance !== 0n || seal.balance >= 0n) return [];",
      },
    ],
    noticedBy: sealed("finds a line that was changed in the first hours"),
  },
  {
    name: "a seal whose text cannot be read ends the audit",
    edits: [
      {
        file: "src/billing/proof/readable.ts",
        find: "    return null;",
        replace: "    return read();",
      },
    ],
    noticedBy: sealed("reports a text of "),
  },
  {
    name: "an archive that is killed leaves no line in the operators' log",
    edits: [
      {
        file: "src/commands/usage-archive.ts",
        find: 'const onStep = (step: string): Promise<void> => (started ??= record({ run: "started", step }));',
        replace: "const onStep = async (): Promise<void> => {\n    started = Promise.resolve();\n  };",
      },
    ],
    noticedBy: { file: "test/archive/archive-commands.test.ts", test: "leave a line in the operators' log" },
  },
  {
    name: "the audit of a balance leaves out what archived months charge",
    edits: [
      {
        file: "src/ledger/audit/accounts.ts",
        find: '- ${archivedCharge("r.account_id", "r.usage_through")} AS total',
        replace: "AS total",
      },
    ],
    noticedBy: beside("finds no balance wrong whose month is archived between two pages"),
  },
  {
    name: "the trial balance leaves out what archived months charge",
    edits: [
      {
        file: "src/ledger/trial-balance.ts",
        find: "SELECT coalesce(sum(charge), 0) FROM ${ARCHIVED_SUMS} a",
        replace: "SELECT 0",
      },
    ],
    noticedBy: read("leave the same sums, statements and books"),
  },
  {
    name: "a month is archived while a request of it is open",
    edits: [
      {
        file: `${ARCHIVE}takeable.ts`,
        find: "(await client.query(OPEN_HOLD, [month.untilId])).rowCount !== 0",
        replace: "(await client.query(OPEN_HOLD, [month.untilId])).rowCount === 2",
      },
    ],
    noticedBy: refused("refuses months that are too new"),
  },
  {
    name: "a month is archived beside code that does not count the archive",
    edits: [{ file: `${ARCHIVE}take-away.ts`, find: "older.rowCount !== 0", replace: "older.rowCount === -1" }],
    noticedBy: refused("refuses months that are too new"),
  },
  {
    name: "a month is taken away that is not as it was sealed",
    edits: [
      { file: `${ARCHIVE}takeable.ts`, find: "found?.rows !== String(seal.rows)", replace: "found === undefined" },
      { file: `${ARCHIVE}takeable.ts`, find: "|| found.cost !== String(seal.cost)", replace: "" },
      { file: `${ARCHIVE}takeable.ts`, find: "|| found.charge !== String(seal.charge)", replace: "" },
      { file: `${ARCHIVE}takeable.ts`, find: "await requireRolledUp(client, month);", replace: "" },
    ],
    noticedBy: refused("notices records that came into a month behind its seal"),
  },
  {
    name: "a partition is detached beneath readers of the former mark",
    edits: [
      {
        file: `${ARCHIVE}archive-months.ts`,
        find: "await waitForReaders(client, work.holder, work.signal);",
        replace: "void waitForReaders;",
      },
    ],
    noticedBy: stepped("waits for readers that began before a month was away"),
  },
  {
    name: "two archives run at once",
    edits: [{ file: `${ARCHIVE}archive-months.ts`, find: "rows[0]?.taken !== true", replace: "rows[0] === undefined" }],
    noticedBy: stepped("never runs twice at once"),
  },
  {
    name: "a file gets its name before it is read back",
    edits: [{ file: `${ARCHIVE}archive-folder.ts`, find: "check(await foldFile(partial));", replace: "void check;" }],
    noticedBy: refused("gives no file its name whose records are others"),
  },
  {
    name: "a table is dropped whose file is not compared",
    edits: [
      {
        file: `${ARCHIVE}archive-months.ts`,
        find: "requireSame(path, await foldFile(path), seal);\n    await onStep(`${name} drop`",
        replace: "void path;\n    void seal;\n    await onStep(`${name} drop`",
      },
    ],
    noticedBy: refused("refuses to drop a table whose file is not as it was sealed"),
  },
  {
    name: "a record that a posting names does not stay at hand",
    edits: [
      {
        file: `${ARCHIVE}takeable.ts`,
        find: "WHERE (u.account_id, u.request_id) IN (",
        replace: "WHERE false AND (u.account_id, u.request_id) IN (",
      },
    ],
    noticedBy: read("keep the requests at hand that postings name"),
  },
  {
    name: "the audit takes the sums of archived months as they are",
    edits: [
      {
        file: `${ARCHIVE}audit-archive.ts`,
        find: "sums.accountsDigest !== seal.accountsDigest &&",
        replace: "sums.accounts < 0 &&",
      },
    ],
    noticedBy: read("are found changed: a flipped byte, a missing file, a changed total"),
  },
  {
    name: "the audit takes the files of archived months as they are",
    edits: [
      {
        file: `${ARCHIVE}audit-archive.ts`,
        find: "known.some((manifest) => manifest.sha256 === sha256 && manifest.bytes === bytes)",
        replace: "known.length > 0 && sha256 !== String(bytes)",
      },
    ],
    noticedBy: read("are found changed: a flipped byte, a missing file, a changed total"),
  },
  {
    name: "roll-ups of archived months are made again, of no record",
    edits: [
      { file: "src/billing/usage/roll-up.ts", find: "from: mark.archived,", replace: "from: 0," },
      {
        file: "src/billing/usage/roll-up.ts",
        find: "from >= (mark?.archived ?? 0)",
        replace: "mark !== undefined",
      },
    ],
    noticedBy: read("keep roll-ups through a recount and further rounds"),
  },
  {
    name: "a file of usage leaves out archived requests without a word",
    edits: [
      {
        file: "src/billing/usage/usage-export.ts",
        find: "await requireRecordsAtHand(look, accountId, slice);",
        replace: "void requireRecordsAtHand;",
      },
    ],
    noticedBy: read("refuse readers that need single requests"),
  },
  {
    name: "a file of usage leaves out requests that are archived while it is read",
    edits: [
      {
        file: "src/billing/usage/usage-export.ts",
        find: "await requireRecordsAtHand(look, accountId, slice);",
        replace: "if (last === undefined) await requireRecordsAtHand(look, accountId, slice);",
      },
    ],
    noticedBy: beside("ends a file of"),
  },
  {
    name: "a file of the ledger leaves out requests that are archived while it is read",
    edits: [
      {
        file: "src/billing/usage/ledger-entries.ts",
        find: "last !== undefined && last.place.micros <",
        replace: "last !== undefined && last.place.micros - last.place.micros >",
      },
    ],
    noticedBy: beside("ends a file of"),
  },
  {
    name: "a statement leaves out requests that are archived while it is read",
    edits: [
      {
        file: "src/billing/proof/statement.ts",
        find: "await requireLinesAtHand(look, accountId, [window]);",
        replace: "",
      },
    ],
    noticedBy: beside("ends a file of"),
  },
  {
    name: "the audit of seals misses the lines of a month that is archived meanwhile",
    edits: [
      {
        file: "src/billing/proof/audit-seals.ts",
        find: "if (found.length > 0 && atHand === (await firstMicrosAtHand(look)))",
        replace: "",
      },
    ],
    noticedBy: beside("finds nothing wrong in seals whose month is archived"),
  },
  {
    name: "the audit of roll-ups misses the records of a month that is archived meanwhile",
    edits: [
      {
        file: "src/billing/usage/audit-roll-ups.ts",
        find: "greatest($2::int, quarter_of(${FIRST_ID_AT_HAND}))",
        replace: "$2::int",
      },
    ],
    noticedBy: beside("finds nothing wrong in roll-ups whose month is archived"),
  },
  {
    name: "a late charge of an archived month is forgotten",
    edits: [
      {
        file: "src/database/functions/post_late_usage.sql",
        find: "AND k.request_id = request AND k.basis = 'recovered'",
        replace: "AND k.request_id = request AND k.basis = 'exact'",
      },
    ],
    noticedBy: late("a settlement that a spool has kept since"),
  },
  {
    name: "a spool that is older than the archive is not settled",
    edits: [
      {
        file: "src/ledger/group-commit/settlement.ts",
        find: "FROM usage_kept WHERE basis = 'recovered' AND",
        replace: "FROM usage_kept WHERE basis = 'exact' AND",
      },
    ],
    noticedBy: late("a settlement that a spool has kept since"),
  },
  {
    name: "readers of other logins are not waited for",
    edits: [
      {
        file: `${ARCHIVE}take-away.ts`,
        find: "AND s.usesysid IS NOT NULL",
        replace: "AND s.xact_start IS NOT NULL",
      },
    ],
    noticedBy: late("an owner that is no superuser waits for the transactions of others"),
  },
];
