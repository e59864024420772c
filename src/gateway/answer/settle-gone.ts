import type { Exchange } from "./exchange.ts";
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

/**
 * Settles an answer that was not read to its end after its client had left. Once the upstream has begun to answer: the input
 * and what was relayed. Without an answer nothing is charged, except for the input of requests that an account leaves in
 * numbers. Where nothing was relayed and the upstream failed, the client would have had nothing if it had stayed: that is
 * free as well.
 */
export async function settleGone(
  { bill }: Exchange,
  { sent, answered, tooMany, failure, usage }: GoneFacts,
  estimateRelayed: () => Promise<number>,
): Promise<void> {
  if (!sent) return;
  const relayed = answered ? await estimateRelayed() : 0;
  const isFree = failure === null ? !answered && !tooMany : relayed === 0;
  if (!isFree) await bill.settleEstimated(() => Promise.resolve(relayed), usage);
  else if (failure === null || failure.kind === "perhaps_billed") bill.attemptLost();
}
