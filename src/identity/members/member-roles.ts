// What roles may do beyond the methods that the contracts name: who may have keys, and which roles one may give to others.

import type { PoolClient } from "pg";
import { RoleMissing } from "../../kernel/errors.ts";
import type { AccountRole } from "../principal.ts";
import { type MemberId, readRole } from "./member-store.ts";

const WITH_KEYS: readonly AccountRole[] = ["owner", "admin", "developer"];

/** Whether members of a role may have keys. The keys of a member who changes to another role are revoked. */
export function mayHaveKeys(role: AccountRole): boolean {
  return WITH_KEYS.includes(role);
}

/** Stops unless a person may have keys in an account, behind the lock of the account. Errors: RoleMissing. */
export async function requireKeyRole(client: PoolClient, member: MemberId): Promise<void> {
  const role = await readRole(client, member);
  if (role === null || !mayHaveKeys(role)) throw new RoleMissing(role !== null);
}
