// KeysService: translation between the contract and the use cases of this room.

import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { PoolClient } from "pg";
import type { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import type { Database } from "../database/database.ts";
import type { RecordChange } from "../database/record-change.ts";
import { LimitsOfOwners } from "../kernel/key-limit-errors.ts";
import type { CallingMember } from "./calling-member.ts";
import { readBudgetZone, setBudgetZone } from "./budget-zone.ts";
import { DEFAULT_RATE_LIMIT, issueKey } from "./issue-key.ts";
import { listKeys, revokeKey, updateKey } from "./issued-keys.ts";
import { readMemberBudget } from "./member-budgets.ts";
import { fromProtoLimits, toProtoKey, toProtoMemberBudget } from "./proto-key.ts";
import { readRetrySettings, setRetrySettings } from "./retry-settings.ts";

export type KeysServiceDependencies = {
  readonly database: Database;
  /** The account a call acts for. */
  readonly accountOf: (context: HandlerContext) => string;
  /** The member who calls. Null: a service or an operator calls. */
  readonly memberOf: (context: HandlerContext) => CallingMember | null;
  /** Throws unless a member may have keys now; called behind the lock of the account. */
  readonly requireRole: (client: PoolClient, member: Pick<CallingMember, "accountId" | "personId">) => Promise<void>;
  /** Writes the line of a change in its transaction. */
  readonly recordChangeOf: (context: HandlerContext) => RecordChange;
};

/** Makes the service. Every method acts on the caller's own account; a key of another account is not found. */
export function createKeysService(dependencies: KeysServiceDependencies): ServiceImpl<typeof KeysService> {
  const { database, accountOf, memberOf, requireRole, recordChangeOf } = dependencies;
  /** A developer sees and changes the own keys alone; another one's is not found. */
  const whose = (context: HandlerContext) => {
    const member = memberOf(context);
    return { accountId: accountOf(context), personId: member?.role === "developer" ? member.personId : null };
  };
  const makerOf = (context: HandlerContext) => {
    const member = memberOf(context);
    if (member === null) return {};
    return { maker: { personId: member.personId, requireRole: (client: PoolClient) => requireRole(client, member) } };
  };
  return {
    async createKey({ name, limits, rateLimit = DEFAULT_RATE_LIMIT }, context) {
      const rate = { rateLimit, rateLimitBound: DEFAULT_RATE_LIMIT };
      const asked = { ...rate, ...(limits === undefined ? {} : { limits: fromProtoLimits(limits) }) };
      const request = { accountId: accountOf(context), name, ...asked, ...makerOf(context) };
      const issued = await issueKey(database, request, recordChangeOf(context));
      return { key: toProtoKey(issued), secret: issued.secret };
    },

    async listKeys({ pageSize, pageToken }, context) {
      const { items, nextPageToken } = await listKeys(database, { ...whose(context), pageSize, pageToken });
      const member = memberOf(context);
      const budget = member === null ? null : await readMemberBudget(database.pool, member);
      return {
        keys: items.map((key) => toProtoKey(key)),
        nextPageToken,
        ...(budget === null ? {} : { ownBudget: toProtoMemberBudget(budget) }),
      };
    },

    async updateKey({ keyId, name, limits, rateLimit }, context) {
      const { accountId, personId } = whose(context);
      // Otherwise a developer lifted the budget that an owner has set.
      if (personId !== null && (limits !== undefined || rateLimit !== undefined)) throw new LimitsOfOwners();
      const asked = {
        ...(limits === undefined ? {} : { limits: fromProtoLimits(limits) }),
        ...(rateLimit === undefined ? {} : { ownRateLimit: rateLimit }),
      };
      const change = { accountId, personId, keyId, name, ...asked };
      return { key: toProtoKey(await updateKey(database, change, recordChangeOf(context))) };
    },

    async revokeKey({ keyId }, context) {
      const which = { ...whose(context), keyId };
      return { key: toProtoKey(await revokeKey(database, which, recordChangeOf(context))) };
    },

    async getRetrySettings(_request, context) {
      return { settings: await readRetrySettings(database.pool, accountOf(context)) };
    },

    async setRetrySettings({ settings }, context) {
      const accountId = accountOf(context);
      await setRetrySettings(database.pool, accountId, { keepAnswers: settings?.keepAnswers ?? false });
      return { settings: await readRetrySettings(database.pool, accountId) };
    },

    async getBudgetSettings(_request, context) {
      return { settings: { timeZone: await readBudgetZone(database.pool, accountOf(context)) } };
    },

    async setBudgetSettings({ settings }, context) {
      const change = { accountId: accountOf(context), timeZone: settings?.timeZone ?? "" };
      return { settings: { timeZone: await setBudgetZone(database, change, recordChangeOf(context)) } };
    },
  };
}
