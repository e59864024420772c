import type { Client } from "pg";
import { whereIs } from "../app/compose/database.ts";
import { proofKeysOf } from "../app/compose/proof.ts";
import { archiveMonths, type ArchiveWork, dropMonths, withArchive } from "../billing/archive/archive-months.ts";
import { restoreMonths } from "../billing/archive/restore-months.ts";
import { verifyArchive } from "../billing/archive/verify-archive.ts";
import { withOwner } from "../database/database.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import { withAuditLog } from "../operator/audit-log/operator-actions.ts";
import { type Command, type CommandContext, UsageError } from "./command.ts";
import { operatorHere } from "./operator-here.ts";

const rupiah = (units: bigint): string => formatMoney(idr(units));

export const usageArchiveCommands: readonly Command[] = [
  {
    name: "usage archive",
    about:
      "Writes the usage records of closed months to Parquet files, and takes them out of the table. A run that was ended is run again.",
    options: {
      before: { required: true, value: "MONTH", about: "the first month that stays, such as 2025-10" },
      to: { required: true, value: "DIR", about: "the folder of the files, best on another disk" },
    },
    async run(values, context) {
      const keys = await proofKeysOf(context.config);
      if (keys.length === 0) throw new UsageError("saldo usage archive: SALDO_PROOF_KEY is not set.");
      const { usageKeepMonths: keepMonths } = context.config;
      const options = { before: values.need("before"), folder: values.need("to"), keepMonths, keys };
      const months = await archived(context, "usage archive", (work) => archiveMonths(work, options));
      return {
        json: {
          months: months.map(({ rows, charge, ...month }) => ({
            ...month,
            rows: String(rows),
            charge: rupiah(charge),
          })),
        },
        text:
          months.length === 0
            ? "No month is left to archive."
            : months.map(({ month, rows, file }) => `${month}: ${rows} records in ${file}`).join("\n"),
      };
    },
  },
  {
    name: "usage archive verify",
    about: "Verifies the files of an archive without the database: signatures, hashes, rows and sums.",
    options: { key: { required: false, value: "KEY", about: "the public key that must have signed, as Base64" } },
    positionals: ["DIR"],
    async run(values) {
      const [folder = ""] = values.positionals;
      const key = values.get("key");
      const { rows, charge, ...verified } = await verifyArchive(folder, { ...(key !== undefined && { key }) });
      return { json: { ...verified, rows: String(rows), charge: rupiah(charge) }, ok: verified.ok };
    },
  },
  {
    name: "usage archive drop",
    about:
      "Removes the tables of archived months for good, once their files have been compared. Only the files remain.",
    options: { before: { required: true, value: "MONTH", about: "the first month whose table stays" } },
    positionals: ["DIR"],
    async run(values, context) {
      const [folder = ""] = values.positionals;
      const options = { before: values.need("before"), folder };
      const months = await archived(context, "usage archive drop", (work) => dropMonths(work, options));
      return { json: { dropped: months }, text: months.length === 0 ? "There is no such table." : months.join("\n") };
    },
  },
  {
    name: "usage restore",
    about:
      "Puts archived months back into the table, the newest first, from the files or from a table that was not dropped.",
    options: { from: { required: false, value: "MONTH", about: "the oldest month to restore; left out: all" } },
    positionals: ["DIR"],
    async run(values, context) {
      const [folder = ""] = values.positionals;
      const options = { folder, from: values.get("from") };
      const months = await archived(context, "usage restore", (work) => restoreMonths(work, options));
      return {
        json: {
          months: months.map(({ month, rows, charge }) => ({ month, rows: String(rows), charge: rupiah(charge) })),
        },
        text:
          months.length === 0
            ? "No month is in the archive."
            : months.map(({ month, rows }) => `${month}: ${rows} records`).join("\n"),
      };
    },
  },
];

/**
 * Runs work on the archive as the owner of the schema. The operators' log gets a line before its first step and one behind its last: a run that was
 * killed has the first alone.
 */
async function archived<Done>(
  { config, database }: CommandContext,
  action: string,
  work: (archive: ArchiveWork) => Promise<readonly Done[]>,
): Promise<readonly Done[]> {
  await database();
  const connect = <Result>(run: (client: Client) => Promise<Result>): Promise<Result> =>
    withOwner(whereIs(config), run);
  const operator = await operatorHere(database);
  const record = (facts: Readonly<Record<string, string | number>>): Promise<void> =>
    withAuditLog(
      operator,
      () => Promise.resolve(),
      () => ({ action, subject: null, reason: null, facts, inAccount: null }),
    );
  let started: Promise<void> | undefined;
  const onStep = (step: string): Promise<void> => (started ??= record({ run: "started", step }));
  try {
    const done = await withArchive(connect, { onStep }, work);
    if (started !== undefined) await record({ run: "ended", months: done.length });
    return done;
  } catch (error) {
    if (started !== undefined)
      await record({ run: "failed", why: error instanceof Error ? error.message : String(error) });
    throw error;
  }
}
