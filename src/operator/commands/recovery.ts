// What a restored service may not do until an operator has compared its books with chains and payment providers:
// admit requests, and pay.

import { withTransaction } from "../../database/transactions.ts";
import { declareAllDead } from "../../ledger/process-lease.ts";
import type { OperatorContext } from "../audit-log/operator-actions.ts";
import { stopAdmissions } from "./admission.ts";
import { stopPayouts } from "./payouts.ts";

/** Stops admissions and all payouts of a restored database, and declares the processes dead that served the former one. */
export async function closeRestored(
  by: OperatorContext,
  { until, timeline }: { readonly until: Date; readonly timeline: number },
): Promise<void> {
  const reason = `restored to ${until.toISOString()}, timeline ${timeline}: compare the books with chains and payment providers first`;
  await withTransaction(by.database, declareAllDead);
  await stopPayouts(by, { chain: "", address: "", reason });
  await stopAdmissions(by, { reason });
}
