import { MARGIN_GROUPS, reportMargin, type MarginLine } from "../billing/usage/margin.ts";
import { DAY_MS, startOfBillingDay } from "../kernel/clock.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import { type Command, UsageError } from "./command.ts";
import { choiceOption, dayOption } from "./option-values.ts";

const MAX_DAYS = 400;

export const marginCommands: readonly Command[] = [
  {
    name: "margin",
    about: "Reports what requests brought in and what their upstreams cost, by billing days in Asia/Jakarta.",
    options: {
      from: { required: true, value: "DAY", about: "the first day, such as 2026-11-01" },
      to: { required: true, value: "DAY", about: "the last day" },
      by: { required: false, value: MARGIN_GROUPS.join("|"), about: "what the lines are about; model" },
    },
    async run(values, { database }) {
      const from = dayOption(values.need("from"), "from");
      const to = dayOption(values.need("to"), "to");
      const days = (startOfBillingDay(to) - startOfBillingDay(from)) / DAY_MS + 1;
      if (days < 1 || days > MAX_DAYS) throw new UsageError(`--to must be --from or up to ${MAX_DAYS - 1} days later`);
      const by = choiceOption(values.get("by") ?? "model", "by", MARGIN_GROUPS);
      const { lines, total } = await reportMargin((await database()).pool, { from, to, by });
      return {
        json: {
          from,
          to,
          by,
          lines: [...lines].map(([key, line]) => ({ [by]: key, ...toDecimals(line) })),
          total: toDecimals(total),
        },
        text: [...lines, ["total", total] as const].map(([key, line]) => toText(key, line)).join("\n"),
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

function toText(key: string, line: MarginLine): string {
  const { requests, revenue, credited, upstreamCost, margin, uncollected, unbilled, withoutCost } = toDecimals(line);
  const facts = `${requests} requests, Rp ${revenue} - ${credited} credited - ${upstreamCost} upstream = ${margin}`;
  const unknown = withoutCost === 0 ? "" : `, ${withoutCost} of unknown cost`;
  return `${key || "(none)"}  ${facts}; ${uncollected} uncollected, ${unbilled} unbilled${unknown}`;
}
