import type { Exchange } from "./exchange.ts";
import { CLIENT_LEFT } from "./failure-of.ts";
import type { GoneFacts } from "./gone-facts.ts";

/**
 * Settles an answer that was not read to its end after its client had left. Where the answer has begun, the input and the relayed
 * output are charged. Where it has not, nothing is charged, except the input of an account that leaves many requests. It is
 * also free where the upstream failed before any output: the client would have got nothing either.
 */
export async function settleGone(
  { bill }: Exchange,
  { sent, answered, tooMany, failure, usage }: GoneFacts,
  estimateRelayed: () => Promise<number>,
): Promise<void> {
  bill.failed(CLIENT_LEFT);
  if (!sent) return;
  const relayed = answered ? await estimateRelayed() : 0;
  const isFree = failure === null ? !answered && !tooMany : relayed === 0;
  if (!isFree) await bill.settleEstimated(() => Promise.resolve(relayed), usage);
  else if (failure === null || failure.kind === "perhaps_billed") bill.attemptLost();
}
