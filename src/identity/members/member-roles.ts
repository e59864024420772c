// What roles may do beyond the methods that the contracts name: who may have keys, and which roles one may give to others.

import type { Pool, PoolClient } from "pg";
import { RoleMissing } from "../../kernel/errors.ts";
import type { AccountRole } from "../principal.ts";
import { type MemberId, readRole } from "./member-store.ts";

const WITH_KEYS: readonly AccountRole[] = ["owner", "admin", "developer"];
const MANAGERS: readonly AccountRole[] = ["owner", "admin"];

/** Whether members of a role may have keys. The keys of a member who changes to another role are revoked. */
export function mayHaveKeys(role: AccountRole): boolean {
  return WITH_KEYS.includes(role);
}

/** Whether members of a role may make merchants and their pairs. The pairs of a member who changes to another role are revoked. */
export function mayMakePairs(role: AccountRole): boolean {
  return MANAGERS.includes(role);
}

/** Stops unless a person may make merchants' pairs in an account, behind the lock of the account. Errors: RoleMissing. */
export async function requirePairRole(client: PoolClient, member: MemberId): Promise<void> {
  const role = await readRole(client, member);
  if (role === null || !mayMakePairs(role)) throw new RoleMissing(role !== null);
}

/**
 * Stops unless a person may have keys in an account. `client` is a transaction that has locked the account, so that the role stays. Where
 * members are in another database it is a pool: such an account has its holder alone, whose role cannot be taken. Errors: RoleMissing.
 */
export async function requireKeyRole(client: Pool | PoolClient, member: MemberId): Promise<void> {
  const role = await readRole(client, member);
  if (role === null || !mayHaveKeys(role)) throw new RoleMissing(role !== null);
}

/**
 * Stops unless a person may manage members of the given roles, behind the lock of the account: a person who was removed meanwhile may not.
 * Only owners manage owners. Errors: RoleMissing.
 */
export async function requireManager(
  client: PoolClient,
  manager: MemberId,
  roles: readonly (AccountRole | null)[],
): Promise<void> {
  const role = await readRole(client, manager);
  if (role === null || !MANAGERS.includes(role)) throw new RoleMissing(role !== null);
  if (role !== "owner" && roles.includes("owner")) throw new RoleMissing(true);
}
