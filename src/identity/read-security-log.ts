// The security log as an operator reads it.

import type { Pool } from "pg";
import { timeOfUuidv7 } from "../kernel/ids.ts";
import { emailHashOf, type SecurityOutcome } from "./security-log.ts";

export type SecurityEventRow = {
  readonly eventId: string;
  readonly kind: string;
  readonly outcome: SecurityOutcome;
  readonly personId: string | null;
  /** The account that the person has now. */
  readonly accountId: string | null;
  readonly emailHash: string | null;
  readonly network: string;
  readonly subject: string;
  readonly detail: string;
  readonly times: number;
  readonly occurredAt: Date;
};

/** Which lines are meant; all that is set must fit. */
export type SecurityEventFilter = {
  readonly kind?: string;
  readonly outcome?: SecurityOutcome;
  /** In clear; lines with its keyed hash are meant, and lines of the person who has it: not every line has the hash. */
  readonly email?: string;
  readonly personId?: string;
  /** The account of the person. */
  readonly accountId?: string;
  /** Leaves out what operators read. Without effect where `kind` is set. */
  readonly withoutOperatorReads?: boolean;
};

export type SecurityEventPage = {
  readonly filter?: SecurityEventFilter;
  /** Lines before this one; null: from the newest on. */
  readonly beforeId: string | null;
  readonly limit: number;
  /** The secrets under which addresses are hashed, or were. */
  readonly secrets: () => Promise<readonly string[]>;
};

const COLUMNS = `
e.id AS "eventId", e.kind, e.outcome, e.person_id AS "personId", p.account_id AS "accountId", e.email_hash AS "emailHash",
e.network, e.subject, e.detail, e.times`;
const LIST = `
SELECT ${COLUMNS} FROM auth.security_event e LEFT JOIN auth.person p ON p.id = e.person_id
WHERE e.id < $1::uuid AND ($2::text IS NULL OR e.kind = $2) AND ($3::text IS NULL OR e.outcome = $3)
  AND ($7::text IS NULL OR e.email_hash = ANY ($4::text[]) OR e.person_id = (SELECT id FROM auth.person WHERE email = $7::text))
  AND ($5::uuid IS NULL OR e.person_id = $5)
  AND ($8::uuid IS NULL OR e.person_id = ANY (ARRAY(SELECT id FROM auth.person WHERE account_id = $8::uuid)))
  AND ($2::text IS NOT NULL OR NOT $9::boolean OR e.kind <> 'operator_read')
ORDER BY e.id DESC LIMIT $6::int`;
const LAST_UUID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Lines of the log, newest first. */
export async function listSecurityEvents(pool: Pool, page: SecurityEventPage): Promise<SecurityEventRow[]> {
  const { filter = {}, beforeId, limit, secrets } = page;
  const {
    kind = null,
    outcome = null,
    email,
    personId = null,
    accountId = null,
    withoutOperatorReads = false,
  } = filter;
  const emailHashes = email === undefined ? [] : (await secrets()).map((secret) => emailHashOf(email, secret));
  const address = email?.trim().toLowerCase() ?? null;
  const values = [
    beforeId ?? LAST_UUID,
    kind,
    outcome,
    emailHashes,
    personId,
    limit,
    address,
    accountId,
    withoutOperatorReads,
  ];
  const { rows } = await pool.query<Omit<SecurityEventRow, "occurredAt">>(LIST, values);
  return rows.map((row) => ({ ...row, occurredAt: new Date(timeOfUuidv7(row.eventId)) }));
}
