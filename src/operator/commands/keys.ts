// Keys that an operator issues and revokes. Owners issue and revoke theirs through KeysService, which is no operator's action.

import { withAuditLog, type OperatorContext } from "../audit-log/operator-actions.ts";
import { addKey, type IssuedKey } from "../../keys/issue-key.ts";
import type { ApiKey } from "../../keys/api-key.ts";
import type { KeyLimits } from "../../keys/key-limits.ts";
import { changedKeyFacts, keyFacts } from "../../keys/key-facts.ts";
import { changeKey, type KeyChange, type RevokedKey, withdrawKey } from "../../keys/issued-keys.ts";

/** Issues a key of an account. Errors: as addKey. */
export function issueKey(
  by: OperatorContext,
  command: { accountId: string; name: string; rateLimit?: number; limits?: KeyLimits },
): Promise<IssuedKey> {
  return withAuditLog(
    by,
    (client) => addKey(client, command),
    ({ keyId, accountId, ...key }) => ({
      action: "key create",
      subject: accountId,
      reason: null,
      facts: { keyId, ...auditFacts(key) },
      inAccount: { accountId, action: "key.created", subject: keyId, facts: keyFacts(key) },
    }),
  );
}

/** Renames a key and sets what it may do. Errors: as changeKey. */
export function updateKey(by: OperatorContext, change: KeyChange): Promise<ApiKey> {
  return withAuditLog(
    by,
    (client) => changeKey(client, change),
    ({ keyId, accountId, before, ...key }) => ({
      action: "key update",
      subject: accountId,
      reason: null,
      facts: { keyId, ...auditFacts(key) },
      inAccount: { accountId, action: "key.updated", subject: keyId, facts: changedKeyFacts(before, key) },
    }),
  );
}

/** A key as the audit log has it, with numbers as such. */
function auditFacts(key: Pick<ApiKey, "name" | "rateLimit" | "limits">) {
  const { tokenLimit } = key.limits;
  return { ...keyFacts(key), rateLimit: key.rateLimit, ...(tokenLimit === null ? {} : { tokenLimit }) };
}

/** Revokes a key of any account for good; revoking it again changes nothing. Errors: NotFound. */
export function revokeKey(by: OperatorContext, { keyId }: { keyId: string }): Promise<RevokedKey> {
  return withAuditLog(
    by,
    (client) => withdrawKey(client, { keyId }),
    ({ isNew, accountId, name }) =>
      isNew
        ? {
            action: "key revoke",
            subject: accountId,
            reason: null,
            facts: { keyId, name },
            inAccount: { accountId, action: "key.revoked", subject: keyId, facts: { name } },
          }
        : null,
  );
}
