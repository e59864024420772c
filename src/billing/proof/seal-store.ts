// The tables of seals. Rows are added and never changed.

import type { Pool } from "pg";
import { createLook, type Look } from "../../database/throttled-reader.ts";
import { BEFORE_ALL_IDS } from "../../kernel/ids.ts";
import { TRACE, type Trace } from "../../ledger/changed-accounts.ts";
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

/** The chain of our own postings up to the end of a window. Lines are counted from the beginning. */
export type HouseSeal = { readonly seal: number; readonly lines: bigint; readonly digest: Buffer };

/** The signed root of a window. */
export type SignedRoot = {
  readonly seal: number;
  readonly text: string;
  readonly signatures: readonly RootSignature[];
};

/** The members of a root's text that are read again. */
export type RootText = {
  readonly accounts: number;
  readonly root: string;
  /** The hash of the text before. Null: it is the first. */
  readonly previous: string | null;
  /** 2: the leaves are by their places, and the nodes are stored. Left out: they are by the accounts' ids. */
  readonly tree?: 2;
  /** The digest of the house's chain. Left out: a version that knew none made the root. */
  readonly house?: string;
};

/** Errors: the text is no root. */
export function readRootText({ text }: SignedRoot): RootText {
  const json = JSON.parse(text) as RootText | null;
  if (typeof json?.root !== "string") throw new Error("It is no root of the books.");
  return json;
}

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
INSERT INTO proof_window (seal, from_time, until_time, day, trace)
VALUES ($1::int, timestamptz 'epoch' + $2::bigint * interval '1 microsecond', timestamptz 'epoch' + $3::bigint * interval '1 microsecond', $4::date, ${TRACE})
ON CONFLICT (seal) DO NOTHING`;
// An hour, because the clock that wrote a line may be another server's than the one that opened the window.
const TRACE_BEFORE = `
SELECT trace FROM proof_window WHERE seal < $1::int AND trace IS NOT NULL
  AND opened_at <= timestamptz 'epoch' + $2::bigint * interval '1 microsecond' - interval '1 hour' ORDER BY seal DESC LIMIT 1`;
const HAS_TABLES = `SELECT to_regclass('house_seal') IS NOT NULL AS has`;
const CLOCK = `SELECT ${MICROS("clock_timestamp()")} AS micros`;

export const SEAL = `SELECT account_id AS "accountId", seal, lines, balance::text AS balance, digest FROM account_seal`;
const LATEST = `${SEAL} WHERE account_id = $1::uuid AND seal <= $2::int ORDER BY seal DESC LIMIT 1`;
// Steps from one account to the next by the key, past all its other seals.
const LATEST_OF_ALL = `
WITH RECURSIVE a(account_id, step) AS (
  (SELECT account_id, 1 FROM account_seal WHERE account_id > $1::uuid ORDER BY account_id LIMIT 1)
  UNION ALL
  SELECT (SELECT n.account_id FROM account_seal n WHERE n.account_id > a.account_id ORDER BY n.account_id LIMIT 1), step + 1
  FROM a WHERE a.account_id IS NOT NULL AND step < ${ACCOUNTS_PER_PAGE}
)
SELECT a.account_id AS last, s.* FROM a
LEFT JOIN LATERAL (${SEAL} WHERE account_id = a.account_id AND seal <= $2::int ORDER BY seal DESC LIMIT 1) s ON true
WHERE a.account_id IS NOT NULL ORDER BY a.account_id`;
const OF_WINDOW = `${SEAL} WHERE seal = $2::int AND account_id > $1::uuid ORDER BY account_id LIMIT ${ACCOUNTS_PER_PAGE}`;
const SEALED_BY = `
SELECT a.id FROM unnest($1::uuid[]) AS a(id) WHERE EXISTS (SELECT FROM account_seal WHERE account_id = a.id AND seal <= $2::int) LIMIT 1`;
const SEALS_OF = `${SEAL} WHERE account_id = $1::uuid AND seal > $2::int AND seal <= $3::int ORDER BY seal`;
const MARKS = `SELECT marks FROM account_seal WHERE account_id = $1::uuid AND seal = $2::int`;
const ADD_SEAL = `
INSERT INTO account_seal (account_id, seal, lines, balance, digest, marks)
VALUES ($1::uuid, $2::int, $3::bigint, $4::numeric, $5::bytea, $6::bytea) ON CONFLICT (account_id, seal) DO NOTHING`;

const HOUSE = `SELECT seal, lines, digest FROM house_seal WHERE seal <= $1::int ORDER BY seal DESC LIMIT 1`;
const HOUSE_MARKS = `SELECT marks FROM house_seal WHERE seal = $1::int`;
const ADD_HOUSE = `
INSERT INTO house_seal (seal, lines, digest, marks) VALUES ($1::int, $2::bigint, $3::bytea, $4::bytea) ON CONFLICT (seal) DO NOTHING`;

const ROOT = `SELECT seal, text, signatures FROM proof_root`;
const ROOT_OF = `${ROOT} WHERE seal = $1::int`;
const LAST_ROOT = `${ROOT} ORDER BY seal DESC LIMIT 1`;
const ROOT_OF_DAY = `${ROOT} r WHERE seal = (SELECT max(w.seal) FROM proof_window w WHERE w.day <= $1::date AND w.seal IN (SELECT seal FROM proof_root))`;
const SEALED_AGE = `
SELECT extract(epoch FROM clock_timestamp() - w.until_time)::float8 AS seconds
FROM proof_root r JOIN proof_window w USING (seal) ORDER BY r.seal DESC LIMIT 1`;
const ADD_ROOT = `
INSERT INTO proof_root (seal, text, signatures) VALUES ($1::int, $2, $3::jsonb) ON CONFLICT (seal) DO NOTHING`;

const LAST_TREE = `${ROOT} WHERE seal < $1::int AND text LIKE '%"tree":2%' ORDER BY seal DESC LIMIT 1`;

export type SealRow = Omit<AccountSeal, "balance"> & { readonly balance: string };
export const sealOf = (row: SealRow): AccountSeal => ({ ...row, balance: BigInt(row.balance) });

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

/** A moment before any line of a window was written. Null: none is known. */
export async function traceBefore(look: Look, { seal, fromMicros }: SealWindow): Promise<Trace | null> {
  return (await look<{ trace: Trace }>(TRACE_BEFORE, [seal, fromMicros]))[0]?.trace ?? null;
}

/** An account's seal of a window, or the last before it. */
export async function latestSeal(look: Look, accountId: string, seal: number): Promise<AccountSeal | undefined> {
  const [row] = await look<SealRow>(LATEST, [accountId, seal]);
  return row && sealOf(row);
}

/** The same of every account that has one, in the order of their ids. */
export async function* latestSeals(look: Look, seal: number): AsyncGenerator<AccountSeal, void> {
  for (let after: string | undefined = BEFORE_ALL_IDS; after !== undefined;) {
    const rows: (SealRow & { last: string })[] = await look(LATEST_OF_ALL, [after, seal]);
    for (const { last: _, ...row } of rows) if (row.accountId !== null) yield sealOf(row);
    after = rows.at(-1)?.last;
  }
}

/** One of these accounts that has a seal of a window or before it. */
export async function sealedAccount(
  look: Look,
  accountIds: readonly string[],
  seal: number,
): Promise<string | undefined> {
  return (await look<{ id: string }>(SEALED_BY, [accountIds, seal]))[0]?.id;
}

/** The seals of accounts with lines in a window, in the order of their ids. */
export async function* sealsOfWindow(look: Look, seal: number): AsyncGenerator<AccountSeal, void> {
  for (let after = BEFORE_ALL_IDS; ;) {
    const rows = await look<SealRow>(OF_WINDOW, [after, seal]);
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

/** The house's seal of a window, or the last before it. */
export async function latestHouseSeal(look: Look, seal: number): Promise<HouseSeal | undefined> {
  return (await look<HouseSeal>(HOUSE, [seal]))[0];
}

export async function readHouseMarks(look: Look, seal: number): Promise<Buffer> {
  return (await look<{ marks: Buffer }>(HOUSE_MARKS, [seal]))[0]?.marks ?? Buffer.alloc(0);
}

export async function addHouseSeal(pool: Pool, sealed: HouseSeal & { readonly marks: Buffer }): Promise<void> {
  await pool.query(ADD_HOUSE, [sealed.seal, sealed.lines, sealed.digest, sealed.marks]);
}

export async function readRoot(look: Look, seal: number): Promise<SignedRoot | undefined> {
  return (await look<SignedRoot>(ROOT_OF, [seal]))[0];
}

/** The last root before a window whose tree is kept. */
export async function lastTreeRoot(look: Look, seal: number): Promise<SignedRoot | undefined> {
  return (await look<SignedRoot>(LAST_TREE, [seal]))[0];
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
