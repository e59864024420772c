import type { Exchange } from "./exchange.ts";
import type { UpstreamFailure } from "./upstreams/chat-upstream.ts";

/**
 * Settles an answer that was not read to its end after its client had left: the input, once it was sent, and what was relayed.
 * Where nothing was relayed and the upstream failed, the client would have had nothing if it had stayed: that stays free.
 */
export async function settleGone(
  { bill }: Exchange,
  { sent, failure }: { readonly sent: boolean; readonly failure: UpstreamFailure | null },
  estimateRelayed: () => Promise<number>,
): Promise<void> {
  if (!sent) return;
  const relayed = await estimateRelayed();
  if (failure !== null && relayed === 0) return;
  await bill.settleEstimated(() => Promise.resolve(relayed));
}
