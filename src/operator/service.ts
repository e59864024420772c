// OperatorService: the contract side of all that operators look at and order. Each file proto-….ts translates the methods of one
// subject; orders and rules are elsewhere.

import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { OperatorService } from "#gen/saldo/operator/v1/operator_service_pb.ts";
import type { OrderedBy } from "../accounts/operator-actions.ts";
import type { CatalogPresets } from "../catalog/apply-catalog.ts";
import type { TopUp } from "../billing/top-ups/top-up.ts";
import type { Database } from "../database/database.ts";
import type { PayoutChain } from "../merchant/chains/payout-chain.ts";
import { accountMethods } from "./proto-accounts.ts";
import { catalogMethods } from "./proto-catalog.ts";
import { ledgerMethods } from "./proto-ledger.ts";
import { merchantMethods } from "./proto-merchants.ts";
import { operationMethods } from "./proto-operation.ts";
import { topUpMethods } from "./proto-top-ups.ts";
import { transferMethods } from "./proto-transfers.ts";
import { upstreamMethods } from "./proto-upstreams.ts";
import { walletMethods } from "./proto-wallets.ts";

export type OperatorServiceDependencies = CatalogPresets & {
  readonly database: Database;
  /** Whether a variable of the environment is set. */
  readonly isSet: (variable: string) => boolean;
  /** Asks the provider of a top-up now; its errors are told at verifyTopUpNow. */
  readonly verifyTopUp: (topUpId: string) => Promise<TopUp>;
  /** The chains that transfers are paid on in this process. */
  readonly payoutChains: readonly PayoutChain[];
  /** The person who calls. */
  readonly operatorOf: (context: HandlerContext) => { readonly email: string };
};

/** The service as Connect serves it. */
export function createOperatorService(dependencies: OperatorServiceDependencies) {
  const { database, operatorOf } = dependencies;
  const orderedBy = (context: HandlerContext): OrderedBy => ({ database, operator: operatorOf(context).email });
  const parts = { ...dependencies, orderedBy };
  return {
    ...catalogMethods(parts),
    ...accountMethods(parts),
    ...merchantMethods(parts),
    ...ledgerMethods(parts),
    ...operationMethods(parts),
    ...upstreamMethods(parts),
    ...topUpMethods(parts),
    ...transferMethods(parts),
    ...walletMethods(parts),
  } satisfies ServiceImpl<typeof OperatorService>;
}
