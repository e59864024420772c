// What cookies and links are signed with: what the environment says, else a secret that the first process to ask writes into
// the database, so that every node of it agrees.

import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import { invariant } from "../kernel/invariant.ts";

const KEEP_FIRST = `INSERT INTO auth.signing_secret (secret) VALUES ($1) ON CONFLICT DO NOTHING`;
const READ = `SELECT secret FROM auth.signing_secret`;

/** The secret. */
export async function signingSecret(pool: Pool, configured: string | null): Promise<string> {
  if (configured !== null) return configured;
  await pool.query(KEEP_FIRST, [randomBytes(32).toString("base64url")]);
  const { rows } = await pool.query<{ secret: string }>(READ);
  invariant(rows[0] !== undefined, "what was kept can be read");
  return rows[0].secret;
}
