// Translates margin reports to their contract.

import { MarginGroup as ProtoGroup } from "#gen/saldo/operator/v1/margin_pb.ts";
import { MARGIN_GROUPS, type MarginGroup, type MarginLine, type reportMargin } from "../../billing/usage/margin.ts";
import { DAY_MS, isBillingDay, startOfBillingDay } from "../../kernel/clock.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { rupiah } from "./proto-parts.ts";

/** The days of one report: it reads by the hour and gently, and an operator waits for it. */
const MAX_MARGIN_DAYS = 31;
const MAX_MARGIN_LINES = 1_000;

const protoGroup = {
  model: ProtoGroup.MODEL,
  upstream: ProtoGroup.UPSTREAM,
  account: ProtoGroup.ACCOUNT,
} as const satisfies Record<MarginGroup, ProtoGroup>;

/** What the lines are about. */
export function fromProtoGroup(by: ProtoGroup): MarginGroup {
  return MARGIN_GROUPS.find((group) => protoGroup[group] === by) ?? "model";
}

/** Errors: ValidationError for days that are none, or for too many. */
export function requireMarginDays(from: string, to: string): void {
  for (const [field, day] of Object.entries({ from, to })) {
    if (!isBillingDay(day)) throw wrongDay(field, "must be a day such as 2026-11-21");
  }
  const days = (startOfBillingDay(to) - startOfBillingDay(from)) / DAY_MS + 1;
  if (days < 1 || days > MAX_MARGIN_DAYS) {
    throw wrongDay("to", `must be the first day or up to ${MAX_MARGIN_DAYS - 1} days later`);
  }
}

function wrongDay(field: string, message: string): ValidationError {
  return new ValidationError([{ field, rule: "margin.days", message }]);
}

/** The report, without the lines above the largest number of them. */
export function toProtoMargin({ lines, total }: Awaited<ReturnType<typeof reportMargin>>) {
  const shown = [...lines].slice(0, MAX_MARGIN_LINES);
  return { lines: shown.map(([key, line]) => toProtoLine(key, line)), total: toProtoLine("", total) };
}

function toProtoLine(key: string, { requests, withoutCost, ...money }: MarginLine) {
  return {
    key,
    requests,
    revenue: rupiah(money.revenue),
    credited: rupiah(money.credited),
    upstreamCost: rupiah(money.upstreamCost),
    margin: rupiah(money.margin),
    uncollected: rupiah(money.uncollected),
    unbilled: rupiah(money.unbilled),
    withoutCost,
  };
}
