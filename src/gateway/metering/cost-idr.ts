import { formatMoney, idr } from "../../kernel/money.ts";
import type { BilledUsage } from "./bill.ts";

/** What a caller paid, a decimal string in rupiah. */
export function costIdr(billed: Pick<BilledUsage, "settled">): string {
  return formatMoney(idr(billed.settled.charge));
}
