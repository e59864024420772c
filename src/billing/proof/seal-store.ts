// The tables of seals. Rows are added and never changed.

import type { Pool } from "pg";
import { createLook, type Look } from "../../database/throttled-reader.ts";
import { BEFORE_ALL_IDS } from "../../kernel/ids.ts";
import type { ChainEnd } from "./chain.ts";
import type { RootSignature } from "./signing.ts";

/** The lines between two moments, of all accounts. */
export type SealWindow = {
  readonly seal: number;
  readonly fromMicros: bigint;
  readonly untilMicros: bigint;
  /** The last billing day in it. */
  readonly day: string;
  readonly hasRoot: boolean;
};

export type AccountSeal = ChainEnd & { readonly accountId: string };

/** The signed root of a window. */
export type SignedRoot = {
  readonly seal: number;
  readonly text: string;
  readonly signatures: readonly RootSignature[];
};

const ACCOUNTS_PER_PAGE = 5_000;
const MICROS = (column: string): string => `(extract(epoch FROM ${column}) * 1000000)::bigint`;
const WINDOW = `
SELECT w.seal, ${MICROS("w.from_time")} AS "fromMicros", ${MICROS("w.until_time")} AS "untilMicros", w.day::text AS day,
       EXISTS (SELECT FROM proof_root r WHERE r.seal = w.seal) AS "hasRoot"
FROM proof_window w`;
const LAST_WINDOW = `${WINDOW} ORDER BY w.seal DESC LIMIT 1`;
const WINDOWS = `${WINDOW} WHERE w.seal > $1::int AND w.seal <= $2::int ORDER BY w.seal`;
// Two that open a window at once have one: the number is the key.
const OPEN = `
INSERT INTO proof_window (seal, from_time, until_time, day)
VALUES ($1::int, timestamptz 'epoch' + $2::bigint * interval '1 microsecond', timestamptz 'epoch' + $3::bigint * interval '1 microsecond', $4::date)
ON CONFLICT (seal) DO NOTHING`;
const HAS_TABLES = `SELECT to_regclass('proof_window') IS NOT NULL AS has`;
const CLOCK = `SELECT ${MICROS("clock_timestamp()")} AS micros`;

const SEAL = `SELECT account_id AS "accountId", seal, lines, balance::text AS balance, digest FROM account_seal`;
const LATEST = `${SEAL} WHERE account_id = $1::uuid AND seal <= $2::int ORDER BY seal DESC LIMIT 1`;
const LATEST_OF_ALL = `
SELECT s.* FROM (SELECT DISTINCT account_id FROM account_seal WHERE account_id > $1::uuid AND seal <= $2::int ORDER BY account_id LIMIT ${ACCOUNTS_PER_PAGE}) a
CROSS JOIN LATERAL (${SEAL} WHERE account_id = a.account_id AND seal <= $2::int ORDER BY seal DESC LIMIT 1) s
ORDER BY s."accountId"`;
const OF_WINDOW = `${SEAL} WHERE seal = $2::int AND account_id > $1::uuid ORDER BY account_id LIMIT ${ACCOUNTS_PER_PAGE}`;
const SEALS_OF = `${SEAL} WHERE account_id = $1::uuid AND seal > $2::int AND seal <= $3::int ORDER BY seal`;
const MARKS = `SELECT marks FROM account_seal WHERE account_id = $1::uuid AND seal = $2::int`;
const ADD_SEAL = `
INSERT INTO account_seal (account_id, seal, lines, balance, digest, marks)
VALUES ($1::uuid, $2::int, $3::bigint, $4::numeric, $5::bytea, $6::bytea) ON CONFLICT (account_id, seal) DO NOTHING`;

const ROOT = `SELECT seal, text, signatures FROM proof_root`;
const ROOT_OF = `${ROOT} WHERE seal = $1::int`;
const LAST_ROOT = `${ROOT} ORDER BY seal DESC LIMIT 1`;
const ROOT_OF_DAY = `${ROOT} r WHERE seal = (SELECT max(w.seal) FROM proof_window w WHERE w.day <= $1::date AND w.seal IN (SELECT seal FROM proof_root))`;
const SEALED_AGE = `
SELECT extract(epoch FROM clock_timestamp() - w.until_time)::float8 AS seconds
FROM proof_root r JOIN proof_window w USING (seal) ORDER BY r.seal DESC LIMIT 1`;
const ADD_ROOT = `
INSERT INTO proof_root (seal, text, signatures) VALUES ($1::int, $2, $3::jsonb) ON CONFLICT (seal) DO NOTHING`;

