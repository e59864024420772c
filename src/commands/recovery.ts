import { readHistory } from "../database/history.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import { listForeignOwed, owedFolder } from "../ledger/group-commit/owed-spool.ts";
import { listLost, type ReportedLost } from "../merchant/payouts/journal-store.ts";
import type { Command } from "./command.ts";

export const recoveryCommands: readonly Command[] = [
  {
    name: "recover report",
    about: "Lists what the books may lack after a restore or a failover. Changes nothing.",
    options: {},
    async run(_values, { config, database }) {
      const { pool } = await database();
      const history = await readHistory(pool);
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
      const payouts = await listLost(pool);
      const books = `The books: system ${history.system}, timeline ${history.timeline}.`;
      return {
        json: { history, owed, payouts },
        text: [books, ...owedText(lines), ...payoutsText(payouts)].join("\n"),
      };
    },
  },
];

function owedText(lines: readonly string[]): string[] {
  if (lines.length === 0) return ["No settlement is owed in another history of the books."];
  return ["Settlements owed in another history of the books, which are not settled:", ...lines];
}

function payoutsText(lost: readonly ReportedLost[]): string[] {
  if (lost.length === 0) return ["The journals of signed payouts have nothing that the books lack."];
  const lines = lost.map(({ chain, nonce, transferId, kind, hash, host }) =>
    [chain, `nonce ${nonce}`, `transfer ${transferId}`, kind, hash, `journal of ${host ?? "an unknown node"}`].join(
      "  ",
    ),
  );
  return ["Signed payouts that the books lack; saldo payout resume --adopt has them again:", ...lines];
}
