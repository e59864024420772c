// Sealing: the lines of all accounts up to the end of a day are folded into each account's chain, and one signed root covers all chains.
//
// A window is opened with fixed moments, so two processes that work on it come to the same seals; each is written once. A process that dies is
// followed by the next one. A line is in a window by its time alone, and a window is opened long after its end, when no transaction of
// it can still be under way: what comes later has a later time, and is in a later window.

import type { Pool } from "pg";
import { billingDay, DAY_MS, startOfBillingDay } from "../../kernel/clock.ts";
import { createLook, type Look } from "../../database/throttled-reader.ts";
import { digestBehind, firstDigest, markOf, Marks, nextDigest, sha256 } from "./chain.ts";
import { sealHouse } from "./house.ts";
import { activeAccounts, readLines } from "./line-store.ts";
import { merkleRoot } from "./merkle.ts";
import {
  type AccountSeal,
  addRoot,
  addSeal,
  hasSealTables,
  lastTreeRoot,
  lastWindow,
  latestSeal,
  latestSeals,
  sealedAccount,
  sealsOfWindow,
  openWindow,
  readClockMicros,
  readRoot,
  readRootText,
  type SealWindow,
  type SignedRoot,
  traceBefore,
} from "./seal-store.ts";
import { type ProofKey, signByAll } from "./signing.ts";
import { growTree, type Tree } from "./tree.ts";
import { addPlaces, leafOf, readPlaces, readPlacesFrom } from "./tree-store.ts";

/**
 * How long after its end a window is opened: far longer than a transaction of a serving session can last, and than the clocks of two
 * servers differ behind a failover.
 */
const SETTLE_MS = 3_600_000;
const MICROS_PER_MS = 1_000n;
/** What the clocks of database and node may differ. */
const MOST_DIFFERENCE_MS = 5 * 60_000;

export type SealOptions = {
  /** The first signs for ever; the others sign beside it while keys change. */
  readonly keys: readonly ProofKey[];
  /** The last day to seal, in Asia/Jakarta. Left out: the last one that can be sealed. */
  readonly day?: string;
  /** The part of the time that the database works for it. */
  readonly share: number;
  /** The time, in milliseconds of Unix time. Left out: the database's. */
  readonly nowMs?: number;
  readonly signal?: AbortSignal;
};

/** Seals what can be sealed, and what was begun. Returns the last root, if any. */
export async function sealDays(
  pool: Pool,
  { keys, day, share, nowMs: givenMs, signal }: SealOptions,
): Promise<SignedRoot | null> {
  const look = createLook(pool, { share, ...(signal && { signal }) });
  if (!(await hasSealTables(look))) return null;
  for (;;) {
    const last = await lastWindow(look);
    if (last !== undefined && !last.hasRoot) await finish(pool, look, { window: last, keys });
    const nowMs = givenMs ?? (await agreedTime(look));
    const next = nextWindow(last, { nowMs, day });
    // The first window is opened when it has a line: what a demo writes as its past comes before.
    const isEmpty = next !== null && last === undefined && (await activeAccounts(look, next).next()).done === true;
    if (next === null || isEmpty) return last === undefined ? null : ((await readRoot(look, last.seal)) ?? null);
    await openWindow(pool, next);
  }
}

/** The database's time. A seal cannot be taken back, so a clock that leaps ahead must not make one. Errors: the node's clock differs. */
async function agreedTime(look: Look): Promise<number> {
  const nowMs = Number((await readClockMicros(look)) / MICROS_PER_MS);
  if (Math.abs(nowMs - Date.now()) > MOST_DIFFERENCE_MS)
    throw new Error("Nothing is sealed: the clocks of the database and of this node differ by more than five minutes.");
  return nowMs;
}

/** The last day that can be sealed at a moment. */
export function lastSealableDay(nowMs: number): string {
  return billingDay(nowMs - SETTLE_MS - DAY_MS);
}

function nextWindow(
  last: SealWindow | undefined,
  { nowMs, day = lastSealableDay(nowMs) }: { nowMs: number; day: string | undefined },
): Omit<SealWindow, "hasRoot"> | null {
  const untilMs = Math.min(startOfBillingDay(day), startOfBillingDay(lastSealableDay(nowMs))) + DAY_MS;
  const fromMicros = last?.untilMicros ?? 0n;
  const untilMicros = BigInt(untilMs) * MICROS_PER_MS;
  if (untilMicros <= fromMicros) return null;
  return { seal: (last?.seal ?? 0) + 1, fromMicros, untilMicros, day: billingDay(untilMs - 1) };
}

async function finish(
  pool: Pool,
  look: Look,
  { window, keys }: { window: SealWindow; keys: readonly ProofKey[] },
): Promise<void> {
  const own = new Map<string, AccountSeal>();
  for await (const accountId of activeAccounts(look, window, await traceBefore(look, window))) {
    const before = await latestSeal(look, accountId, window.seal);
    if (before?.seal === window.seal) continue;
    const { marks, ...seal } = await foldWindow(look, accountId, { window, before });
    await addSeal(pool, { ...seal, marks });
    own.set(accountId, seal); // without the marks, which are as long as all lines
  }
  const house = await sealHouse(pool, look, window);
  const previous = await readRoot(look, window.seal - 1);
  await requireRightSeals(look, window, own);
  if (previous !== undefined) await requireOldRoot(look, previous);
  const { root, accounts } = await growByWindow(pool, look, window);
  const text = rootText(window, { root, accounts, previous, house });
  await addRoot(pool, { seal: window.seal, text, signatures: signByAll(keys, text) });
}

