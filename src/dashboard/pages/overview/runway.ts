// How long a balance lasts at the recent rate. It is an estimate for planning; billing does not use it.

import type { UsageSummary } from "#gen/saldo/billing/v1/usage_pb.ts";
import { type Day, daysLater } from "../../i18n/days.ts";
import { sumOf, unitsOf } from "../../i18n/decimal.ts";
import type { Decimal } from "../../i18n/format.ts";

/** How many days are averaged, today included. */
const LOOKED_BACK = 7;

/** The cost from a day on. */
export function spentSince(rows: readonly UsageSummary[], first: Day): Decimal {
  return sumOf(rows.filter(({ day }) => day >= first).map(({ charge }) => charge));
}

/** Whole days that the balance lasts. Null: nothing was spent, so there is no estimate. */
export function runwayOf(available: Decimal, rows: readonly UsageSummary[], today: Day): bigint | null {
  const spent = unitsOf(spentSince(rows, daysLater(today, 1 - LOOKED_BACK)));
  return spent === 0n ? null : (unitsOf(available) * BigInt(LOOKED_BACK)) / spent;
}
