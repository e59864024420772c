// What sessions of tests have proved. Production code has no way to skip a proof; tests write it into the session's row, or hand a
// made-up session to servers that are built from parts.

import type { Pool } from "pg";
import { waitForLocks, withTransaction } from "../../src/database/transactions.ts";
import type { SessionProof } from "../../src/identity/principal.ts";

/** A person who has just proved a second factor. */
export const PROVED: SessionProof = { mustHaveFactor: true, hasFactor: true, isFactorProved: true, isRecent: true };

/** Gives the person of an address a second factor, proved in all sessions, for as long as the test runs. */
export async function proveSessionsOf(pool: Pool, email: string): Promise<void> {
  await withTransaction({ pool }, async (client) => {
    await waitForLocks(client);
    await client.query(
      `WITH person AS (UPDATE auth.person SET two_factor_enabled = true WHERE email = $1 RETURNING id)
       UPDATE auth.session s SET proved_at = 'infinity', factor_proved = true FROM person p WHERE s.user_id = p.id`,
      [email],
    );
  });
}
