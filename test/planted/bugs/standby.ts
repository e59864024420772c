// Guards of what is acknowledged before a failover.

import { ledger, money, type PlantedBug } from "../planted-bug.ts";

const standby = (test: string) => ({ file: "test/faults/standby.test.ts", test });
const reads = (test: string) => ({ file: "src/database/lagging-reads.test.ts", test });
const laggingReads = (find: string, replace: string) => ({ file: "src/database/lagging-reads.ts", find, replace });
const committing = (test: string) => ({ file: "test/faults/still-committing.test.ts", test });

/** Each with the test that must notice it. */
export const STANDBY_BUGS: readonly PlantedBug[] = [
  {
    name: "one standby of two that commits wait for counts",
    edits: [
      {
        file: "src/database/functions/synchronous_standbys.sql",
        find: "attached < coalesce(wanted, 1)",
        replace: "attached < least(coalesce(wanted, 1), 1)",
      },
    ],
    noticedBy: standby("counts a standby only where commits wait for no others"),
  },
  {
    name: "a start writes while commits wait for no standby",
    edits: [
      {
        file: "src/app/process/node.ts",
        find: "  await waitForStandby({ config, database, logger, stopping });\n",
        replace: "",
      },
    ],
    noticedBy: { file: "test/faults/start-without-standby.test.ts", test: "answers 503 and shows why" },
  },
  {
    name: "a recall answers by what the standby may not have",
    edits: [
      ledger(
        "group-commit/member-outcomes.ts",
        "statement.recall(group.map(({ member }) => member)), CONFIRM_READS",
        "statement.recall(group.map(({ member }) => member))",
      ),
    ],
    noticedBy: standby("acknowledges a settlement only once the standby has it"),
  },
  {
    name: "a standby's refusal is a fault of ours",
    edits: [
      {
        file: "src/database/transactions.ts",
        find: "return IN_RECOVERY.message.test(messageOf(error));",
        replace: "return false;",
      },
    ],
    noticedBy: standby("counts as away where a connection was led to it"),
  },
  {
    name: "a connection stays at a standby",
    edits: [
      {
        file: "src/database/primary.ts",
        find: "if (!this.#primaryOnly || !this.#isStandby) return this;",
        replace: "return this;",
      },
    ],
    noticedBy: standby("counts as away where a connection was led to it"),
  },
  {
    name: "a refused recall ends a settlement whose outcome is open",
    edits: [
      ledger("group-commit/lane.ts", "this.#unread.add(group);", "for (const waiting of group) waiting.reject(error);"),
    ],
    noticedBy: {
      file: "test/faults/lost-commits.test.ts",
      test: "looks for its effect again where that look is refused",
    },
  },
  {
    name: "a refused recall stops its lane",
    edits: [ledger("group-commit/lane.ts", "!this.#connection.isOpen || isDatabaseAway(error)", "true")],
    noticedBy: { file: "test/faults/unread-rows.test.ts", test: "lets newcomers of both kinds go on" },
  },
  {
    name: "a newcomer that was never sent is looked for with the lost ones",
    edits: [ledger("group-commit/lane.ts", "group.filter(({ perhapsWritten }) => perhapsWritten);", "[...group];")],
    noticedBy: { file: "test/faults/unread-rows.test.ts", test: "does not look for newcomers that were never sent" },
  },
  {
    name: "a refused recall takes its neighbours along",
    edits: [
      ledger(
        "group-commit/unread-members.ts",
        "[unread.waiting]);",
        "[...this.#unread].map(({ waiting }) => waiting));",
      ),
    ],
    noticedBy: { file: "test/faults/unread-rows.test.ts", test: "answers its neighbours of the lost transaction" },
  },
  {
    name: "members without patience are read before they are refused",
    edits: [ledger("group-commit/unread-members.ts", "    if (this.#isGivenUp(unread)) return;\n", "")],
    noticedBy: {
      file: "src/ledger/group-commit/unread-members.test.ts",
      test: "members who waited too long behind the reading of others",
    },
  },
  {
    name: "what is read to be unwritten does not run again",
    edits: [
      ledger(
        "group-commit/unread-members.ts",
        "this.#onUnwritten(outcomes.unanswered);",
        "for (const { reject } of outcomes.unanswered) reject(new UpstreamBusy());",
      ),
    ],
    noticedBy: { file: "test/faults/unread-rows.test.ts", test: "settles what the lost commit had not written" },
  },
  {
    name: "a refused recall takes back what was committed beside it",
    edits: [
      ledger(
        "group-commit/lane.ts",
        "for (const answered of answers) answerAll(answered);",
        "for (const { answered } of answers) for (const [each] of answered) each.reject(new UpstreamBusy());",
      ),
    ],
    noticedBy: { file: "test/faults/refused-recalls.test.ts", test: "refuses no answer beside it that was charged" },
  },
  {
    name: "a promoted server is refused behind a pooler",
    edits: [
      { file: "src/database/primary.ts", find: "    if (rows[0]?.standby === false) return this;\n", replace: "" },
    ],
    noticedBy: standby("is not what a pooler takes a promoted server for"),
  },
  {
    name: "a repeated order is answered by what the standby may not have",
    edits: [{ file: "src/database/confirmed-read.ts", find: "    await client.query(CONFIRM_READS);\n", replace: "" }],
    noticedBy: committing("answers a repeated order of a transfer or a top-up only once"),
  },
  {
    name: "calls are answered without the standby that is required",
    edits: [
      {
        file: "src/transport/calls/interceptors.ts",
        find: "mayServe() || req.service.typeName === StatusService.typeName ? next(req) :",
        replace: 'mayServe() || req.service.typeName !== "" ? next(req) :',
      },
    ],
    noticedBy: standby("serves nothing while a required standby is missing"),
  },
  {
    name: "a standby that was seen long ago counts as attached",
    edits: [
      {
        file: "src/database/standby-watch.ts",
        find: "this.standbys === 0 || this.#now() - (this.#seen?.atMs ?? 0) > BELIEVED_MS",
        replace: "this.standbys === 0",
      },
    ],
    noticedBy: { file: "src/database/standby-watch.test.ts", test: "is believed for five seconds" },
  },
  {
    name: "the start accepts a server that does not wait for its standby",
    edits: [{ file: "src/database/server-checks.ts", find: "local: () => true", replace: "local: () => false" }],
    noticedBy: { file: "src/database/server-checks.test.ts", test: "does not acknowledge before its standby" },
  },
  {
    name: "the audit accepts a database that does not wait for its standby",
    edits: [ledger("audit/checks.ts", "(setting = 'local'", "(setting = 'nothing'")],
    noticedBy: money("audit", "settings that can lose acknowledged data"),
  },
  {
    name: "a balance is read from a standby, which lags",
    edits: [
      {
        file: "src/billing/service.ts",
        find: "await readBalance(requests.pool, accountOf(context));",
        replace: "await reads.beginRead().run((lagging) => readBalance(lagging, accountOf(context)));",
      },
    ],
    noticedBy: {
      file: "test/faults/lagging-reads.test.ts",
      test: "comes from the standby with its moment, and the balance does not",
    },
  },
  {
    name: "a standby of other books is read",
    edits: [laggingReads("if (!isSame) {", "if (!isSame && lsn === null) {")],
    noticedBy: reads("never goes to a standby"),
  },
  {
    name: "a standby is read, however far it is behind",
    edits: [
      laggingReads('this.#reached.atMs > this.#maxLagMs ? "behind" : null', 'this.#reached.atMs < 0 ? "behind" : null'),
    ],
    noticedBy: reads("goes to the primary once that is too old"),
  },
  {
    name: "data of a standby is shown as newer than it is",
    edits: [laggingReads("mark.lsn <= parseLsn(lsn)", "mark.lsn <= parseLsn(lsn) + 1_000_000n")],
    noticedBy: reads("goes to the primary until the standby has come to a position that was noted"),
  },
  {
    name: "a former primary is taken for the primary",
    edits: [
      {
        file: "src/database/primary.ts",
        find: "timeline < last.timeline",
        replace: "timeline < last.timeline && false",
      },
    ],
    noticedBy: { file: "src/database/primary.test.ts", test: "is not a former primary" },
  },
];
