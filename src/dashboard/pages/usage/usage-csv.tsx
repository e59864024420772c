// The export of exactly what the page shows: the same filter, as the file the server writes.

import { createClient } from "@connectrpc/connect";
import { Download } from "lucide-react";
import { useState } from "react";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { transport } from "../../api/transport.ts";
import { useWords } from "../../language/language.tsx";
import { Button } from "../../parts/button.tsx";
import { useNotify } from "../../parts/notices.tsx";
import { filterOf, rangeOf, type UsageSearch } from "./usage-search.ts";
import { USAGE_WORDS } from "./usage-words.ts";

const billing = createClient(BillingService, transport);

/** Fetches the file piece by piece and hands it to the browser. */
export function UsageCsv({ search }: { readonly search: UsageSearch }) {
  const words = useWords(USAGE_WORDS);
  const notify = useNotify();
  const [isBusy, setBusy] = useState(false);
  const download = async () => {
    setBusy(true);
    try {
      const now = new Date();
      const { first, last } = rangeOf(search, now);
      const pieces: BlobPart[] = [];
      // A long range takes longer than a call may.
      for await (const { csv } of billing.exportUsage({ filter: filterOf(search, now) }, { timeoutMs: 0 })) {
        pieces.push(new Uint8Array(csv));
      }
      save(new Blob(pieces, { type: "text/csv;charset=utf-8" }), `saldo-${first}-${last}.csv`);
    } catch {
      notify(words.csvFailed);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button icon={<Download aria-hidden />} busy={isBusy} onClick={() => void download()}>
      {words.csv}
    </Button>
  );
}

function save(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
