import { recountUsage } from "../billing/usage/roll-up.ts";
import { inputTokensOf } from "../billing/cost.ts";
import { billedPricesOf, failureOf, longContextAbove } from "../billing/usage/usage-export.ts";
import { listUsage } from "../billing/usage/usage.ts";
import type { UsageRecord } from "../billing/usage/usage-record.ts";
import { timeOfUuidv7 } from "../kernel/ids.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import { rupiahText } from "../kernel/rupiah-text.ts";
import { readCredited } from "../ledger/credit-note.ts";
import { creditUsage } from "../operator/commands/accounts.ts";
import type { Command } from "./command.ts";
import { operatorHere } from "./operator-here.ts";
import { amountOption, integerOption, uuidOption } from "./option-values.ts";
import { type Column, column, numbers, tableOf } from "./table.ts";
import { accountFrom, accountOption } from "./which-account.ts";

export const usageCommands: readonly Command[] = [
  {
    name: "usage list",
    about: "Lists an account's requests, newest first.",
    options: {
      account: accountOption,
      limit: { required: false, value: "N", about: "how many, 1 to 1000; 50" },
    },
    async run(values, { database }) {
      const { pool } = await database();
      const accountId = await accountFrom(values, database);
      const { items: records } = await listUsage(pool, {
        accountId,
        filter: {},
        pageSize: integerOption(values.get("limit") ?? "50", "limit", { min: 1, max: 1000 }),
        pageToken: "",
      });
      const requestIds = records.map(({ requestId }) => requestId);
      const credited = await readCredited(pool, { accountId, requestIds });
      const total = totalOf(records, credited);
      return {
        json: {
          records: records.map((record) => toJson(record, credited.get(record.requestId) ?? 0n)),
          total: {
            requests: records.length,
            inputTokens: Number(total.inputTokens),
            outputTokens: Number(total.outputTokens),
            charge: rupiah(total.charge),
            credited: rupiah(total.credited),
          },
        },
        text: tableOf(records, columnsOf(total, credited), "The account has made no request."),
      };
    },
  },
  {
    name: "usage recount",
    about: "Recomputes the sums of an account's usage from its records, after an audit has found them wrong.",
    options: { account: accountOption },
    async run(values, { database }) {
      const accountId = await accountFrom(values, database);
      return { json: { stretches: await recountUsage((await database()).pool, accountId) } };
    },
  },
  {
    name: "usage credit",
    about: "Writes a credit note: gives back what a request was charged, whole or in part, never more than its charge.",
    options: {
      "request-id": { required: true, value: "ID", about: "the request" },
      amount: { required: false, value: "RUPIAH", about: "how much; all that is left of the charge" },
      reason: { required: true, value: "R", about: "why, for the ledger" },
      name: { required: false, value: "N", about: "distinguishes several notes of a request; each name credits once" },
    },
    async run(values, { database }) {
      const requestId = uuidOption(values.need("request-id"), "request-id");
      const amount = values.get("amount");
      const note = await creditUsage(await operatorHere(database), {
        requestId,
        amount: amount === undefined ? null : amountOption(amount),
        note: values.need("reason"),
        name: values.get("name") ?? null,
      });
      return {
        json: {
          postingId: note.postingId,
          accountId: note.accountId,
          amount: formatMoney(idr(note.amount)),
          credited: formatMoney(idr(note.credited)),
          left: formatMoney(idr(note.left)),
        },
      };
    },
  },
];

type Total = Readonly<Record<"inputTokens" | "outputTokens" | "charge" | "credited", bigint>>;
type Credited = ReadonlyMap<string, bigint>;

/** The sums of what is listed. */
function totalOf(records: readonly UsageRecord[], credited: Credited): Total {
  const sum = (of: (record: UsageRecord) => bigint): bigint =>
    records.reduce((total, record) => total + of(record), 0n);
  return {
    inputTokens: sum((record) => BigInt(inputTokensOf(record))),
    outputTokens: sum(({ outputTokens }) => BigInt(outputTokens)),
    charge: sum(({ charge, lateCharge }) => charge + lateCharge),
    credited: sum(({ requestId }) => credited.get(requestId) ?? 0n),
  };
}

function columnsOf(total: Total, credited: Credited): Column<UsageRecord>[] {
  return [
    column("created at", ({ requestId }) => new Date(timeOfUuidv7(requestId))),
    column("request", ({ requestId }) => requestId),
    column("model", ({ model }) => model),
    column("basis", ({ basis }) => basis),
    column("failure", (record) => failureOf(record)?.code ?? null),
    numbers("input", inputTokensOf, total.inputTokens),
    numbers("output", ({ outputTokens }) => outputTokens, total.outputTokens),
    numbers("rupiah", ({ charge, lateCharge }) => rupiahText(idr(charge + lateCharge)), rupiahText(idr(total.charge))),
    numbers(
      "credited",
      ({ requestId }) => rupiahText(idr(credited.get(requestId) ?? 0n)),
      rupiahText(idr(total.credited)),
    ),
  ];
}

const rupiah = (units: bigint): string => formatMoney(idr(units));

/** A record with everything that explains its charge; a price per kind of token, as it was billed. */
function toJson(record: UsageRecord, credited: bigint) {
  const { inputPrice, outputPrice, cacheHitPrice, otherPrices: _, cost, charge, upstreamCost, ...facts } = record;
  return {
    ...facts,
    createdAt: new Date(timeOfUuidv7(record.requestId)).toISOString(),
    settledAt: record.settledAt.toISOString(),
    inputTokens: inputTokensOf(record),
    inputPrice: rupiah(inputPrice),
    outputPrice: rupiah(outputPrice),
    cacheHitPrice: cacheHitPrice === null ? null : rupiah(cacheHitPrice),
    billedPrices: Object.fromEntries(
      Object.entries(billedPricesOf(record)).map(([kind, price]) => [kind, rupiah(price)]),
    ),
    longContextAbove: longContextAbove(record),
    failure: failureOf(record) ?? null,
    cost: rupiah(cost),
    costOfTokens: rupiah(record.costOfTokens),
    charge: rupiah(charge),
    lateCharge: rupiah(record.lateCharge),
    unbilledCost: rupiah(record.unbilledCost ?? 0n),
    upstreamCost: upstreamCost === null ? null : rupiah(upstreamCost),
    credited: rupiah(credited),
  };
}
