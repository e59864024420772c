// Which member made each key of an account: keys know a person's id, and members know the address.

import type { KeyMembers } from "../../billing/usage/usage-export.ts";
import type { Database } from "../../database/database.ts";
import { MAX_MEMBERS } from "../../identity/members/members.ts";
import { readMembers } from "../../identity/members/member-store.ts";
import { readKeyMakers } from "../../keys/issued-keys-store.ts";

/** The address of each maker. One who is no member any more is named by id. */
export async function readKeyMembers({ pool }: Pick<Database, "pool">, accountId: string): Promise<KeyMembers> {
  const [makers, members] = await Promise.all([
    readKeyMakers(pool, accountId),
    readMembers(pool, accountId, MAX_MEMBERS),
  ]);
  const emails = new Map(members.map(({ personId, email }) => [personId, email]));
  return new Map([...makers].map(([keyId, personId]) => [keyId, emails.get(personId) ?? personId]));
}
