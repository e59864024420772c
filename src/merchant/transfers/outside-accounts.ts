// The ledger accounts on the other side of merchants' funds. Sandbox coins are worth nothing, so they never share an
// account with real coins: their fees are no revenue.

import type { Environment } from "../../identity/principal.ts";
import { systemAccounts } from "../../ledger/system-accounts.ts";

export const outsideAccounts = {
  sandbox: { coins: systemAccounts.sandbox, fees: systemAccounts.sandbox },
  production: { coins: systemAccounts.merchantClearing, fees: systemAccounts.revenue },
} as const satisfies Record<Environment, { coins: string; fees: string }>;
