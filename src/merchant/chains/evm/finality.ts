// Decides which blocks of a node are final. A node's reported height is not enough: the blocks above a transaction must
// exist, and each must name the one below it as its parent, down to the transaction's own block.

import { BaseError, type Hex, type PublicClient } from "viem";
import type { ChainHead } from "../payout-chain.ts";

/** How many blocks make a transaction final, its own included; or the chain's own finality. */
export type FinalityRule = number | "finalized";

export type BlockName = { readonly number: number; readonly hash: string };

/** `doubt`: the node reports the block as final and its own blocks contradict that. */
export type Verdict = { readonly isFinal: boolean; readonly doubt: string | null };

/**
 * The most parent links to check. Each further link costs a call and proves nothing more about a chain of that depth.
 */
const MOST_LINKS = 64;

const OPEN: Verdict = { isFinal: false, doubt: null };

type Header = { readonly hash: Hex | null; readonly parentHash: Hex };

export class Finality {
  readonly #client: PublicClient;
  readonly #rule: FinalityRule;
  /** Headers that were read for one head: the payouts of a round are in the same blocks. */
  readonly #headers = new WeakMap<ChainHead, Map<number, Header | null>>();

  constructor(client: PublicClient, rule: FinalityRule) {
    this.#client = client;
    this.#rule = rule;
  }

  async head(): Promise<ChainHead> {
    const latest = Number(await this.#client.getBlockNumber());
    if (this.#rule !== "finalized") return { latest, final: latest - this.#rule + 1 };
    const { number } = await this.#client.getBlock({ blockTag: "finalized" });
    return { latest, final: number === null ? -1 : Math.min(Number(number), latest) };
  }

  /** Whether a block is final: deep enough, and below blocks that descend from it. */
  async judge(block: BlockName, head: ChainHead): Promise<Verdict> {
    if (block.number > head.final) return OPEN;
    const depth = this.#rule === "finalized" ? head.final - block.number + 1 : this.#rule;
    const top = block.number + Math.min(depth, MOST_LINKS) - 1;
    let below: string | null = null;
    for (let number = block.number; number <= top; number += 1) {
      const header = await this.#header(number, head);
      if (header === null) return doubt(`block ${number} does not exist, though the node is at ${head.latest}`);
      // Replaced since the transaction was looked up: the next round reads its new block.
      if (below === null && header.hash !== block.hash) return OPEN;
      if (below !== null && header.parentHash !== below)
        return doubt(`block ${number} does not follow block ${number - 1}`);
      below = header.hash;
    }
    return { isFinal: true, doubt: null };
  }

  /** Whether the chain's block of that number is this one. Null: the node has no block of that number. */
  async hasBlock(block: BlockName, head: ChainHead): Promise<boolean | null> {
    const header = await this.#header(block.number, head);
    return header === null ? null : header.hash === block.hash;
  }

  async #header(number: number, head: ChainHead): Promise<Header | null> {
    const known = this.#headers.get(head) ?? new Map<number, Header | null>();
    this.#headers.set(head, known);
    const found = known.get(number);
    if (found !== undefined) return found;
    const header = await absentAsNull("BlockNotFoundError", () =>
      this.#client.getBlock({ blockNumber: BigInt(number) }),
    );
    known.set(number, header);
    return header;
  }
}

function doubt(text: string): Verdict {
  return { isFinal: false, doubt: text };
}

/** The result; null: the node answers with an error of that name that there is none. */
export async function absentAsNull<T>(name: string, ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof BaseError && error.name === name) return null;
    throw error;
  }
}
