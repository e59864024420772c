import type { Exchange } from "./exchange.ts";
import type { GoneFacts } from "./gone-facts.ts";

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
