// What operators look at and order, built from the parts of a serving process.

import { presetCatalog } from "./app-catalog.ts";
import type { TopUps } from "./billing/top-ups/top-ups.ts";
import type { Config } from "./config.ts";
import type { Database } from "./database/database.ts";
import { createOperatorService } from "./operator/service.ts";
import { operatorOf } from "./rpc/callers.ts";

/** OperatorService of a configuration. */
export function operatorService(
  { config, database }: { readonly config: Config; readonly database: Database },
  topUps: Pick<TopUps, "verifyNow">,
) {
  const isSet = (variable: string): boolean => (config.variable(variable) ?? "") !== "";
  return createOperatorService({
    database,
    operatorOf,
    isSet,
    verifyTopUp: topUps.verifyNow,
    ...presetCatalog(config),
  });
}
