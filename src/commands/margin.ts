import { setTimeout as sleep } from "node:timers/promises";
import { MARGIN_GROUPS, reportMargin, type MarginLine } from "../billing/usage/margin.ts";
import { DAY_MS, startOfBillingDay } from "../kernel/clock.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import { rupiahText } from "../kernel/rupiah-text.ts";
import { type Command, UsageError } from "./command.ts";
import { choiceOption, dayOption } from "./option-values.ts";
import { type Cell, type Column, column, numbers, tableOf } from "./table.ts";

const MAX_DAYS = 400;
/** How often it is looked whether a standby is close behind, before the primary is read. */
const LOOKS = 3;
const LOOK_PAUSE_MS = 500;

export const marginCommands: readonly Command[] = [
  {
    name: "margin",
    about: "Reports what requests brought in and what their upstreams cost, by billing days in Asia/Jakarta.",
    options: {
      from: { required: true, value: "DAY", about: "the first day, such as 2026-11-01" },
      to: { required: true, value: "DAY", about: "the last day" },
      by: {
        required: false,
        value: MARGIN_GROUPS.join("|"),
        about: "what the lines are about; model",
        choices: MARGIN_GROUPS,
      },
    },
    async run(values, { database }) {
      const from = dayOption(values.need("from"), "from");
      const to = dayOption(values.need("to"), "to");
      const days = (startOfBillingDay(to) - startOfBillingDay(from)) / DAY_MS + 1;
      if (days < 1 || days > MAX_DAYS) throw new UsageError(`--to must be --from or up to ${MAX_DAYS - 1} days later`);
      const by = choiceOption(values.get("by") ?? "model", "by", MARGIN_GROUPS);
      const { reads } = await database();
      await reads.lookOften(LOOKS, () => sleep(LOOK_PAUSE_MS));
      const read = reads.beginRead();
      const { lines, total } = await reportMargin(read, { from, to, by });
      return {
        json: {
          from,
          to,
          by,
          lines: [...lines].map(([key, line]) => ({ [by]: key, ...toDecimals(line) })),
          total: toDecimals(total),
          ...(read.asOf === null ? {} : { asOf: read.asOf.toISOString() }),
        },
        text: tableOf(lines, columnsOf(by, total), "There were no requests on these days."),
      };
    },
  },
];

function toDecimals({ requests, withoutCost, ...money }: MarginLine) {
  return {
    requests,
    revenue: formatMoney(idr(money.revenue)),
    credited: formatMoney(idr(money.credited)),
    upstreamCost: formatMoney(idr(money.upstreamCost)),
    margin: formatMoney(idr(money.margin)),
    uncollected: formatMoney(idr(money.uncollected)),
    unbilled: formatMoney(idr(money.unbilled)),
    withoutCost,
  };
}

function columnsOf(by: string, total: MarginLine): Column<readonly [string, MarginLine]>[] {
  const figure = (name: string, member: keyof MarginLine): Column<readonly [string, MarginLine]> =>
    numbers(name, ([, line]) => cell(line, member), cell(total, member));
  return [
    column(by, ([key]) => key || "(none)"),
    figure("requests", "requests"),
    figure("revenue", "revenue"),
    figure("credited", "credited"),
    figure("upstream cost", "upstreamCost"),
    figure("margin", "margin"),
    figure("uncollected", "uncollected"),
    figure("unbilled", "unbilled"),
    figure("of unknown cost", "withoutCost"),
  ];
}

function cell(line: MarginLine, member: keyof MarginLine): Cell {
  const figure = line[member];
  return typeof figure === "bigint" ? rupiahText(idr(figure)) : figure;
}
