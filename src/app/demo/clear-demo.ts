// Making a demo's database fit for production. In a demo one click makes an operator, who can issue any credential for any
// account, so all that were issued are revoked. People keep their accounts and their own passwords.

import type { PoolClient } from "pg";
import { endAllSessions, forgetInvites } from "../../identity/all-credentials.ts";
import { deleteDemoUser } from "../../identity/demo-person.ts";
import { withAuditLog, type OperatorContext } from "../../operator/audit-log/operator-actions.ts";
import { revokeAllServiceTokens } from "../../identity/service-token-store.ts";
import { endDemo, lockPurpose } from "../../database/purpose.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { formatMoney, idr } from "../../kernel/money.ts";
import { isServed } from "../../ledger/process-lease.ts";
import { revokeAllKeys } from "../../keys/issued-keys-store.ts";
import { revokeAllPairs } from "../../merchant/merchants/pair-store.ts";
import { hasOpenHolds, takePlayCoinsBack, takePlayMoneyBack } from "./play-money.ts";

/** What was removed. `playMoney` is in rupiah. */
export type ClearedDemo = {
  readonly keys: number;
  readonly pairs: number;
  readonly serviceTokens: number;
  readonly sessions: number;
  readonly playMoney: string;
  readonly merchantFunds: number;
};

/**
 * Clears a demo's database: one transaction, with its line of operator_action. Errors: ValidationError where it is no demo's, the
 * service runs, or requests and production transfers are open.
 */
export function clearDemo(by: OperatorContext): Promise<ClearedDemo> {
  return withAuditLog(by, clear, (facts) => ({
    action: "demo clear",
    subject: null,
    reason: null,
    facts,
    inAccount: null,
  }));
}

async function clear(client: PoolClient): Promise<ClearedDemo> {
  if ((await lockPurpose(client)) !== "demo") throw refused("demo.none", "This database is no demo's.");
  if (await isServed(client)) {
    throw refused("demo.serves", "The service is running. Stop it; after a crash, wait for 20 seconds.");
  }
  if (await hasOpenHolds(client)) {
    const message =
      "Requests or production transfers are open. Start the demo once and stop it, and reject the transfers first.";
    throw refused("demo.open", message);
  }
  const cleared = {
    keys: await revokeAllKeys(client),
    pairs: await revokeAllPairs(client),
    serviceTokens: await revokeAllServiceTokens(client),
    sessions: await endAllSessions(client),
    playMoney: formatMoney(idr(await takePlayMoneyBack(client))),
    merchantFunds: await takePlayCoinsBack(client),
  };
  await forgetInvites(client);
  await deleteDemoUser(client);
  await endDemo(client);
  return cleared;
}

function refused(rule: string, message: string): ValidationError {
  return new ValidationError([{ field: "", rule, message }]);
}
