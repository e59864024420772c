// The tree of a root, kept in the database. A seal reads and writes what is above the leaves that it changes, and nothing else.
//
// The leaves are in the order in which accounts got their first seal, so a new account is behind all others. The tree is that of
// `merkleRoot`; every fourth level of it is stored. What is read of the tree before is compared with the root that was signed then:
// a node that another put there is found before it is signed again.

import type { Pool } from "pg";
import type { Look } from "../../database/throttled-reader.ts";
import { merklePath, merkleRoot, type PathStep } from "./merkle.ts";
import { addNodes, type Node, readLeavesUnder, readNodes, readNodesUnder, readPlaces, WIDTH } from "./tree-store.ts";

/** The tree of a signed root. */
export type Tree = {
  readonly seal: number;
  /** How many leaves it has. */
  readonly accounts: number;
  /** In hexadecimal. */
  readonly root: string;
};

/** How many levels of nodes are above so many leaves. */
export function levelsOf(accounts: number): number {
  let levels = 1;
  for (let nodes = Math.ceil(accounts / WIDTH); nodes > 1; nodes = Math.ceil(nodes / WIDTH)) levels += 1;
  return levels;
}

/** How many nodes a level has; level 0 is that of the leaves. */
export function nodesOfLevel(accounts: number, level: number): number {
  return Math.ceil(accounts / WIDTH ** level);
}

export type Growth = {
  readonly seal: number;
  /** The tree before. Null: there is none. */
  readonly before: Tree | null;
  /** How many leaves the tree has now. */
  readonly accounts: number;
  /** Leaves that are new or not as before, by their position: every new one is among them. */
  readonly leaves: ReadonlyMap<number, Buffer>;
};

/** Returns the root with the changed leaves, and stores the nodes above them. Errors: what is stored is not the tree before. */
export async function growTree(pool: Pool, look: Look, growth: Growth): Promise<Buffer> {
  const { seal, before, accounts } = growth;
  let changed = growth.leaves;
  for (let level = 1; level <= levelsOf(accounts); level += 1) {
    const above = [...new Set([...changed.keys()].map((position) => Math.floor(position / WIDTH)))];
    const old = await readUnder(look, above, level, before);
    if (before !== null) await requireTree(look, { before, level, old });
    const nodes = above.map((position) => ({ position, hash: hashOver(old.get(position) ?? [], changed, position) }));
    await addNodes(pool, { level, seal, nodes });
    await requireStored(look, { level, seal, nodes });
    changed = new Map(nodes.map(({ position, hash }) => [position, hash]));
  }
  if (before !== null && changed.size === 0) return Buffer.from(before.root, "hex");
  return changed.get(0) ?? merkleRoot([]);
}

/** What is under nodes of a level in a tree, in its order. */
async function readUnder(
  look: Look,
  above: readonly number[],
  level: number,
  tree: Tree | null,
): Promise<Map<number, Node[]>> {
  if (tree === null) return new Map();
  if (level === 1) return readLeavesUnder(look, above, tree);
  const count = nodesOfLevel(tree.accounts, level - 1);
  return readNodesUnder(look, above, { level: level - 1, seal: tree.seal, count });
}

/** The hash of the node over what was under it and what has changed of that. */
function hashOver(old: readonly Node[], changed: ReadonlyMap<number, Buffer>, position: number): Buffer {
  const hashes = old.map(({ hash }) => hash);
  for (let at = 0; at < WIDTH; at += 1) {
    const hash = changed.get(position * WIDTH + at);
    if (hash !== undefined) hashes[at] = hash;
  }
  return merkleRoot(hashes);
}

/** Errors: what was read does not come to the nodes above it, and at the top to the root. */
async function requireTree(
  look: Look,
  { before, level, old }: { before: Tree; level: number; old: ReadonlyMap<number, readonly Node[]> },
): Promise<void> {
  const top = levelsOf(before.accounts);
  if (level > top || before.accounts === 0) return;
  const { seal } = before;
  const nodes = new Map(
    (await readNodes(look, [...old.keys()], { level, seal })).map(({ position, hash }) => [position, hash]),
  );
  const count = nodesOfLevel(before.accounts, level - 1);
  for (const [position, under] of old) {
    const hash = merkleRoot(under.map((node) => node.hash));
    const isWhole = under.length === Math.min(WIDTH, count - position * WIDTH);
    const isRoot = level < top || hash.toString("hex") === before.root;
    if (isWhole && isRoot && nodes.get(position)?.equals(hash) === true) continue;
    throw new Error(
      `Nothing is signed: the accounts of seal ${seal} come to another root than the one that was signed.`,
    );
  }
}

/** Errors: another node is stored where one was added. */
async function requireStored(
  look: Look,
  { level, seal, nodes }: { level: number; seal: number; nodes: readonly Node[] },
): Promise<void> {
  const positions = nodes.map(({ position }) => position);
  const stored = new Map((await readNodes(look, positions, { level, seal })).map((node) => [node.position, node.hash]));
  const wrong = nodes.find(({ position, hash }) => stored.get(position)?.equals(hash) !== true);
  if (wrong === undefined) return;
  throw new Error(
    `Nothing is signed: node ${wrong.position} of level ${level} of seal ${seal} is not that of its accounts.`,
  );
}

/** The path of an account's leaf in a tree. Undefined: it has none. */
export async function pathInTree(look: Look, accountId: string, tree: Tree): Promise<PathStep[] | undefined> {
  const place = (await readPlaces(look, [accountId])).get(accountId);
  if (place === undefined || place >= tree.accounts) return undefined;
  const path: PathStep[] = [];
  let position = place;
  for (let level = 1; level <= levelsOf(tree.accounts); level += 1) {
    const above = Math.floor(position / WIDTH);
    const under = (await readUnder(look, [above], level, tree)).get(above) ?? [];
    path.push(
      ...merklePath(
        under.map(({ hash }) => hash),
        position % WIDTH,
      ),
    );
    position = above;
  }
  return path;
}
