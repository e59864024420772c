// A call whose client has left.

import type { ReportedUsage } from "../metering/usage-seen.ts";
import type { UpstreamFailure } from "../upstreams/chat-upstream.ts";

/** What is known of a call whose client has left. */
export type GoneFacts = {
  /** Whether the request had left us. */
  readonly sent: boolean;
  /** Whether any part of an answer had come when the call ended. */
  readonly answered: boolean;
  /** Whether the account had left as many unanswered requests as it may. */
  readonly tooMany: boolean;
  /** Where the end was the upstream's doing. */
  readonly failure: UpstreamFailure | null;
  /** What a stream had reported of its usage until then. */
  readonly usage?: ReportedUsage;
};
