// The statement of an account as JSON Lines: a header, the account's lines with a seal behind those of each window, and at its end what
// proves them: the leaf of the last seal, its path and the signed root. A statement that begins later proves its beginning in the same way.

import type { Pool } from "pg";
import { NotFound, ValidationError } from "../../kernel/errors.ts";
import { invariant } from "../../kernel/invariant.ts";
import { createLook, type Look } from "../../database/throttled-reader.ts";
import { billingDay } from "../../kernel/clock.ts";
import { readArchivedPart } from "../../ledger/archived-usage.ts";
import { leafText, sealText } from "./chain.ts";
import { accountExists, readLines } from "./line-store.ts";
import { merklePath, type PathStep } from "./merkle.ts";
import { readLeaves, treeOf } from "./seal.ts";
import {
  lastRoot,
  latestSeal,
  rootOfDay,
  sealsBetween,
  type SealWindow,
  type SignedRoot,
  windowsBetween,
} from "./seal-store.ts";
import type { RootSignature } from "./signing.ts";
import { pathInTree } from "./tree.ts";

/** Characters of a piece, or few more. */
const PIECE_LENGTH = 65_536;

/** What proves an account's chain up to a seal. */
export type ChainProof = {
  /** The leaf's text. */
  readonly leaf: string;
  readonly path: readonly PathStep[];
  /** The root's text and its signatures. */
  readonly root: { readonly text: string; readonly signatures: readonly RootSignature[] };
};

export type StatementHeader = {
  readonly type: "statement";
  readonly version: 1;
  readonly account: string;
  /** What proves the chain before the first line. Null: the statement begins with the account. */
  readonly opening: ChainProof | null;
};

export type StatementQuery = {
  readonly accountId: string;
  /** Leaves out what was sealed up to this day. */
  readonly after?: string;
  /** The last day; left out: the last that is sealed. */
  readonly through?: string;
  readonly signal?: AbortSignal;
};

/** Returns the lines of a statement, each without its line break. Errors: NotFound; ValidationError when nothing is sealed yet. */
export async function* exportStatement(
  pool: Pool,
  { accountId, after, through, signal }: StatementQuery,
): AsyncGenerator<string, void> {
  const look = createLook(pool, { share: 1, ...(signal && { signal }) });
  if (!(await accountExists(look, accountId))) throw new NotFound("There is no such account.");
  const last = through === undefined ? await lastRoot(look) : await rootOfDay(look, through);
  if (last === undefined) throw nothingSealed("no day is sealed yet: a day is sealed an hour after its end");
  const proof = await proofOf(look, accountId, last);
  if (proof === undefined) throw nothingSealed("the account has no line on a sealed day yet");
  const first = after === undefined ? undefined : await rootOfDay(look, after);
  if (first !== undefined && first.seal > last.seal)
    throw new ValidationError([{ field: "after", rule: "range", message: "must be a day before the last one" }]);
  const opening = first && (await proofOf(look, accountId, first));
  const windows = await windowsBetween(look, first?.seal ?? 0, last.seal);
  await requireLinesAtHand(look, accountId, windows);
  const header: StatementHeader = { type: "statement", version: 1, account: accountId, opening: opening ?? null };
  yield JSON.stringify(header);
  const seals = new Map(
    (await sealsBetween(look, accountId, first?.seal ?? 0, last.seal)).map((sealed) => [sealed.seal, sealed]),
  );
  for (const window of windows) {
    const sealed = seals.get(window.seal);
    for await (const { text } of readLines(look, accountId, window)) yield text;
    // A month that was archived meanwhile was whole for as long as it was at hand.
    await requireLinesAtHand(look, accountId, [window]);
    if (sealed !== undefined) yield sealText(sealed);
  }
  yield JSON.stringify({ type: "proof", ...proof });
}

/** Errors: ValidationError where a window has lines whose requests are in the archive. */
async function requireLinesAtHand(look: Look, accountId: string, [oldest]: readonly SealWindow[]): Promise<void> {
  const archived = await readArchivedPart(look, accountId);
  if (archived === null || oldest === undefined || oldest.fromMicros >= BigInt(archived.beforeMs) * 1_000n) return;
  // A day of Jakarta begins before that of UTC.
  const day = billingDay(archived.beforeMs);
  const message = `must be ${day} or a later day: requests of before are in the archive`;
  throw new ValidationError([{ field: "after", rule: "statement.archived", message }]);
}

function nothingSealed(message: string): ValidationError {
  return new ValidationError([{ field: "through", rule: "range", message }]);
}

function rootOf({ text, signatures }: SignedRoot): ChainProof["root"] {
  // The column has an order of its own for members.
  return { text, signatures: signatures.map(({ key, public_key, signature }) => ({ key, public_key, signature })) };
}

/** Undefined: the account had no line by then. */
async function proofOf(look: Look, accountId: string, root: SignedRoot): Promise<ChainProof | undefined> {
  const own = await latestSeal(look, accountId, root.seal);
  if (own === undefined) return undefined;
  return { leaf: leafText(accountId, own), path: await pathOf(look, accountId, root), root: rootOf(root) };
}

async function pathOf(look: Look, accountId: string, root: SignedRoot): Promise<readonly PathStep[]> {
  const tree = treeOf(root);
  if (tree !== null) {
    const path = await pathInTree(look, accountId, tree);
    invariant(path !== undefined, "an account with a seal has a place");
    return path;
  }
  const leaves = await readLeaves(look, root.seal, accountId);
  invariant(leaves.own >= 0, "an account with a seal has a leaf");
  return merklePath(leaves.hashes, leaves.own);
}

/** The lines as pieces of a file. */
export async function* inPieces(lines: AsyncIterable<string>): AsyncGenerator<Buffer, void> {
  let piece = "";
  for await (const line of lines) {
    piece += `${line}\n`;
    if (piece.length < PIECE_LENGTH) continue;
    yield Buffer.from(piece);
    piece = "";
  }
  if (piece !== "") yield Buffer.from(piece);
}
