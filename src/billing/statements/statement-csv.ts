// A statement as CSV. The amounts of all lines but the last come to the last one, the closing balance.

import { formatMoney, idr } from "../../kernel/money.ts";
import { csvLine } from "../usage/csv.ts";
import { DEFAULT_TIME_ZONE, isoWriter } from "../usage/time-zone.ts";
import type { Statement } from "./statement.ts";

const COLUMNS = [
  "month",
  "type",
  "posted_at",
  "model",
  "receipt_number",
  "top_up_id",
  "count",
  "input_tokens",
  "output_tokens",
  "amount_idr",
] as const;
type Line = { readonly type: string; readonly amount: bigint } & Partial<
  Record<Exclude<(typeof COLUMNS)[number], "month" | "type" | "amount_idr">, string | bigint>
>;

/** The whole file. */
export function statementCsv(statement: Statement): string {
  const { month } = statement;
  const fieldsOf = ({ type, amount, ...more }: Line) => {
    const line: Readonly<Record<string, string | bigint>> = {
      month,
      type,
      ...more,
      amount_idr: formatMoney(idr(amount)),
    };
    return COLUMNS.map((column) => line[column] ?? "");
  };
  return [csvLine(COLUMNS), ...linesOf(statement).map((line) => csvLine(fieldsOf(line)))].join("");
}

function linesOf({ opening, closing, sums, usage, entries }: Statement): Line[] {
  const iso = isoWriter(DEFAULT_TIME_ZONE);
  return [
    { type: "opening_balance", amount: opening },
    ...entries.map(({ postedAt, reason, amount, topUpId, receiptNumber }) => ({
      type: reason,
      posted_at: iso(postedAt.getTime()),
      receipt_number: receiptNumber ?? "",
      top_up_id: topUpId ?? "",
      count: 1n,
      amount,
    })),
    // What is not listed one by one is a line for each reason.
    ...sums.flatMap(({ reason, count, amount }) => {
      const listed = entries.filter((entry) => entry.reason === reason);
      const rest = count - BigInt(listed.length);
      if (reason === "usage" || rest === 0n) return [];
      return [{ type: reason, count: rest, amount: listed.reduce((left, entry) => left - entry.amount, amount) }];
    }),
    ...usage.map(({ model, requests, inputTokens, outputTokens, charge }) => ({
      type: "usage",
      model,
      count: requests,
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      amount: -charge,
    })),
    { type: "closing_balance", amount: closing },
  ];
}
