import type { Database } from "../database/database.ts";
import type { ApiKey } from "./api-key.ts";
import { getKey, type WhichKey } from "./issued-keys.ts";
import { type MemberBudget, readMemberBudget } from "./member-budgets.ts";

/** A key as a request with it reads it: its own limits, and the budget of the member who made it. Errors: NotFound. */
export async function ownKey(
  database: Pick<Database, "pool">,
  which: WhichKey,
): Promise<{ key: ApiKey; memberBudget: MemberBudget | null }> {
  const key = await getKey(database, which);
  const { accountId, personId } = key;
  return {
    key,
    memberBudget: personId === null ? null : await readMemberBudget(database.pool, { accountId, personId }),
  };
}
