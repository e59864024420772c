// The operators' services: one file for each, which translates its contract. Commands and rules are elsewhere.

import type { HandlerContext } from "@connectrpc/connect";
import type { Database } from "../../database/database.ts";
import { createAccountService } from "./account-service.ts";
import { createCatalogService } from "./catalog-service.ts";
import { createLedgerService } from "./ledger-service.ts";
import { createMerchantAdminService } from "./merchant-admin-service.ts";
import { createApprovalService } from "./approval-service.ts";
import { createPayoutService } from "./payout-service.ts";
import type { Parts } from "./proto-parts.ts";
import { createSystemService } from "./system-service.ts";
import { createTopUpService } from "./top-up-service.ts";
import { createTransferService } from "./transfer-service.ts";

export type OperatorServicesDependencies = Omit<Parts, "operatorContext" | "secondPerson"> & {
  /** When another operator has to approve a command. Absent: never. */
  readonly secondPerson?: Parts["secondPerson"];
  /** The database that has the people, where it is another one. */
  readonly people?: Pick<Database, "pool">;
  /** The person who calls. */
  readonly operatorOf: (context: HandlerContext) => { readonly email: string };
};

/** The services as Connect serves them, by their names in `transport/calls/services.ts`. */
export function createOperatorServices({ operatorOf, people, ...dependencies }: OperatorServicesDependencies) {
  const { database } = dependencies;
  const operatorContext = (context: HandlerContext) => ({
    database,
    operator: operatorOf(context).email,
    ...(people !== undefined && { people }),
  });
  const parts: Parts = { ...dependencies, secondPerson: dependencies.secondPerson ?? null, operatorContext };
  return {
    operatorCatalog: createCatalogService(parts),
    operatorAccount: createAccountService(parts),
    operatorTopUp: createTopUpService(parts),
    operatorTransfer: createTransferService(parts),
    operatorPayout: createPayoutService(parts),
    operatorMerchant: createMerchantAdminService(parts),
    operatorLedger: createLedgerService(parts),
    operatorApproval: createApprovalService(parts),
    operatorSystem: createSystemService(parts),
  };
}
