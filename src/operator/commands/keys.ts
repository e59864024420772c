// Keys that an operator issues and revokes. Owners issue and revoke theirs through KeysService, which is no operator's action.

import { withAuditLog, type OperatorContext } from "../audit-log/operator-actions.ts";
import { addKey, type IssuedKey } from "../../keys/issue-key.ts";
import { type RevokedKey, withdrawKey } from "../../keys/issued-keys.ts";

/** Issues a key of an account. Errors: as addKey. */
export function issueKey(
  by: OperatorContext,
  command: { accountId: string; name: string; rateLimit?: number },
): Promise<IssuedKey> {
  return withAuditLog(
    by,
    (client) => addKey(client, command),
    ({ keyId, accountId, name, rateLimit }) => ({
      action: "key create",
      subject: accountId,
      reason: null,
      facts: { keyId, name, rateLimit },
    }),
  );
}

/** Revokes a key of any account for good; revoking it again changes nothing. Errors: NotFound. */
export function revokeKey(by: OperatorContext, { keyId }: { keyId: string }): Promise<RevokedKey> {
  return withAuditLog(
    by,
    (client) => withdrawKey(client, { keyId }),
    ({ isNew, accountId, name }) =>
      isNew ? { action: "key revoke", subject: accountId, reason: null, facts: { keyId, name } } : null,
  );
}
