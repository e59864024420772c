// How upstreams do, as a process sees it: what its gateway reports of failures and settles for answers.

import type { GatewayEvent } from "../../gateway/answer/exchange.ts";
import { UpstreamCounts } from "../../gateway/upstreams/upstream-figures.ts";
import type { Ledger, Settlement } from "../../ledger/ledger.ts";

export type WatchedUpstreams = {
  readonly counts: UpstreamCounts;
  /** The ledger, whose settlements are counted as they are asked for. */
  readonly ledger: Ledger;
  readonly report: (event: GatewayEvent) => void;
};

/** Puts the counts between a gateway and what it reports to. */
export function watchUpstreams(ledger: Ledger, report: (event: GatewayEvent) => void): WatchedUpstreams {
  const counts = new UpstreamCounts();
  return {
    counts,
    ledger: {
      admit: (request) => ledger.admit(request),
      extend: (request) => ledger.extend(request),
      settle(settlement) {
        if (isAnswered(settlement)) counts.answered(settlement.upstream, settlement.firstByteMs);
        return ledger.settle(settlement);
      },
    },
    report(event) {
      if (event.kind === "upstream_mixed_up") counts.failed(event.upstream, MIXED_UP);
      // An upstream that finds a request wrong does its work.
      const failed = event.kind === "attempt_failed" || event.kind === "stream_broken";
      if (failed && event.failure.kind !== "refused") counts.failed(event.upstream, event.failure.reason);
      report(event);
    },
  };
}

/** What an operator reads of an upstream's last failure. */
const MIXED_UP = "it sent bytes that answer no request; connections are not used again";

function isAnswered(settlement: Settlement): settlement is Settlement & { readonly upstream: string } {
  return settlement.upstream !== null && settlement.basis !== "free";
}
