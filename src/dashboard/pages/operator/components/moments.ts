// Days of the billing zone in an address, as the moments that the contracts accept.

import { timestampFromDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import { beginOf, daysLater, isDay } from "../../../i18n/days.ts";

/** From the begin of the first day to the end of the last; an invalid day is omitted. */
export function momentsOf({ from, to }: { readonly from?: string; readonly to?: string }): {
  readonly from?: Timestamp;
  readonly until?: Timestamp;
} {
  return {
    ...(isDay(from) ? { from: timestampFromDate(beginOf(from)) } : {}),
    ...(isDay(to) ? { until: timestampFromDate(beginOf(daysLater(to, 1))) } : {}),
  };
}
