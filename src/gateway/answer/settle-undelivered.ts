import type { Exchange } from "./exchange.ts";

/**
 * Settles a request that delivered nothing. Where the settlement fails too, the caller still gets the first error, and recovery
 * sweeps the hold.
 */
export async function settleUndelivered({ bill, call, report }: Exchange): Promise<void> {
  try {
    await bill.settleFree();
  } catch (cause) {
    report({ kind: "settlement_failed", requestId: call.requestId, cause });
  }
}
