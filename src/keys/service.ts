// KeysService: translation between the contract and the use cases of this room.

import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import type { Database } from "../database/database.ts";
import { issueKey } from "./issue-key.ts";
import { listKeys, revokeKey, updateKey } from "./issued-keys.ts";
import { fromProtoLimits, toProtoKey } from "./proto-key.ts";
import { readRetrySettings, setRetrySettings } from "./retry-settings.ts";

export type KeysServiceDependencies = {
  readonly database: Database;
  /** The account a call acts for. */
  readonly accountOf: (context: HandlerContext) => string;
};

/** Makes the service. Every method acts on the caller's own account; a key of another account is not found. */
export function createKeysService({ database, accountOf }: KeysServiceDependencies): ServiceImpl<typeof KeysService> {
  return {
    async createKey({ name, limits }, context) {
      const asked = limits === undefined ? {} : { limits: fromProtoLimits(limits) };
      const issued = await issueKey(database, { accountId: accountOf(context), name, ...asked });
      return { key: toProtoKey(issued), secret: issued.secret };
    },

    async listKeys({ pageSize, pageToken }, context) {
      const { items, nextPageToken } = await listKeys(database, { accountId: accountOf(context), pageSize, pageToken });
      return { keys: items.map(toProtoKey), nextPageToken };
    },

    async updateKey({ keyId, name, limits }, context) {
      const asked = limits === undefined ? {} : { limits: fromProtoLimits(limits) };
      return { key: toProtoKey(await updateKey(database, { accountId: accountOf(context), keyId, name, ...asked })) };
    },

    async revokeKey({ keyId }, context) {
      return { key: toProtoKey(await revokeKey(database, { accountId: accountOf(context), keyId })) };
    },

    async getRetrySettings(_request, context) {
      return { settings: await readRetrySettings(database.pool, accountOf(context)) };
    },

    async setRetrySettings({ settings }, context) {
      const accountId = accountOf(context);
      await setRetrySettings(database.pool, accountId, { keepAnswers: settings?.keepAnswers ?? false });
      return { settings: await readRetrySettings(database.pool, accountId) };
    },
  };
}
