// The limits of callers, built from the parts that know them.

import type { AppPeople } from "./people.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../../database/database.ts";
import type { ServersOptions } from "../../transport/server/servers.ts";
import { createCallerWindows } from "../../keys/caller-windows.ts";
import type { Keys } from "../../keys/keys.ts";
import type { PairVerifier } from "../../merchant/merchants/credentials.ts";
import { createRefusedCredentials } from "../../transport/calls/refused-credentials.ts";

export type CallerLimitSources = {
  readonly config: Pick<Config, "rates" | "trustedProxies">;
  readonly database: Pick<Database, "pool">;
  readonly people: Pick<AppPeople, "people" | "securityLog" | "verifyServiceToken">;
  readonly keys: Pick<Keys, "hasWorked">;
  readonly verifyMerchant: PairVerifier;
};

/** The windows of people, key pairs and service tokens, the count of unknown credentials, and the log of both. */
export function callerLimits(
  sources: CallerLimitSources,
): Required<Pick<ServersOptions, "takeCallerSlot" | "refusedCredentials" | "recordSecurityEvent">> {
  const { config, database, people, keys, verifyMerchant } = sources;
  const { recordSecurityEvent } = people.securityLog;
  return {
    recordSecurityEvent,
    takeCallerSlot: createCallerWindows({ pool: database.pool, limits: config.rates }),
    refusedCredentials: createRefusedCredentials({
      limit: config.rates.refusedCredentials,
      trustedProxies: config.trustedProxies,
      hasWorked: {
        key: (secret) => keys.hasWorked(secret),
        pair: (pair) => verifyMerchant.hasWorked(pair),
        token: (secret) => people.verifyServiceToken.hasWorked(secret),
        session: (cookies) => people.people.hasWorked(cookies),
      },
      namesSession: (cookies) => people.people.namesSession(cookies),
      recordSecurityEvent,
    }),
  };
}
