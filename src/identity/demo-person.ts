// The person of a demo: one click signs in an operator whose account is the demo's. The person has no credentials, its address is
// reserved, and `saldo demo clear` ends it.

import type { Pool, PoolClient } from "pg";
import { uuidv7 } from "../kernel/ids.ts";
import { invariant } from "../kernel/invariant.ts";

/** The address of the demo's account. No mail is sent to it. */
export const DEMO_EMAIL = "demo@saldo.example";

// A password from a sign-up before the address was reserved is deleted.
const ENSURE = `
WITH person AS (
  INSERT INTO auth.person (id, email, email_verified, name, is_operator) VALUES ($1::uuid, $2, true, 'Demo', true)
  ON CONFLICT (email) DO UPDATE SET is_operator = true, email_verified = true RETURNING id
), forgotten AS (
  DELETE FROM auth.credential c USING person WHERE c.user_id = person.id
)
SELECT id FROM person`;
// A person without a verified address has no account and no session.
const DELETE = `
WITH person AS (
  UPDATE auth.person SET is_operator = false, email_verified = false, account_id = NULL WHERE email = $1 RETURNING id
), forgotten AS (
  DELETE FROM auth.credential c USING person WHERE c.user_id = person.id
), without_factor AS (
  DELETE FROM auth.two_factor f USING person WHERE f.user_id = person.id
), without_passkeys AS (
  DELETE FROM auth.passkey k USING person WHERE k.user_id = person.id
)
DELETE FROM auth.session s USING person WHERE s.user_id = person.id`;

/** Whether an address is the demo's: no sign-up with it, and no mail to it. */
export function isReservedAddress(email: string): boolean {
  return email.trim().toLowerCase() === DEMO_EMAIL;
}

/** The id of the demo's person, created if it does not exist. It has no credentials. */
export async function ensureDemoPerson(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(ENSURE, [uuidv7(), DEMO_EMAIL]);
  invariant(rows[0] !== undefined, "an upsert gives its row back");
  return rows[0].id;
}

/** Ends the demo's person: its sessions, role, account and credentials. */
export async function deleteDemoUser(client: Pick<PoolClient, "query">): Promise<void> {
  await client.query(DELETE, [DEMO_EMAIL]);
}