type SealRow = Omit<AccountSeal, "balance"> & { readonly balance: string };
const sealOf = (row: SealRow): AccountSeal => ({ ...row, balance: BigInt(row.balance) });

/** Whether the tables are there: a node may run before the change of the schema that makes them. */
export async function hasSealTables(look: Look): Promise<boolean> {
  return (await look<{ has: boolean }>(HAS_TABLES))[0]?.has === true;
}

/** Reads at once, for a caller who waits. */
export function lookOf(pool: Pool): Look {
  return createLook(pool, { share: 1 });
}

export async function readClockMicros(look: Look): Promise<bigint> {
  return (await look<{ micros: bigint }>(CLOCK))[0]?.micros ?? 0n;
}

export async function lastWindow(look: Look): Promise<SealWindow | undefined> {
  return (await look<SealWindow>(LAST_WINDOW))[0];
}

/** The windows behind one seal and up to another. */
export function windowsBetween(look: Look, after: number, through: number): Promise<SealWindow[]> {
  return look<SealWindow>(WINDOWS, [after, through]);
}

export async function openWindow(
  pool: Pool,
  { seal, fromMicros, untilMicros, day }: Omit<SealWindow, "hasRoot">,
): Promise<void> {
  await pool.query(OPEN, [seal, fromMicros, untilMicros, day]);
}

/** An account's seal of a window, or the last before it. */
export async function latestSeal(look: Look, accountId: string, seal: number): Promise<AccountSeal | undefined> {
  const [row] = await look<SealRow>(LATEST, [accountId, seal]);
  return row && sealOf(row);
}

/** The same of every account that has one, in the order of their ids. */
export function latestSeals(look: Look, seal: number): AsyncGenerator<AccountSeal, void> {
  return inPages(look, LATEST_OF_ALL, seal);
}

/** The seals of accounts with lines in a window, in the order of their ids. */
export function sealsOfWindow(look: Look, seal: number): AsyncGenerator<AccountSeal, void> {
  return inPages(look, OF_WINDOW, seal);
}

async function* inPages(look: Look, statement: string, seal: number): AsyncGenerator<AccountSeal, void> {
  for (let after = BEFORE_ALL_IDS; ;) {
    const rows = await look<SealRow>(statement, [after, seal]);
    const last = rows.at(-1);
    if (last === undefined) return;
    for (const row of rows) yield sealOf(row);
    after = last.accountId;
  }
}

/** An account's seals behind one and up to another, oldest first. */
export async function sealsBetween(
  look: Look,
  accountId: string,
  after: number,
  through: number,
): Promise<AccountSeal[]> {
  return (await look<SealRow>(SEALS_OF, [accountId, after, through])).map(sealOf);
}

/** The marks of the lines of a seal, in their order. */
export async function readMarks(look: Look, accountId: string, seal: number): Promise<Buffer> {
  return (await look<{ marks: Buffer }>(MARKS, [accountId, seal]))[0]?.marks ?? Buffer.alloc(0);
}

export async function addSeal(pool: Pool, sealed: AccountSeal & { readonly marks: Buffer }): Promise<void> {
  const { accountId, seal, lines, balance, digest, marks } = sealed;
  await pool.query(ADD_SEAL, [accountId, seal, lines, balance, digest, marks]);
}

export async function readRoot(look: Look, seal: number): Promise<SignedRoot | undefined> {
  return (await look<SignedRoot>(ROOT_OF, [seal]))[0];
}

export async function lastRoot(look: Look): Promise<SignedRoot | undefined> {
  return (await look<SignedRoot>(LAST_ROOT))[0];
}

/** The last root whose window ends with a day or before it. */
export async function rootOfDay(look: Look, day: string): Promise<SignedRoot | undefined> {
  return (await look<SignedRoot>(ROOT_OF_DAY, [day]))[0];
}

export async function addRoot(pool: Pool, { seal, text, signatures }: SignedRoot): Promise<void> {
  await pool.query(ADD_ROOT, [seal, text, JSON.stringify(signatures)]);
}

/** The last day whose books are sealed or being sealed. Null: none. */
export async function sealedThrough(pool: Pool): Promise<string | null> {
  return (await pool.query<SealWindow>(LAST_WINDOW)).rows[0]?.day ?? null;
}

/** Seconds since the last moment that a signed root covers. Null: no root was signed. */
export async function readSealedAge(pool: Pool): Promise<number | null> {
  return (await pool.query<{ seconds: number }>(SEALED_AGE)).rows[0]?.seconds ?? null;
}
