import { readHistory } from "../database/history.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import { listForeignOwed, owedFolder } from "../ledger/group-commit/owed-spool.ts";
import type { Command } from "./command.ts";

export const recoveryCommands: readonly Command[] = [
  {
    name: "recover report",
    about: "Lists what the books may lack after a restore or a failover. Changes nothing.",
    options: {},
    async run(_values, { config, database }) {
      const history = await readHistory((await database()).pool);
      if (history === null) throw new Error("The database is a standby. Ask the primary.");
      const entries = await listForeignOwed(owedFolder(config.dataDir), history);
      const owed = entries.map(({ settlement: { requestId, accountId, cost, billingDay }, history: of }) => ({
        requestId,
        accountId,
        cost: formatMoney(idr(cost)),
        billingDay,
        system: of?.system ?? null,
        timeline: of?.timeline ?? null,
      }));
      const lines = owed.map((each) =>
        [
          each.billingDay,
          each.accountId,
          each.requestId,
          `Rp ${each.cost}`,
          `timeline ${each.timeline ?? "unknown"}`,
        ].join("  "),
      );
      return {
        json: { history, owed },
        text: [`The books: system ${history.system}, timeline ${history.timeline}.`, ...owedText(lines)].join("\n"),
      };
    },
  },
];

function owedText(lines: readonly string[]): string[] {
  if (lines.length === 0) return ["No settlement is owed in another history of the books."];
  return ["Settlements owed in another history of the books, which are not settled:", ...lines];
}
