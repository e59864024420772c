// A Merkle tree (RFC 6962's hashing: a leaf and a node cannot be taken for each other). A path shows that a leaf is under a root without
// the other leaves.

import { sha256 } from "./chain.ts";

const LEAF = Buffer.of(0);
const NODE = Buffer.of(1);

/** One step from a leaf to the root: the hash beside it, and on which side. */
export type PathStep = { readonly side: "left" | "right"; readonly hash: string };

export function leafHash(text: string): Buffer {
  return sha256(LEAF, text);
}

/** The root over leaves in their order. A tree without leaves has the hash of nothing. */
export function merkleRoot(leaves: readonly Buffer[]): Buffer {
  let level = leaves;
  while (level.length > 1) level = levelAbove(level);
  return level[0] ?? sha256("");
}

/** The path of the leaf at an index. */
export function merklePath(leaves: readonly Buffer[], index: number): PathStep[] {
  const path: PathStep[] = [];
  let level = leaves;
  for (let at = index; level.length > 1; at = Math.floor(at / 2)) {
    const beside = level[at ^ 1];
    if (beside !== undefined) path.push({ side: at % 2 === 0 ? "right" : "left", hash: beside.toString("hex") });
    level = levelAbove(level);
  }
  return path;
}

/** The root that a leaf and its path lead to. */
export function rootOfPath(leaf: Buffer, path: readonly PathStep[]): Buffer {
  return path.reduce((hash, step) => {
    // Written in another way it leads nowhere: every byte of a statement counts.
    const beside = Buffer.from(/^[0-9a-f]{64}$/.test(step.hash) ? step.hash : "", "hex");
    if (step.side !== "left" && step.side !== "right") return Buffer.alloc(0);
    return step.side === "left" ? sha256(NODE, beside, hash) : sha256(NODE, hash, beside);
  }, leaf);
}

/** A tree in memory whose leaves come and change: its root costs what is above the changed leaves. */
export class GrowingTree {
  /** Accounts of leaves that have no place. */
  readonly without = new Set<string>();
  readonly #levels: Buffer[][] = [[]];
  #changed = new Set<number>();

  set(position: number, leaf: Buffer): void {
    (this.#levels[0] as Buffer[])[position] = leaf;
    this.#changed.add(position);
  }

  /** The root over the leaves. Undefined: they are not so many, without a gap. */
  root(leaves: number): Buffer | undefined {
    if (this.#levels[0]?.length !== leaves) return undefined;
    let changed = this.#changed;
    this.#changed = new Set();
    for (let level = 0; (this.#levels[level]?.length ?? 0) > 1; level += 1) {
      const below = this.#levels[level] as Buffer[];
      const above = (this.#levels[level + 1] ??= []);
      const next = new Set([...changed].map((position) => Math.floor(position / 2)));
      for (const position of next) {
        const [left, right] = [below[2 * position], below[2 * position + 1]];
        if (left === undefined || (right === undefined && 2 * position + 1 < below.length)) return undefined;
        above[position] = right === undefined ? left : sha256(NODE, left, right);
      }
      changed = next;
    }
    return this.#levels.findLast((level) => level.length === 1)?.[0] ?? sha256("");
  }
}

/** A last hash without a neighbor goes up as it is. */
function levelAbove(level: readonly Buffer[]): Buffer[] {
  const above: Buffer[] = [];
  for (let at = 0; at < level.length; at += 2) {
    const [left, right] = [level[at] as Buffer, level[at + 1]];
    above.push(right === undefined ? left : sha256(NODE, left, right));
  }
  return above;
}
