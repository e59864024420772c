// OperatorService: the contract side of all that operators look at and order. Each file proto-….ts translates the methods of one
// subject; orders and rules are elsewhere.

import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { OperatorService } from "#gen/saldo/operator/v1/operator_service_pb.ts";
import type { CatalogPresets } from "../../catalog/apply-catalog.ts";
import type { TopUp } from "../../billing/top-ups/top-up.ts";
import type { Database } from "../../database/database.ts";
import type { DailyCaps } from "../../merchant/payouts/daily-cap.ts";
import type { PayoutChain } from "../../merchant/chains/payout-chain.ts";
import { accountMethods } from "./proto-accounts.ts";
import { catalogMethods } from "./proto-catalog.ts";
import { ledgerMethods } from "./proto-ledger.ts";
import { merchantMethods } from "./proto-merchants.ts";
import { operationMethods } from "./proto-operation.ts";
import { orderMethods } from "./proto-orders.ts";
import { topUpMethods } from "./proto-top-ups.ts";
import { transferMethods } from "./proto-transfers.ts";
import { upstreamMethods } from "./proto-upstreams.ts";
import { walletMethods } from "./proto-wallets.ts";
import type { SecondPersonRule } from "../second-person/second-person.ts";

export type OperatorServiceDependencies = CatalogPresets & {
  readonly database: Database;
  /** Whether a variable of the environment is set. */
  readonly isSet: (variable: string) => boolean;
  /** Asks the provider of a top-up now; for its errors see verifyTopUpNow. */
  readonly verifyTopUp: (topUpId: string) => Promise<TopUp>;
  /** The chains that transfers are paid on in this process. */
  readonly payoutChains: readonly PayoutChain[];
  /** What goes out on a day at most, by chain. Absent: no caps. */
  readonly dailyCaps?: Readonly<Record<string, DailyCaps>>;
  /** When another operator has to approve an order. Absent: never. */
  readonly secondPerson?: SecondPersonRule | null;
  /** The person who calls. */
  readonly operatorOf: (context: HandlerContext) => { readonly email: string };
};

/** The service as Connect serves it. */
export function createOperatorService(dependencies: OperatorServiceDependencies) {
  const { database, operatorOf } = dependencies;
  const orderedBy = (context: HandlerContext) => ({ database, operator: operatorOf(context).email });
  const parts = { ...dependencies, secondPerson: dependencies.secondPerson ?? null, orderedBy };
  return {
    ...catalogMethods(parts),
    ...accountMethods(parts),
    ...merchantMethods(parts),
    ...ledgerMethods(parts),
    ...operationMethods(parts),
    ...orderMethods(parts),
    ...upstreamMethods(parts),
    ...topUpMethods(parts),
    ...transferMethods(parts),
    ...walletMethods(parts),
  } satisfies ServiceImpl<typeof OperatorService>;
}
