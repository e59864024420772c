// Guards of a restore, of a failover, and of a service that was restored.

import { ledger, type PlantedBug } from "../planted-bug.ts";

const plan = (test: string) => ({ file: "src/database/backup/restore-plan.test.ts", test });
const secondLoss = (test: string) => ({ file: "test/database/second-loss.test.ts", test });
const inBackup = (name: string, find: string, replace: string) => [
  { file: `src/database/backup/${name}`, find, replace },
];

/** Each with the test that must notice it. */
export const RESTORE_BUGS: readonly PlantedBug[] = [
  {
    name: "a process whose row a failover has lost counts as dead at once",
    edits: [
      ledger("recovery.ts", "AND (${withoutRow}::boolean OR EXISTS", "AND (true OR ${withoutRow}::boolean OR EXISTS"),
    ],
    noticedBy: { file: "test/money/recovery.test.ts", test: "deletes processes that have been dead for a day" },
  },
  {
    name: "a transfer that the chain has as paid is paid again after a restore",
    edits: [
      {
        file: "src/merchant/payouts/resume-wallet.ts",
        find: "if (!adopts) refuseToPayAgain(adoptions);",
        replace: "if (!adopts) adoptions.length = 0;",
      },
    ],
    noticedBy: {
      file: "test/merchant/payouts/evm-payouts.test.ts",
      test: "that the chain has as paid and restored books as open is adopted",
    },
  },
  {
    name: "a restored service admits requests",
    edits: [
      {
        file: "src/operator/commands/recovery.ts",
        find: "await stopAdmissions(by, { reason });",
        replace: "",
      },
    ],
    noticedBy: { file: "test/database/backup.test.ts", test: "is restored to a moment, with everything stopped" },
  },
  {
    name: "a restored service pays",
    edits: [
      {
        file: "src/operator/commands/recovery.ts",
        find: 'await stopPayouts(by, { chain: "", address: "", reason });',
        replace: "",
      },
    ],
    noticedBy: { file: "test/database/backup.test.ts", test: "is restored to a moment, with everything stopped" },
  },
  {
    name: "a restore reports success although no key opens its secrets",
    edits: [
      {
        file: "src/app/compose/secrets.ts",
        find: "[own])]);\n  await requireSecretsKey(pool, SECRET_COLUMNS);",
        replace: "[own])]);\n  if (secretsKeys.length > 99) await requireSecretsKey(pool, SECRET_COLUMNS);",
      },
    ],
    noticedBy: { file: "test/database/backup.test.ts", test: "is not restored where no key opens its secrets" },
  },
  {
    name: "a restore follows only the timeline of its base backup",
    edits: inBackup(
      "restore-plan.ts",
      "const wanted = timeline ?? newestOf(timelines, { based, until });",
      "const wanted = timeline ?? Math.min(newestOf(timelines, { based, until }), newest.facts.timeline);",
    ),
    noticedBy: secondLoss("has every answer that was acknowledged behind the first restore"),
  },
  {
    name: "a restore reports success although the log has a hole before its moment",
    edits: inBackup(
      "restore-cluster.ts",
      "if (hole === null || (replayed !== null && replayed >= until)) return;",
      "if (hole !== undefined || (replayed !== null && replayed >= until)) return;",
    ),
    noticedBy: secondLoss("is refused where the log has a hole before the moment"),
  },
  {
    name: "a restore follows a timeline on which nothing was received",
    edits: inBackup(
      "timelines.ts",
      "return start + BigInt(bytes?.length ?? SEGMENT_BYTES) > position;",
      "return bytes !== undefined;",
    ),
    noticedBy: plan("follows the newest timeline whose log was received"),
  },
  {
    name: "a restore begins with a base backup that does not lead to its timeline",
    edits: inBackup(
      "timelines.ts",
      "return at !== -1 && (next === undefined || parseLsn(facts.endLsn) <= next.from);",
      "return at !== -1 || next === undefined;",
    ),
    noticedBy: plan("takes no base backup from behind the position"),
  },
  {
    name: "a restore to a moment follows a timeline of later",
    edits: inBackup(
      "restore-plan.ts",
      "({ number, madeAt }) => until === null || madeAt === null || madeAt <= until || based.has(number),",
      "({ number, madeAt }) => until !== undefined || madeAt === null || based.has(number),",
    ),
    noticedBy: plan("follows the timeline that was there at the moment"),
  },
];
