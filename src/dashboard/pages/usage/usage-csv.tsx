// The export of the page's data: the same filter, as the server's file.

import { createClient } from "@connectrpc/connect";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { transport } from "../../api/transport.ts";
import { CsvButton } from "../../components/csv-button.tsx";
import type { filterOf, rangeOf } from "./usage-search.ts";

const billing = createClient(BillingService, transport);

type UsageCsvProps = {
  readonly range: ReturnType<typeof rangeOf>;
  readonly filter: ReturnType<typeof filterOf>;
};

/** The button. A long range takes longer than a call may, so this call has no time limit. */
export function UsageCsv({ range: { first, last }, filter }: UsageCsvProps) {
  return (
    <CsvButton
      file={() => ({
        name: `saldo-${first}-${last}.csv`,
        pieces: billing.exportUsage({ filter }, { timeoutMs: 0 }),
      })}
    />
  );
}
