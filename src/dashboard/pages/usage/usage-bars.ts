// Turns the rows of one summary into the chart's bars: the largest models have a colour each, the others share one.

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

export type ModelShare = { readonly model: string | null; readonly colour: number; readonly total: Decimal };

/** The models of a summary, the largest first; `model` null stands for all others together. */
export function sharesOf(rows: readonly UsageSummary[], unit: UsageUnit): ModelShare[] {
  const totals = [...Map.groupBy(rows, (row) => row.model)].map(([model, own]) => ({
    model,
    total: sumOf(own.map((row) => valueOf(row, unit))),
  }));
  const ordered = totals.toSorted(
    (one, other) => byAmount(one.total, other.total) || (one.model < other.model ? -1 : 1),
  );
  const own = ordered.slice(0, OWN_COLOURS).map((share, colour) => ({ ...share, colour }));
  const others = ordered.slice(OWN_COLOURS);
  if (others.length === 0) return own;
  return [...own, { model: null, colour: OWN_COLOURS, total: sumOf(others.map(({ total }) => total)) }];
}

type BarsOf = {
  readonly rows: readonly UsageSummary[];
  readonly unit: UsageUnit;
  readonly range: { readonly first: Day; readonly last: Day };
  readonly othersName: string;
  readonly dayName: (day: Day) => string;
  readonly shortDayName: (day: Day) => string;
  readonly valueName: (value: Decimal) => string;
};

/** A bar for every day of the range, including those without usage. */
export function barsOf({ rows, unit, range, othersName, dayName, shortDayName, valueName }: BarsOf): Bar[] {
  const shares = sharesOf(rows, unit);
  const ownModels = new Set(shares.flatMap(({ model }) => (model === null ? [] : [model])));
  const byDay = Map.groupBy(rows, (row) => row.day);
  return daysBetween(range.first, range.last).map((day) => {
    const ofDay = byDay.get(day) ?? [];
    const parts = shares.flatMap(({ model, colour }): BarPart[] => {
      const own = ofDay.filter((row) => (model === null ? !ownModels.has(row.model) : row.model === model));
      if (own.length === 0) return [];
      const value = sumOf(own.map((row) => valueOf(row, unit)));
      return [{ name: model ?? othersName, colour, height: heightOf(value), value: valueName(value) }];
    });
    const total = valueName(sumOf(ofDay.map((row) => valueOf(row, unit))));
    return { label: dayName(day), shortLabel: shortDayName(day), total, parts };
  });
}
