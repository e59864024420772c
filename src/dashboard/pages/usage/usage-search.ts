// The filters of the usage page in its address.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { UsageBasis } from "#gen/saldo/billing/v1/usage_pb.ts";
import { beginOf, type Day, daysLater, isDay } from "../../i18n/days.ts";

/** How many days a preset covers, today included. */
export const PRESETS = [7, 30, 90] as const;
export const DEFAULT_DAYS = 30;

export type UsageStatus = "billed" | "free" | "failed";
type UsageTab = "days" | "requests";
/** What the chart's bars are stacked of. */
export type UsageStack = "model" | "key" | "member";
export type UsageUnit = "rupiah" | "tokens" | "requests";

/** The address; an omitted field has its default. */
export type UsageSearch = {
  readonly days?: number;
  readonly from?: Day;
  readonly to?: Day;
  readonly model?: string;
  readonly key?: string;
  /** The id of the member whose usage is shown. */
  readonly member?: string;
  readonly status?: UsageStatus;
  readonly tab?: UsageTab;
  readonly unit?: UsageUnit;
  readonly by?: UsageStack;
  /** The order of the table of days. */
  readonly sort?: string;
  /** The order of the list of requests, which the server sorts. */
  readonly order?: string;
  readonly request?: string;
};

const MOST_DAYS = 366;
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Keeps the valid fields of an address; the others count as absent. */
export function readUsageSearch(search: Readonly<Record<string, unknown>>): UsageSearch {
  const text = (name: string): string | undefined => {
    const value = search[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const one = <Value extends string>(name: string, values: readonly Value[]): Value | undefined =>
    values.find((value) => value === search[name]);
  const [from, to] = [text("from"), text("to")];
  const days = Number(search["days"]);
  const [key, member] = [text("key"), text("member")];
  return dropUndefined({
    days: Number.isInteger(days) && days >= 1 && days <= MOST_DAYS ? days : undefined,
    ...(isDay(from) && isDay(to) && from <= to ? { from, to } : {}),
    model: text("model"),
    key: key !== undefined && ID.test(key) ? key : undefined,
    member: member !== undefined && ID.test(member) ? member : undefined,
    status: one("status", ["billed", "free", "failed"]),
    tab: one("tab", ["requests"]),
    unit: one("unit", ["tokens", "requests"]),
    by: one("by", ["key", "member"]),
    sort: text("sort"),
    order: text("order"),
    request: text("request"),
  });
}

/** Whether there are filters besides the range of days. */
export function isFiltered({ model, key, member, status }: UsageSearch): boolean {
  return [model, key, member, status].some((filter) => filter !== undefined);
}

/** The first and the last day of the range, on a given day. */
export function rangeOf({ days, from, to }: UsageSearch, today: Day): { readonly first: Day; readonly last: Day } {
  if (from !== undefined && to !== undefined) return { first: from, last: to };
  return { first: daysLater(today, 1 - (days ?? DEFAULT_DAYS)), last: today };
}

/** The filter of the contract: the same for sums, list and export. */
export function filterOf(search: UsageSearch, today: Day) {
  const { first, last } = rangeOf(search, today);
  return {
    from: timestampFromDate(beginOf(first)),
    until: timestampFromDate(beginOf(daysLater(last, 1))),
    model: search.model ?? "",
    keyId: search.key ?? "",
    personId: search.member ?? "",
    bases: BASES[search.status ?? "all"],
    failed: search.status === "failed",
  };
}

/** How the tokens of answered requests were counted. */
export const ANSWERED: UsageBasis[] = [
  UsageBasis.EXACT,
  UsageBasis.DRAINED,
  UsageBasis.ESTIMATED,
  UsageBasis.RECOVERED,
];

const BASES: Readonly<Record<UsageStatus | "all", UsageBasis[]>> = {
  all: [],
  billed: ANSWERED,
  free: [UsageBasis.FREE],
  // Charged or not: a stream that broke off is charged for what was delivered.
  failed: [],
};

type Defined<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

function dropUndefined<Fields extends object>(fields: Fields): Defined<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<Fields>;
}
