import type { HandlerContext } from "@connectrpc/connect";
import type { Database } from "../../database/database.ts";
import { readRole } from "../../identity/members/member-store.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { isUuid } from "../../kernel/ids.ts";
import { readKeysOfPerson } from "../../keys/store.ts";
import { accountOf, createOwnRowsOf } from "../../transport/calls/callers.ts";

/**
 * Makes the look-up of the keys whose usage a caller may see and that a person has made; empty: any person. Null: all of the account.
 * `people`: the database that has the members. Errors: ValidationError when the person's id is none.
 */
export function visibleKeysOf(
  { pool }: Pick<Database, "pool">,
  people: Pick<Database, "pool">,
): (context: HandlerContext, personId: string) => Promise<readonly string[] | null> {
  const ownRowsOf = createOwnRowsOf((member) => readRole(people.pool, member));
  return async (context, personId) => {
    if (personId !== "" && !isUuid(personId)) {
      throw new ValidationError([{ field: "filter.personId", rule: "string.uuid", message: "must be a UUID" }]);
    }
    const own = await ownRowsOf(context);
    const asked = personId === "" ? own : personId.toLowerCase();
    if (asked === null) return null;
    // A developer who asks for another person's keys sees none.
    if (own !== null && asked !== own) return [];
    return readKeysOfPerson(pool, { accountId: accountOf(context), personId: asked });
  };
}
