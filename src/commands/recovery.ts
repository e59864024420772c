import { listUnknownPayments, type UnknownPayment } from "../billing/top-ups/find-top-ups.ts";
import { readHistory } from "../database/history.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import { type DamagedOwed, listUnsettled, owedFolder } from "../ledger/group-commit/owed-spool.ts";
import { listForeignPayments, type ReportedForeign } from "../merchant/payouts/foreign-payments.ts";
import { listLost, type ReportedLost } from "../merchant/payouts/journal-store.ts";
import { listTakenNames, type TakenName } from "../merchant/payouts/taken-names.ts";
import type { Command } from "./command.ts";
import { column, numbers, type Table, tableOf } from "./table.ts";
import { unknownPaymentColumns } from "./top-ups.ts";

/** Notifications of unknown payments that a report lists at most; `saldo top-up unknown` lists more. */
const MOST_UNKNOWN = 100;

export const recoveryCommands: readonly Command[] = [
  {
    name: "recover report",
    about: "Lists what the books may lack after a restore or a failover. Changes nothing.",
    options: {},
    async run(_values, { config, database }) {
      const { pool } = await database();
      const history = await readHistory(pool);
      if (history === null) throw new Error("The database is a standby. Ask the primary.");
      const { foreign: entries, damaged } = await listUnsettled(owedFolder(config.dataDir), history);
      const owed = entries.map(({ settlement: { requestId, accountId, cost, billingDay }, history: of }) => ({
        requestId,
        accountId,
        cost: formatMoney(idr(cost)),
        billingDay,
        system: of?.system ?? null,
        timeline: of?.timeline ?? null,
      }));
      const payouts = await listLost(pool);
      const takenNames = await listTakenNames(pool);
      const foreignPayments = await listForeignPayments(pool);
      const unknownPayments = await listUnknownPayments(pool, MOST_UNKNOWN);
      const books = `The books: system ${history.system}, timeline ${history.timeline}.`;
      return {
        json: { history, owed, damaged, payouts, takenNames, foreignPayments, unknownPayments },
        text: [
          books,
          ...owedText(owed, sumOf(entries.map(({ settlement }) => settlement.cost))),
          ...damagedText(damaged),
          ...lostText(payouts),
          ...takenText(takenNames),
          ...foreignText(foreignPayments),
          ...unknownText(unknownPayments),
        ],
      };
    },
  },
];

type Owed = {
  readonly requestId: string;
  readonly accountId: string;
  readonly cost: string;
  readonly billingDay: string;
  readonly timeline: number | null;
};

function sumOf(costs: readonly bigint[]): string {
  return formatMoney(idr(costs.reduce((sum, cost) => sum + cost, 0n)));
}

function owedText(owed: readonly Owed[], total: string): (string | Table)[] {
  if (owed.length === 0) return ["No settlement is owed in another history of the books."];
  const columns = [
    column<Owed>("day", ({ billingDay }) => billingDay),
    column<Owed>("account", ({ accountId }) => accountId),
    column<Owed>("request", ({ requestId }) => requestId),
    numbers<Owed>("rupiah", ({ cost }) => cost, total),
    numbers<Owed>("timeline", ({ timeline }) => timeline ?? "unknown"),
  ];
  return ["Settlements owed in another history of the books, which are not settled:", tableOf(owed, columns, "")];
}

function damagedText(damaged: readonly DamagedOwed[]): (string | Table)[] {
  if (damaged.length === 0) return [];
  const columns = [
    column<DamagedOwed>("file", ({ path }) => path),
    numbers<DamagedOwed>("damaged lines", ({ lines }) => lines),
  ];
  return [
    "Files of owed settlements with lines that cannot be read, each of which may be one:",
    tableOf(damaged, columns, ""),
  ];
}

function lostText(lost: readonly ReportedLost[]): (string | Table)[] {
  if (lost.length === 0) return ["The journals of signed payouts have nothing that the books lack."];
  const columns = [
    column<ReportedLost>("chain", ({ chain }) => chain),
    numbers<ReportedLost>("nonce", ({ nonce }) => nonce),
    column<ReportedLost>("transfer", ({ transferId }) => transferId),
    column<ReportedLost>("kind", ({ kind }) => kind),
    column<ReportedLost>("transaction", ({ hash }) => hash),
    column<ReportedLost>("journal of", ({ host }) => host ?? "an unknown node"),
  ];
  const head = "Signed payouts that the books lack; saldo payout resume --adopt has them again:";
  return [head, tableOf(lost, columns, "")];
}

function takenText(names: readonly TakenName[]): (string | Table)[] {
  if (names.length === 0) return [];
  const columns = [
    column<TakenName>("transfer", ({ transferId }) => transferId),
    column<TakenName>("merchant", ({ merchantId }) => merchantId),
    column<TakenName>("externalId", ({ externalId }) => externalId),
    column<TakenName>("is that of", ({ takenBy }) => takenBy),
  ];
  const head = "Those of them whose externalId another order has; saldo payout resume --adopt gives them another one:";
  return [head, tableOf(names, columns, "")];
}

function foreignText(payments: readonly ReportedForeign[]): (string | Table)[] {
  if (payments.length === 0) return [];
  const columns = [
    column<ReportedForeign>("chain", ({ chain }) => chain),
    numbers<ReportedForeign>("nonce", ({ nonce }) => nonce),
    numbers<ReportedForeign>("units", ({ units }) => units),
    column<ReportedForeign>("currency", ({ currencyCode }) => currencyCode),
    column<ReportedForeign>("recipient", ({ address }) => address),
    column<ReportedForeign>("transaction", ({ hash }) => hash),
  ];
  return [
    "Payments without a transfer in the books; an order of the same payment waits for approval:",
    tableOf(payments, columns, ""),
  ];
}

function unknownText(payments: readonly UnknownPayment[]): (string | Table)[] {
  if (payments.length === 0) return [];
  return ["Payments of top-ups that the books do not have:", tableOf(payments, unknownPaymentColumns, "")];
}
