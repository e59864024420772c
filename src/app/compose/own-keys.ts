import type { HandlerContext } from "@connectrpc/connect";
import type { Database } from "../../database/database.ts";
import { readRole } from "../../identity/members/member-store.ts";
import { readKeysOfPerson } from "../../keys/store.ts";
import { accountOf, createOwnRowsOf } from "../../transport/calls/callers.ts";

/** Makes the look-up of the keys whose usage a caller may see. Null: all of the account. */
export function ownKeysOf({
  pool,
}: Pick<Database, "pool">): (context: HandlerContext) => Promise<readonly string[] | null> {
  const ownRowsOf = createOwnRowsOf((member) => readRole(pool, member));
  return async (context) => {
    const personId = await ownRowsOf(context);
    return personId === null ? null : readKeysOfPerson(pool, { accountId: accountOf(context), personId });
  };
}
