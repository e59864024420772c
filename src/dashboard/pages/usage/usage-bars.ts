// Turns the rows of one summary into the chart's bars: the largest models, or keys, have a colour each, the others share one.

import type { UsageSummary } from "#gen/saldo/billing/v1/usage_pb.ts";
import { type Day, daysBetween } from "../../i18n/days.ts";
import { byAmount, heightOf, sumOf } from "../../i18n/decimal.ts";
import type { Decimal } from "../../i18n/format.ts";
import { type Bar, type BarPart, OWN_COLOURS } from "../../components/stacked-bars.tsx";
import { inputOf, outputOf } from "./token-totals.ts";
import type { UsageUnit } from "./usage-search.ts";

/** The value of a row in a unit, as a decimal string. */
function valueOf(row: UsageSummary, unit: UsageUnit): Decimal {
  if (unit === "rupiah") return row.charge;
  if (unit === "requests") return String(row.requests);
  return String(inputOf(row) + outputOf(row));
}

/** What a row counts in: its model, its key's id or its person's. A row has one of them; usage of no person has none. */
const groupOf = ({ model, keyId, personId }: UsageSummary): string => model || keyId || personId;

/** `group` null stands for all others together. */
export type Share = { readonly group: string | null; readonly colour: number; readonly total: Decimal };

/** The models of a summary, its keys or its people, the largest first. */
export function sharesOf(rows: readonly UsageSummary[], unit: UsageUnit): Share[] {
  const totals = [...Map.groupBy(rows, groupOf)].map(([group, own]) => ({
    group,
    total: sumOf(own.map((row) => valueOf(row, unit))),
  }));
  const ordered = totals.toSorted(
    (one, other) => byAmount(one.total, other.total) || (one.group < other.group ? -1 : 1),
  );
  const own = ordered.slice(0, OWN_COLOURS).map((share, colour) => ({ ...share, colour }));
  const others = ordered.slice(OWN_COLOURS);
  if (others.length === 0) return own;
  return [...own, { group: null, colour: OWN_COLOURS, total: sumOf(others.map(({ total }) => total)) }];
}

type BarsOf = {
  readonly rows: readonly UsageSummary[];
  readonly unit: UsageUnit;
  readonly range: { readonly first: Day; readonly last: Day };
  readonly othersName: string;
  /** The name of a model, a key or a person as displayed. Left out: it is the model's id. */
  readonly groupName?: (group: string) => string;
  readonly dayName: (day: Day) => string;
  readonly shortDayName: (day: Day) => string;
  readonly valueName: (value: Decimal) => string;
};

/** A bar for every day of the range, including those without usage. */
export function barsOf(asked: BarsOf): Bar[] {
  const { rows, unit, range, othersName, groupName = String, dayName, shortDayName, valueName } = asked;
  const shares = sharesOf(rows, unit);
  const own = new Set(shares.flatMap(({ group }) => (group === null ? [] : [group])));
  const byDay = Map.groupBy(rows, (row) => row.day);
  return daysBetween(range.first, range.last).map((day) => {
    const ofDay = byDay.get(day) ?? [];
    const parts = shares.flatMap(({ group, colour }): BarPart[] => {
      const ofGroup = ofDay.filter((row) => (group === null ? !own.has(groupOf(row)) : groupOf(row) === group));
      if (ofGroup.length === 0) return [];
      const value = sumOf(ofGroup.map((row) => valueOf(row, unit)));
      return [
        {
          name: group === null ? othersName : groupName(group),
          colour,
          height: heightOf(value),
          value: valueName(value),
        },
      ];
    });
    const total = valueName(sumOf(ofDay.map((row) => valueOf(row, unit))));
    return { label: dayName(day), shortLabel: shortDayName(day), total, parts };
  });
}
