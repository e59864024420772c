import type { Exchange } from "./exchange.ts";

/**
 * Settles a request that delivered nothing. A settlement that fails as well must not hide from the caller why nothing came;
 * recovery then sweeps the hold.
 */
export async function settleUndelivered({ bill, call, report }: Exchange): Promise<void> {
  try {
    await bill.settleFree();
  } catch (cause) {
    report({ kind: "settlement_failed", requestId: call.requestId, cause });
  }
}
