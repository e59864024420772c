// A call whose client has left.

import type { ReportedUsage } from "../metering/usage-seen.ts";
import type { UpstreamFailure } from "../upstreams/chat-upstream.ts";

/** The facts of a call whose client has left. */
export type GoneFacts = {
  /** Whether the request had left us. */
  readonly sent: boolean;
  /** Whether any part of an answer had come when the call ended. */
  readonly answered: boolean;
  /** Whether the account had left as many unanswered requests as it may. */
  readonly tooMany: boolean;
  /** The upstream's failure, where it ended the call. */
  readonly failure: UpstreamFailure | null;
  /** The usage that a stream had reported until then. */
  readonly usage?: ReportedUsage;
};
