import type { MembersServiceDependencies } from "../../identity/members/service.ts";
import { createMembersService } from "../../identity/members/service.ts";
import { readMemberBudget, readMemberBudgets, setMemberBudget } from "../../keys/member-budgets.ts";
import { fromProtoBudget, toProtoMemberBudget } from "../../keys/proto-key.ts";
import { countKeysOfPeople, revokeKeysOfPerson } from "../../keys/store.ts";
import { lockAccount } from "../../ledger/account-lock.ts";
import { revokePairsOfPerson } from "../../merchant/merchants/pair-store.ts";
import type { PoolClient } from "pg";
import type { Database } from "../../database/database.ts";
import { requireKeyRole } from "../../identity/members/member-roles.ts";
import type { MemberId } from "../../identity/members/member-store.ts";
import { sessionOf } from "../../transport/calls/callers.ts";

/** How a person's role is asked for before a key is made: behind the lock of the account, where the people are in the same database. */
export function keyRoleOf(
  database: Pick<Database, "pool">,
  people: Pick<Database, "pool">,
): (client: PoolClient, member: MemberId) => Promise<void> {
  if (people.pool === database.pool) return requireKeyRole;
  // An account of another cell has no member but its holder, whose role never ends.
  return (_client, member) => requireKeyRole(people.pool, member);
}

/** Builds MembersService over the ledger's lock of an account, and the keys and budgets of its people. */
export function membersService(
  parts: Pick<MembersServiceDependencies, "database" | "mailer" | "baseUrl" | "otherLinesOf">,
) {
  return createMembersService({
    ...parts,
    lockAccount,
    revokeKeysOfPerson,
    revokePairsOfPerson,
    countKeysOfPeople: (accountId) => countKeysOfPeople(parts.database.pool, accountId),
    budgets: {
      async read(accountId, personIds) {
        const found = await readMemberBudgets(parts.database.pool, { accountId, personIds });
        return new Map([...found].map(([personId, budget]) => [personId, toProtoMemberBudget(budget)]));
      },
      ofRequest: (asked) => fromProtoBudget(asked),
      write: setMemberBudget,
      readBehindLock: async (client, member) => (await readMemberBudget(client, member))?.limit ?? null,
    },
    sessionOf,
  });
}
