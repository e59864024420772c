// The person of a demo: whoever clicks is signed in as an operator whose account is the demo's. Nobody knows a password of it,
// and a service that is no demo ends whatever a demo on the same database has left.

import type { Pool } from "pg";
import { uuidv7 } from "../kernel/ids.ts";
import { invariant } from "../kernel/invariant.ts";

/** The address of the demo's account. Nobody gets mail there. */
export const DEMO_EMAIL = "demo@saldo.example";

const ENSURE = `
INSERT INTO auth.person (id, email, email_verified, name, is_operator) VALUES ($1::uuid, $2, true, 'Demo', true)
ON CONFLICT (email) DO UPDATE SET is_operator = true, email_verified = true RETURNING id`;
const DISMISS = `
WITH person AS (UPDATE auth.person SET is_operator = false WHERE email = $1 RETURNING id)
DELETE FROM auth.session s USING person WHERE s.user_id = person.id`;

/** The id of the demo's person, made if it is not there. */
export async function ensureDemoPerson(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(ENSURE, [uuidv7(), DEMO_EMAIL]);
  invariant(rows[0] !== undefined, "an upsert gives its row back");
  return rows[0].id;
}

/** Signs the demo's person out everywhere and takes its role. */
export async function dismissDemoPerson(pool: Pool): Promise<void> {
  await pool.query(DISMISS, [DEMO_EMAIL]);
}
