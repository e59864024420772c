import { readHistory } from "../database/history.ts";
import { closeRestored } from "../operator/commands/recovery.ts";
import { auditAll, found, foundText, momentIn, stoppedText } from "./audited-books.ts";
import { type Command, UsageError } from "./command.ts";
import { operatorHere } from "./operator-here.ts";

export const restoredBooksCommands: readonly Command[] = [
  {
    name: "recover prepare",
    about:
      "Stops admissions and payouts of a restored DATABASE_URL, counts its processes as dead, and audits all of it.",
    options: {
      until: { required: true, value: "TIME", about: "the moment that was restored, such as 2026-11-24T15:04:05Z" },
    },
    async run(values, { config, database }) {
      if (config.databaseUrl === null)
        throw new UsageError("saldo recover prepare: is for a server of DATABASE_URL; saldo restore does it itself.");
      const until = momentIn(values.need("until"), "saldo recover prepare");
      const opened = await database();
      const history = await readHistory(opened.pool);
      if (history === null || until === null) throw new Error("The database is a standby. Ask the primary.");
      await closeRestored(await operatorHere(database), { until, timeline: history.timeline });
      const report = await auditAll(config, opened.pool);
      const next = stoppedText(["saldo recover report", "saldo admission start", "saldo payout start"]);
      return {
        json: { until: until.toISOString(), timeline: history.timeline, ok: report.ok, ...found(report) },
        text: `${foundText(report)}\n${next}`,
        ok: report.ok,
      };
    },
  },
];
