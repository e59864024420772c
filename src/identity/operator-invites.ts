// Links that make an operator: the first one is printed by a start without an operator, others by `saldo operator link`. A link
// works once, for half an hour, and its holder chooses address and password. It is the only proof, so it is shown only where
// the operator of the machine reads.

import { randomBytes } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import type { Database } from "../database/database.ts";
import { entitiesOn } from "../database/orm.ts";
import { withTransaction } from "../database/transactions.ts";
import { DomainError, NotFound, ValidationError } from "../kernel/errors.ts";
import { uuidv7 } from "../kernel/ids.ts";
import { digestSecretToken } from "../kernel/secret-token.ts";
import type { BreachedPasswords } from "./passwords/breached-passwords.ts";
import { isEmailAddress } from "./customers.ts";
import { endSessionsOfPerson } from "./end-sessions.ts";
import { recordAction } from "../operator/audit-log/operator-actions.ts";
import {
  hashPassword,
  isCommonPassword,
  MAX_PASSWORD_LENGTH,
  MIN_PASSWORD_LENGTH,
  verifyPassword,
} from "./passwords/passwords.ts";
import { writePassword } from "./people-store.ts";

const INVITE_MINUTES = 30;
const TOKEN_BYTES = 32;
/** Where the link leads: a page that asks for address and password. */
export const SET_UP_PATH = "/auth/operator/set-up";

const INSERT_INVITE = `
INSERT INTO auth.operator_invite (id, digest, expires_at)
VALUES ($1::uuid, $2::bytea, clock_timestamp() + interval '${INVITE_MINUTES} minutes')`;
const IS_OPEN = `digest = $1::bytea AND used_at IS NULL AND expires_at > clock_timestamp()`;
const FIND_INVITE = `SELECT FROM auth.operator_invite WHERE ${IS_OPEN}`;
const USE_INVITE = `UPDATE auth.operator_invite SET used_at = clock_timestamp() WHERE ${IS_OPEN}`;
const PERSON_OF_EMAIL = `
SELECT p.id, p.email_verified AS "isVerified", c.password FROM auth.person p
LEFT JOIN auth.credential c ON c.user_id = p.id AND c.provider_id = 'credential' WHERE p.email = $1`;
const INSERT_PERSON = `
INSERT INTO auth.person (id, email, email_verified, name, is_operator) VALUES ($1::uuid, $2, true, $3, true)`;
const PROMOTE = `UPDATE auth.person SET is_operator = true, email_verified = true WHERE id = $1::uuid`;
const DEMOTE = `UPDATE auth.person SET is_operator = false WHERE email = lower($1) AND is_operator RETURNING id`;
const HAS_OPERATOR = `SELECT FROM auth.person WHERE is_operator LIMIT 1`;

/** The link was used, is too old, or is not ours. */
export class InviteSpent extends DomainError {
  readonly code = "not_found";
  constructor() {
    super("This link was used already or is too old. Make another with: saldo operator link");
  }
}

export type MakeOperator = (facts: {
  token: string;
  email: string;
  password: string;
  name: string | undefined;
}) => Promise<string>;

/** Creates a link and returns its address. */
export async function inviteOperator(client: Pick<Pool | PoolClient, "query">, baseUrl: string): Promise<string> {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  await client.query(INSERT_INVITE, [uuidv7(), digestSecretToken(token)]);
  return `${baseUrl}${SET_UP_PATH}?token=${token}`;
}

/** Whether there is an operator. */
export async function hasOperator(pool: Pool): Promise<boolean> {
  return (await pool.query(HAS_OPERATOR)).rowCount !== 0;
}

/** The people with the operator role. */
export async function listOperators(
  pool: Pool,
): Promise<{ personId: string; email: string; name: string; createdAt: Date }[]> {
  const { em, Person } = await entitiesOn(pool);
  const operators = await em.find(Person, { isOperator: true }, { orderBy: { id: "asc" } });
  return operators.map(({ id, email, name, createdAt }) => ({ personId: id, email, name, createdAt }));
}

/** Takes the role from a person and ends the sessions that were opened with it. Errors: NotFound. */
export async function removeOperator(client: PoolClient, email: string): Promise<string> {
  const { rows } = await client.query<{ id: string }>(DEMOTE, [email]);
  if (rows[0] === undefined) throw new NotFound("No operator has this address.");
  await endSessionsOfPerson(client, rows[0].id);
  return rows[0].id;
}

/**
 * Makes the operator that a link is for: a new person, or an existing one who enters the own password. Returns the person's id.
 * Errors: InviteSpent, ValidationError.
 */
export function createMakeOperator(
  database: Pick<Database, "pool">,
  breachedPasswords: Pick<BreachedPasswords, "refuse">,
): MakeOperator {
  return async ({ token, email: given, password, name }) => {
    const email = given.trim().toLowerCase();
    const digest = digestSecretToken(token);
    if (!isEmailAddress(email)) throw problem("email", "email.shape", "must be an e-mail address");
    // Before anything that costs: without a link no password is hashed.
    if ((await database.pool.query(FIND_INVITE, [digest])).rowCount === 0) throw new InviteSpent();
    const known = await findPerson(database.pool, email);
    const kept = known?.isVerified === true ? known.password : null;
    if (kept !== null && !(await verifyPassword({ hash: kept, password }))) {
      throw problem("password", "password.wrong", "is not the one this person signs in with");
    }
    // The password of an unverified address counts for nothing: another person may have chosen it.
    if (kept === null) {
      requireGoodPassword(password, email);
      await breachedPasswords.refuse("password", password);
    }
    const hash = kept === null ? await hashPassword(password) : null;
    return withTransaction(database, async (client) => {
      if ((await client.query(USE_INVITE, [digest])).rowCount === 0) throw new InviteSpent();
      const personId = known?.id ?? uuidv7();
      if (known === null) await client.query(INSERT_PERSON, [personId, email, name?.trim() || email]);
      else await client.query(PROMOTE, [personId]);
      if (hash !== null) await writePassword(client, { personId, hash });
      const line = { operator: email, action: "operator set-up", subject: personId, reason: null };
      await recordAction(client, line);
      return personId;
    });
  };
}

type KnownPerson = { readonly id: string; readonly isVerified: boolean; readonly password: string | null };

async function findPerson(pool: Pool, email: string): Promise<KnownPerson | null> {
  const { rows } = await pool.query<KnownPerson>(PERSON_OF_EMAIL, [email]);
  return rows[0] ?? null;
}

function requireGoodPassword(password: string, email: string): void {
  if (password.length < MIN_PASSWORD_LENGTH || password.length > MAX_PASSWORD_LENGTH) {
    throw problem(
      "password",
      "password.length",
      `must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`,
    );
  }
  if (isCommonPassword(password, email)) throw problem("password", "password.common", "is one that is guessed first");
}

function problem(field: string, rule: string, message: string): ValidationError {
  return new ValidationError([{ field, rule, message }]);
}
