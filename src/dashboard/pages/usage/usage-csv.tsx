// The export of exactly what the page shows: the same filter, as the file the server writes.

import { createClient } from "@connectrpc/connect";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { transport } from "../../api/transport.ts";
import { CsvButton } from "../../parts/csv-button.tsx";
import { filterOf, rangeOf, type UsageSearch } from "./usage-search.ts";

const billing = createClient(BillingService, transport);

/** The button. A long range takes longer than a call may, so there is no end to the call. */
export function UsageCsv({ search }: { readonly search: UsageSearch }) {
  return (
    <CsvButton
      file={() => {
        const now = new Date();
        const { first, last } = rangeOf(search, now);
        return {
          name: `saldo-${first}-${last}.csv`,
          pieces: billing.exportUsage({ filter: filterOf(search, now) }, { timeoutMs: 0 }),
        };
      }}
    />
  );
}