/**
 * Looks at the seals that another process wrote before they are signed: the serving role can put a seal where ours was to be. Errors: a seal of this
 * window that is not that of its lines.
 */
async function requireRightSeals(look: Look, window: SealWindow, own: ReadonlyMap<string, AccountSeal>): Promise<void> {
  for await (const seal of sealsOfWindow(look, window.seal)) {
    const right = own.get(seal.accountId) ?? (await foldAgain(look, seal, window));
    if (seal.digest.equals(right.digest) && seal.lines === right.lines && seal.balance === right.balance) continue;
    throw new Error(`Nothing is signed: seal ${window.seal} of account ${seal.accountId} is not that of its lines.`);
  }
}

/** A root of a version that kept no tree. Errors: a seal was added behind it. */
async function requireOldRoot(look: Look, previous: SignedRoot): Promise<void> {
  const { tree, root } = readRootText(previous);
  if (tree === 2) return;
  const { hashes } = await readLeaves(look, previous.seal);
  if (merkleRoot(hashes).toString("hex") !== root) throw anotherRoot(previous.seal);
}

/** Puts the seals since the last tree into it, and accounts that had none behind all others. Errors: a row that no root covers. */
async function growByWindow(pool: Pool, look: Look, { seal }: SealWindow): Promise<{ root: Buffer; accounts: number }> {
  const before = treeOf(await lastTreeRoot(look, seal));
  const changed = new Map<string, Buffer>();
  for await (const sealed of sealsSince(look, before, seal)) changed.set(sealed.accountId, leafOf(sealed));
  const known = before?.accounts ?? 0;
  const places = await readPlaces(look, [...changed.keys()]);
  const unplaced = [...changed.keys()].filter((id) => (places.get(id) ?? known) >= known).toSorted();
  // Places of a sealing that put no root: it died, or a version without a tree was first. They stay, and later ones follow them.
  const begun = await readPlacesFrom(look, known, unplaced.length + 1);
  const stay = new Set(begun);
  const newcomers = [...begun, ...unplaced.filter((id) => !stay.has(id))];
  await addPlaces(pool, known + begun.length, newcomers.slice(begun.length));
  const placed = await readPlacesFrom(look, known, newcomers.length + 1);
  if (placed.join() !== newcomers.join() || newcomers.length !== unplaced.length)
    throw new Error(`Nothing is signed: the places of the accounts of seal ${seal} are not those of its order.`);
  if (before !== null && (await sealedAccount(look, newcomers, before.seal)) !== undefined)
    throw anotherRoot(before.seal);
  for (const [at, accountId] of newcomers.entries()) places.set(accountId, known + at);
  const leaves = new Map([...changed].map(([accountId, leaf]) => [places.get(accountId) ?? known, leaf]));
  const accounts = known + newcomers.length;
  return { root: await growTree(pool, look, { seal, before, accounts, leaves }), accounts };
}

/** The seals since a tree, the later one of an account behind the earlier. */
async function* sealsSince(look: Look, before: Tree | null, through: number): AsyncGenerator<AccountSeal, void> {
  if (before === null) yield* latestSeals(look, through);
  else for (let seal = before.seal + 1; seal <= through; seal += 1) yield* sealsOfWindow(look, seal);
}

/** The kept tree of a root. Null: there is none. */
export function treeOf(root: SignedRoot | undefined): Tree | null {
  if (root === undefined) return null;
  const { tree, accounts, root: hash } = readRootText(root);
  return tree === 2 ? { seal: root.seal, accounts, root: hash } : null;
}

function anotherRoot(seal: number): Error {
  return new Error(
    `Nothing is signed: the accounts of seal ${seal} come to another root than the one that was signed.`,
  );
}

async function foldAgain(look: Look, { accountId }: AccountSeal, window: SealWindow): Promise<AccountSeal> {
  const before = await latestSeal(look, accountId, window.seal - 1);
  return foldWindow(look, accountId, { window, before });
}

/** The leaves of a root without a kept tree, and the place of an account's own one among them; -1 where it has none. */
export async function readLeaves(
  look: Look,
  seal: number,
  accountId?: string,
): Promise<{ hashes: Buffer[]; own: number }> {
  const hashes: Buffer[] = [];
  let own = -1;
  for await (const sealed of latestSeals(look, seal)) {
    if (sealed.accountId === accountId) own = hashes.length;
    hashes.push(leafOf(sealed));
  }
  return { hashes, own };
}

/** Folds the lines of a window into an account's chain. */
export async function foldWindow(
  look: Look,
  accountId: string,
  { window, before }: { window: SealWindow; before: AccountSeal | undefined },
): Promise<AccountSeal & { readonly marks: Buffer }> {
  let { lines, balance } = before ?? { lines: 0n, balance: 0n };
  let digest = before === undefined ? firstDigest(accountId) : digestBehind(before);
  const marks = new Marks();
  for await (const line of readLines(look, accountId, window)) {
    digest = nextDigest(digest, line.text);
    balance += line.effect;
    lines += 1n;
    marks.add(markOf(line.text));
  }
  return { accountId, seal: window.seal, lines, balance, digest, marks: marks.bytes };
}

function rootText(
  { seal, day, untilMicros }: SealWindow,
  {
    root,
    accounts,
    previous,
    house,
  }: { root: Buffer; accounts: number; previous: SignedRoot | undefined; house: Buffer },
): string {
  return JSON.stringify({
    saldo_proof: 1,
    seal,
    day,
    until: new Date(Number(untilMicros / MICROS_PER_MS)).toISOString(),
    accounts,
    root: root.toString("hex"),
    previous: previous === undefined ? null : sha256(previous.text).toString("hex"),
    tree: 2,
    house: house.toString("hex"),
  });
}
