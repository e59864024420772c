// What operators read and command, built from the parts of a serving process.

import { recordAction } from "../../operator/audit-log/operator-actions.ts";
import { isSellerMissing } from "../../billing/receipts/issue-receipts.ts";
import { presetCatalog } from "./catalog.ts";
import type { Payouts } from "./payouts.ts";
import { sellerByDefault } from "./receipts.ts";
import type { TopUps } from "../../billing/top-ups/top-ups.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../../database/database.ts";
import { withRetry, withTransaction } from "../../database/transactions.ts";
import { createOperatorServices } from "../../operator/rpc/services.ts";
import { operatorOf } from "../../transport/calls/callers.ts";
import type { CallPorts } from "../../transport/calls/interceptors.ts";

/** The operators' services of a configuration. */
export function operatorServices(
  {
    config,
    database,
    people,
  }: { readonly config: Config; readonly database: Database; readonly people?: Database | undefined },
  {
    topUps,
    payouts,
  }: { readonly topUps: Pick<TopUps, "verifyNow">; readonly payouts: Pick<Payouts, "chains" | "dailyCaps"> },
) {
  const isSet = (variable: string): boolean => (config.variable(variable) ?? "") !== "";
  return createOperatorServices({
    database,
    ...(people !== undefined && { people }),
    operatorOf,
    isSet,
    verifyNow: topUps.verifyNow,
    payoutChains: payouts.chains,
    dailyCaps: payouts.dailyCaps,
    secondPerson: config.secondPerson,
    // Where balance cannot be bought, there is nothing to issue a receipt for.
    isSellerMissing: async () =>
      config.payments.chosen !== null && (await isSellerMissing(database.pool, sellerByDefault(config))),
    ...presetCatalog(config),
  });
}

/** Records the commands of operators on other accounts, in the form that the interceptors need. */
export function recordCallsOnAccounts(database: Pick<Database, "pool">): CallPorts["recordCall"] {
  return ({ operator, method, accountId, requestId }) =>
    withRetry(() =>
      withTransaction(database, (client) =>
        recordAction(client, {
          operator,
          action: method,
          subject: accountId === "" ? null : accountId,
          reason: null,
          facts: { requestId },
        }),
      ),
    );
}
