// Decisions for an operator: transfers of the demo's merchant, one of which waits for approval, and a stopped wallet.

import { findDemo } from "../../src/app/demo/demo.ts";
import { seedTransfers } from "../../src/app/demo/seed/seed-transfers.ts";
import type { Database } from "../../src/database/database.ts";
import { createSandboxChain } from "../../src/merchant/chains/sandbox/sandbox-chain.ts";
import { haltWallet, openWallet } from "../../src/merchant/payouts/wallet-store.ts";
import { systemClock } from "../../src/kernel/clock.ts";

/** Orders them. Returns the demo's account and merchant. */
export async function orderSeededTransfers(database: Database): Promise<{ accountId: string; merchantId: string }> {
  const demo = await findDemo(database);
  await seedTransfers(database, { database, operator: "set-up" }, demo.merchantId);
  return demo;
}

/** Stops the sandbox's wallet as if its key had been used elsewhere. */
export async function stopSandboxWallet(database: Database): Promise<void> {
  const chain = createSandboxChain(database, systemClock);
  const { walletId } = await openWallet(database.pool, {
    chain: chain.name,
    address: chain.wallet,
    nextNonce: await chain.nextNonce(),
  });
  await haltWallet(database.pool, walletId, "The nonce 0 was used by <b>0xabc</b>, which is not ours.");
}
