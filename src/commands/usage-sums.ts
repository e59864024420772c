// Sums of an account's usage by model, key or member, for the days that are named.

import { groupByPerson, type UsageSummaryRow, type UsageSum, summarizeUsage } from "../billing/usage/summary.ts";
import type { Database } from "../database/database.ts";
import { MAX_MEMBERS } from "../identity/members/members.ts";
import { readMembers } from "../identity/members/member-store.ts";
import { DAY_MS, startOfBillingDay } from "../kernel/clock.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import { rupiahText } from "../kernel/rupiah-text.ts";
import { readKeyMakers, readKeyNames } from "../keys/issued-keys-store.ts";
import { type Command, UsageError } from "./command.ts";
import { choiceOption, dayOption } from "./option-values.ts";
import { type Column, column, numbers, tableOf } from "./table.ts";
import { accountFrom, accountOption } from "./which-account.ts";

const GROUPS = ["model", "key", "member"] as const;
type Group = (typeof GROUPS)[number];
type Counts = Pick<UsageSum, "requests" | "charge"> & { readonly inputTokens: bigint; readonly outputTokens: bigint };
/** A line: what it is about, its name for people, and its sums. */
type Line = Counts & { readonly id: string; readonly name: string };

const NOTHING: Counts = { requests: 0n, inputTokens: 0n, outputTokens: 0n, charge: 0n };

export const usageSumCommands: readonly Command[] = [
  {
    name: "usage sum",
    about: "Sums an account's usage by model, key or member, by billing days in Asia/Jakarta.",
    options: {
      account: accountOption,
      by: { required: false, value: GROUPS.join("|"), about: "what the lines are about; model", choices: GROUPS },
      from: { required: false, value: "DAY", about: "the first day, such as 2026-11-01; left out: from the beginning" },
      to: { required: false, value: "DAY", about: "the last day; left out: until now" },
    },
    async run(values, { database }) {
      const by = choiceOption(values.get("by") ?? "model", "by", GROUPS);
      const range = rangeFrom(values.get("from"), values.get("to"));
      const accountId = await accountFrom(values, database);
      const lines = await linesBy(by, await database(), { accountId, filter: range });
      const total = lines.reduce(add, NOTHING);
      return {
        json: {
          by,
          lines: lines.map((line) => ({
            [by]: line.id,
            ...(by === "model" ? {} : { name: line.name }),
            ...toJson(line),
          })),
          total: toJson(total),
        },
        text: tableOf(lines, columnsOf(by, total), "There was no request."),
      };
    },
  },
];

type Range = { readonly fromMs?: number; readonly untilMs?: number };

function rangeFrom(from: string | undefined, to: string | undefined): Range {
  const fromMs = from === undefined ? undefined : startOfBillingDay(dayOption(from, "from"));
  const untilMs = to === undefined ? undefined : startOfBillingDay(dayOption(to, "to")) + DAY_MS;
  if (fromMs !== undefined && untilMs !== undefined && fromMs >= untilMs)
    throw new UsageError("--to must not be before --from");
  return { ...(fromMs === undefined ? {} : { fromMs }), ...(untilMs === undefined ? {} : { untilMs }) };
}

/** The lines, the dearest first. */
async function linesBy(
  by: Group,
  { pool }: Database,
  query: { readonly accountId: string; readonly filter: Range },
): Promise<Line[]> {
  const { accountId } = query;
  const summary = await summarizeUsage(pool, { ...query, grouping: by === "model" ? "model_and_day" : "key" });
  if (by === "model") return grouped(summary.rows, ({ model }) => model, new Map());
  if (by === "key") return grouped(summary.rows, ({ keyId }) => keyId, await readKeyNames(pool, accountId));
  const members = await readMembers(pool, accountId, MAX_MEMBERS);
  const emails = new Map(members.map(({ personId, email }) => [personId, email]));
  const { rows } = groupByPerson(summary, await readKeyMakers(pool, accountId));
  return grouped(rows, ({ personId = "" }) => personId, emails);
}

function grouped(
  rows: readonly UsageSummaryRow[],
  idOf: (row: UsageSummaryRow) => string,
  names: ReadonlyMap<string, string>,
): Line[] {
  return [...Map.groupBy(rows, idOf)]
    .map(([id, own]) => ({ id, name: names.get(id) ?? "", ...own.map(countsOf).reduce(add, NOTHING) }))
    .toSorted((one, other) => Number(other.charge - one.charge) || (one.id < other.id ? -1 : 1));
}

function countsOf(row: UsageSummaryRow): Counts {
  const { requests, charge, outputTokens, imageOutput } = row;
  const input = [row.inputTokensUncached, row.inputTokensCached, row.cacheWrite, row.cacheWrite1h];
  const inputTokens = [...input, row.audioInput, row.imageInput].reduce((sum, tokens) => sum + tokens, 0n);
  return { requests, charge, inputTokens, outputTokens: outputTokens + imageOutput };
}

function add(one: Counts, other: Counts): Counts {
  return {
    requests: one.requests + other.requests,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    charge: one.charge + other.charge,
  };
}

function columnsOf(by: Group, total: Counts): Column<Line>[] {
  return [
    ...(by === "model" ? [] : [column<Line>("name", ({ name }) => name)]),
    column<Line>(by, ({ id }) => id || "(none)"),
    numbers<Line>("requests", ({ requests }) => requests, total.requests),
    numbers<Line>("input", ({ inputTokens }) => inputTokens, total.inputTokens),
    numbers<Line>("output", ({ outputTokens }) => outputTokens, total.outputTokens),
    numbers<Line>("rupiah", ({ charge }) => rupiahText(idr(charge)), rupiahText(idr(total.charge))),
  ];
}

function toJson({ requests, inputTokens, outputTokens, charge }: Counts) {
  return {
    requests: Number(requests),
    inputTokens: Number(inputTokens),
    outputTokens: Number(outputTokens),
    charge: formatMoney(idr(charge)),
  };
}
