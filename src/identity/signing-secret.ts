// What cookies and links are signed with: the secret of the environment, else a secret that the first process to ask writes into
// the database, so that every node of it agrees. It is encrypted where there is a key for that.

import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import type { SecretColumns } from "../database/secrets/secret-columns.ts";
import { readSecretForm } from "../database/secrets/secret-state.ts";
import { invariant } from "../kernel/invariant.ts";
import { openText, sealText } from "../kernel/sealed-text.ts";

const NAME = "auth.signing_secret";

const KEEP_FIRST = `INSERT INTO auth.signing_secret (secret) VALUES ($1) ON CONFLICT DO NOTHING`;
const READ = `SELECT secret FROM auth.signing_secret`;

/** The secret of this database. */
export const SIGNING_SECRETS: SecretColumns = {
  table: "auth.signing_secret",
  id: "the_row",
  idType: "boolean",
  columns: ["secret"],
  // There is one row.
  nameOf: () => NAME,
  formerIs: "sealed",
};

/** The secret. `configured`: those of the environment, the one in use first. */
export async function signingSecret(pool: Pool, configured: readonly string[]): Promise<string> {
  const [first] = configured;
  if (first !== undefined) return first;
  const form = await readSecretForm(pool);
  await pool.query(KEEP_FIRST, [sealText(NAME, randomBytes(32).toString("base64url"), form)]);
  const { rows } = await pool.query<{ secret: string }>(READ);
  invariant(rows[0] !== undefined, "what was kept can be read");
  return openText(NAME, rows[0].secret);
}

/** The secret, and behind it those that were in use before: what they have encrypted is still read. */
export async function signingSecrets(pool: Pool, configured: readonly string[]): Promise<readonly string[]> {
  if (configured.length === 0) return [await signingSecret(pool, configured)];
  const { rows } = await pool.query<{ secret: string }>(READ);
  return [...configured, ...rows.map(({ secret }) => openText(NAME, secret))];
}
