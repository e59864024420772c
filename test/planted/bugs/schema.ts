// Guards of what brings a database to the schema of this code.

import type { Edit, PlantedBug } from "../planted-bug.ts";

const database = (file: string, find: string, replace: string): Edit => ({
  file: `src/database/${file}`,
  find,
  replace,
});
const applied = (test: string) => ({ file: "test/database/migrate.test.ts", test });
const adopted = (test: string) => ({ file: "test/database/adoption.test.ts", test });

/** Each with the test that must notice it. */
export const SCHEMA_BUGS: readonly PlantedBug[] = [
  {
    name: "code that is too old for a schema serves from it",
    edits: [database("schema/schema-state.ts", "if (ours < state.oldestCode) {", "if (ours < 0) {")],
    noticedBy: applied("is refused where the schema needs a newer one"),
  },
  {
    name: "the version before puts its own functions back",
    edits: [
      database("schema/schema-state.ts", "if (ours < state.version) return { migrations: [], functions: [] };", ""),
    ],
    noticedBy: applied("serves again where the newer schema allows it"),
  },
  {
    name: "a change waits for its lock as long as it takes",
    edits: [database("schema/apply.ts", "SET LOCAL lock_timeout = ${lockTimeoutMs}; ", "")],
    noticedBy: applied("that never get their lock are given up"),
  },
  {
    name: "a change waits for its lock longer than requests wait behind it",
    edits: [database("schema/patience.ts", "lockTimeoutMs: 150", "lockTimeoutMs: 2_000")],
    noticedBy: applied("wait for a lock for less time than requests do"),
  },
  {
    name: "a start that has waited too long changes the schema beside another one",
    edits: [
      database(
        "schema/migration-lock.ts",
        "if (holder !== null && isTooLong) throw new Error(tooLong(holder, waitedMs));",
        "if (isTooLong) return;",
      ),
    ],
    noticedBy: applied("gives up after a bound, and the error names the session"),
  },
  {
    name: "a process that stopped within a transaction keeps its locks for ever",
    edits: [database("serving-settings.ts", 'idle_in_transaction_session_timeout: "30s",', "")],
    noticedBy: { file: "test/database/serving-settings.test.ts", test: "ends a serving session that is idle" },
  },
  {
    name: "losses are left behind when a database is taken over",
    edits: [
      database("schema/adoption/take-over.sql", "AND o.id = p.id\n", "AND o.id = p.id AND p.reason <> 'uncollected'\n"),
      database(
        "schema/adoption/adopt.ts",
        '  invariant(rows[0]?.former === rows[0]?.taken, "every posting is taken over");\n',
        "",
      ),
    ],
    noticedBy: adopted("keeps every row of every table as it was"),
  },
  {
    name: "a loss is taken over without the customer whose request it was",
    edits: [
      database(
        "schema/adoption/find-owners.sql",
        "credited_merchant.account_id, used.account_id,",
        "credited_merchant.account_id, (SELECT min(id::text)::uuid FROM account WHERE used.account_id IS NOT NULL),",
      ),
    ],
    noticedBy: adopted("has every posting under its account"),
  },
  {
    name: "an id may be of any future",
    edits: [database("functions/request_time.sql", "<= interval '1 day', true)", "<= interval '100 years', true)")],
    noticedBy: { file: "test/database/future-ids.test.ts", test: ", but for clocks that differ" },
  },
];
