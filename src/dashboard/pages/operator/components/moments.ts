// Days of the billing zone in an address, as the moments that the contracts take.

import { timestampFromDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import { beginOf, daysLater, isDay } from "../../../i18n/days.ts";

/** From the first day's begin until the last day's end; what is no day is left out. */
export function momentsOf({ from, to }: { readonly from?: string; readonly to?: string }): {
  readonly from?: Timestamp;
  readonly until?: Timestamp;
} {
  return {
    ...(isDay(from) ? { from: timestampFromDate(beginOf(from)) } : {}),
    ...(isDay(to) ? { until: timestampFromDate(beginOf(daysLater(to, 1))) } : {}),
  };
}
