// Sign-ups whose address is not verified yet. Every address can be signed up by everyone, so the link in the mail does not decide
// whose password counts: it shows that its reader has the mail of the address, and a cookie shows that reader's sign-up. Only
// the two together make the password of that sign-up the person's. On another device the link leads to choosing a password.

import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import { uuidv7 } from "../../kernel/ids.ts";
import type { Language } from "../../kernel/preferred-language.ts";
import { digestSecretToken } from "../../kernel/secret-token.ts";
import { hashPassword } from "../passwords/passwords.ts";
import { keepSignUpLanguage, writePassword } from "../people-store.ts";
import { type CookiePlan, readCookie } from "../session-cookie.ts";

/** Longer than the link in the mail works. */
const LIVES_SECONDS = 3_600;
const TOKEN_BYTES = 32;

const KEEP = `
INSERT INTO auth.verification (id, identifier, value, expires_at, created_at, updated_at)
VALUES ($1::uuid, $2, $3, clock_timestamp() + interval '${LIVES_SECONDS} seconds', clock_timestamp(), clock_timestamp())`;
const TAKE = `DELETE FROM auth.verification WHERE identifier = $1 AND expires_at > clock_timestamp() RETURNING value`;
const NAME_PERSON = `UPDATE auth.person SET name = $2 WHERE id = $1::uuid`;

type PendingSignUp = {
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
  /** The language of its page. Absent: a version before 0.3 has kept it. */
  readonly language?: Language;
};

/** Keeps what a sign-up asked for, and gives the Set-Cookie header by which its browser is known again. */
export async function keepSignUp(
  pool: Pool,
  plan: CookiePlan,
  { password, ...given }: { email: string; name: string; password: string; language: Language },
): Promise<string> {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const asked: PendingSignUp = { ...given, passwordHash: await hashPassword(password) };
  await pool.query(KEEP, [uuidv7(), identifierOf(token), JSON.stringify(asked)]);
  // Lax: the click in a mail comes from elsewhere.
  const secure = plan.isSecure ? "; Secure" : "";
  return `${plan.signUpName}=${token}; Max-Age=${LIVES_SECONDS}; Path=/; HttpOnly; SameSite=Lax${secure}`;
}

/**
 * Makes the password, the name and the language of this browser's sign-up the person's, over those of other sign-ups with the address.
 * False: this browser has made none for the address.
 */
export async function applySignUp(
  pool: Pool,
  { cookies, plan, person }: { cookies: string; plan: CookiePlan; person: { id: string; email: string } },
): Promise<boolean> {
  const token = readCookie(cookies, plan.signUpName);
  if (token === null) return false;
  const { rows } = await pool.query<{ value: string }>(TAKE, [identifierOf(token)]);
  if (rows[0] === undefined) return false;
  const { email, name, passwordHash, language } = JSON.parse(rows[0].value) as PendingSignUp;
  if (email !== person.email) return false;
  await writePassword(pool, { personId: person.id, hash: passwordHash });
  await pool.query(NAME_PERSON, [person.id, name]);
  if (language !== undefined) await keepSignUpLanguage(pool, { personId: person.id, language });
  return true;
}

function identifierOf(token: string): string {
  return `sign-up:${digestSecretToken(token).toString("hex")}`;
}
