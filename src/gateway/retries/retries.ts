// The answer for a retry with the same Idempotency-Key: that of the first request, where its account keeps answers. Whether a
// request may run at all is decided by its admission, in the database.

import type { Pool } from "pg";
import { AnswerSeal, type AnswerName } from "./answer-seal.ts";
import { type KeptAnswer, readKeptAnswer, writeKeptAnswer } from "./kept-answer.ts";

/** Larger answers are not kept. */
export const MAX_KEPT_BYTES = 1024 * 1024;
const KEPT_FOR = "interval '15 minutes'";
/** How long an idempotency key has one bill. The admission uses the same time. */
const NAMES_FOR = "interval '24 hours'";
/** Rows that one statement forgets at most. */
const CHUNK = 1_000;

const KEEP = `
INSERT INTO kept_answer (account_id, request_id, sealed, kept_until)
VALUES ($1::uuid, $2::uuid, $3::bytea, clock_timestamp() + ${KEPT_FOR}) ON CONFLICT DO NOTHING`;
const FIND = `
SELECT sealed FROM kept_answer WHERE account_id = $1::uuid AND request_id = $2::uuid AND kept_until > clock_timestamp()`;
const FORGET_ANSWERS = `
DELETE FROM kept_answer WHERE (account_id, request_id) IN (
  SELECT account_id, request_id FROM kept_answer WHERE kept_until < clock_timestamp() ORDER BY kept_until LIMIT ${CHUNK})`;
const FORGET_NAMES = `
DELETE FROM idempotency_key WHERE (account_id, key_id, name) IN (
  SELECT account_id, key_id, name FROM idempotency_key WHERE taken_at < clock_timestamp() - ${NAMES_FOR} ORDER BY taken_at LIMIT ${CHUNK})`;

/** Digests bodies, keeps answers and finds them again. */
export type Retries = {
  digestOf(body: Buffer): Promise<Buffer>;
  /** Keeps an answer for fifteen minutes, encrypted. Errors: the database's. */
  keep(name: AnswerName, answer: KeptAnswer): Promise<void>;
  /** Null: none is kept. Errors: the database's. */
  find(name: AnswerName): Promise<KeptAnswer | null>;
};

/** `secret`: shared by all nodes; it is read with the first request that has an idempotency key. */
export function createRetries(pool: Pool, secret: () => Promise<string>): Retries {
  let opening: Promise<AnswerSeal> | null = null;
  const sealOf = async (): Promise<AnswerSeal> => {
    opening ??= secret().then((text) => new AnswerSeal(text));
    try {
      return await opening;
    } catch (error) {
      opening = null; // The next request tries again.
      throw error;
    }
  };
  return {
    digestOf: async (body) => (await sealOf()).digestOf(body),
    async keep(name, answer) {
      const sealed = (await sealOf()).seal(name, writeKeptAnswer(answer));
      await pool.query(KEEP, [name.accountId, name.requestId, sealed]);
    },
    async find(name) {
      const { rows } = await pool.query<{ sealed: Buffer }>(FIND, [name.accountId, name.requestId]);
      const text = rows[0] === undefined ? null : (await sealOf()).open(name, rows[0].sealed);
      return text === null ? null : readKeptAnswer(text);
    },
  };
}

/** Deletes expired answers and idempotency keys. Returns the number of rows. */
export async function forgetOldRetries(pool: Pick<Pool, "query">): Promise<number> {
  let forgotten = 0;
  for (const statement of [FORGET_ANSWERS, FORGET_NAMES]) {
    for (let count = CHUNK; count === CHUNK; forgotten += count) {
      count = (await pool.query(statement)).rowCount ?? 0;
    }
  }
  return forgotten;
}
