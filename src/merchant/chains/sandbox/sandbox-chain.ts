// The embedded chain of sandbox transfers. It has blocks, nonces, fees, a mempool and finality like a real one, and the
// decimals of an amount trigger every possible fault (outcomes.ts). It depends only on the clock and on the broadcast
// transactions, so every process on one database sees the same chain.

import { createHash } from "node:crypto";
import type { Database } from "../../../database/database.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { coins } from "../currencies.ts";
import {
  type ChainPayment,
  type FeeOffer,
  type NonceHolder,
  type PayoutChain,
  replacingFee,
  type SeenTransaction,
  type SignedContents,
  UnsignablePayment,
} from "../payout-chain.ts";
import { outcomeOf } from "./outcomes.ts";
import {
  acceptTransaction,
  mineDue,
  readHolder,
  readMinedCount,
  readTransaction,
  type SandboxTransaction,
} from "./sandbox-store.ts";

/** The pace of the chain, and how many blocks make a transaction final. */
export const BLOCK_MS = 1_000;
export const FINAL_AFTER_BLOCKS = 3;
/** How long a delayed payment stays in the mempool. */
const DELAY_MS = 30_000;
/** A reorganized payment loses its block after so many confirmations, and gets another one after that. */
const REORGANIZED_AT = 2;
const FOUND_AGAIN_AFTER = 3;
/** Block 0 is at this time. */
const GENESIS_MS = Date.UTC(2026, 0, 1);
const FEE: FeeOffer = { most: 1_000n, priority: 100n };
const WALLET = "sandbox-hot-wallet";
/** The wallet's balance, which never runs out. */
const STOCK_COINS = 10n ** 15n;

/** The signed content. JSON keeps a bigint as text. */
type Signed = { nonce: number; to: string | null; coin: string | null; units: string; most: string; outcome: string };

/** Makes the chain on its tables. */
export function createSandboxChain({ pool }: Pick<Database, "pool">, clock: Clock): PayoutChain {
  return {
    name: "sandbox",
    wallet: WALLET,
    feeCoin: null,
    currencies: [...new Set(coins.map(({ currencyCode }) => currencyCode))],
    tokens: {},
    ownAddresses: [],

    // There is no configuration to check.
    check: () => Promise.resolve(),

    async head() {
      const now = clock.now();
      await mineDue(pool, now);
      const latest = blockAt(now);
      return { latest, final: latest - FINAL_AFTER_BLOCKS + 1 };
    },

    async find({ hash }, { latest }): Promise<SeenTransaction> {
      const transaction = await readTransaction(pool, hash);
      if (transaction === undefined || transaction.readyAtMs === null) return { status: "unknown" };
      const block = blockOf(transaction, latest);
      if (block === null) {
        const holder = await readHolder(pool, transaction.nonce);
        return { status: holder === undefined || holder.hash === hash ? "pending" : "unknown" };
      }
      const confirmations = Math.max(latest - block.number + 1, 1);
      const succeeded = transaction.outcome !== "reverted";
      return {
        status: "mined",
        block,
        confirmations,
        isFinal: confirmations >= FINAL_AFTER_BLOCKS,
        succeeded,
        feePaid: 0n,
      };
    },

    // A final block is never replaced here.
    hasBlock: () => Promise.resolve(true),

    nextNonce: () => readMinedCount(pool),

    pendingNonce: () => readMinedCount(pool),

    async holderOf(nonce, { latest }): Promise<NonceHolder | null> {
      const holder = await readHolder(pool, nonce);
      const block = holder === undefined ? null : blockOf(holder, latest);
      if (holder === undefined || block === null) return null;
      // Its transactions are in the same database as the books.
      return { hash: holder.hash, isFinal: latest - block.number + 1 >= FINAL_AFTER_BLOCKS, transaction: null };
    },

    balance: ({ decimals }) => Promise.resolve(STOCK_COINS * 10n ** BigInt(decimals)),
    suggestFee: (replaced) => Promise.resolve(replaced === null ? FEE : replacingFee(replaced, FEE)),
    mostCost: () => 0n,

    // There is no key.
    checkSigner: () => Promise.resolve(),
    signerTrouble: () => null,

    sign({ nonce, payment, fee }) {
      const outcome = outcomeOf(payment);
      if (outcome === "unsignable")
        return Promise.reject(new UnsignablePayment("the sandbox does not sign this amount"));
      const raw = Buffer.from(JSON.stringify(signedOf({ nonce, payment, fee }, outcome))).toString("hex");
      return Promise.resolve({ raw, hash: hashOf(raw) });
    },

    async broadcast(raw) {
      const signed = JSON.parse(Buffer.from(raw, "hex").toString()) as Signed;
      if (signed.outcome === "refused") throw new Error("the sandbox refuses this transaction");
      const now = clock.now();
      await mineDue(pool, now);
      await acceptTransaction(pool, {
        hash: hashOf(raw),
        nonce: signed.nonce,
        fee: BigInt(signed.most),
        outcome: signed.outcome,
        firstReadyAtMs: firstReadyAt(signed, now),
        readyAtMs: now + BLOCK_MS,
      });
      if (signed.outcome === "unanswered") throw new Error("the sandbox accepted the transaction without an answer");
    },
  };
}

/** What signed bytes do. Null: they are not bytes of the sandbox. A filler pays nothing to the wallet. */
export function readSandboxBytes(raw: string): SignedContents | null {
  try {
    const { nonce, to, units } = JSON.parse(Buffer.from(raw, "hex").toString()) as Signed;
    return { hash: hashOf(raw), nonce, to: to ?? WALLET, units: BigInt(units), contract: null };
  } catch {
    return null;
  }
}

function signedOf(
  { nonce, payment, fee }: { nonce: number; payment: ChainPayment | null; fee: FeeOffer },
  outcome: string,
): Signed {
  return {
    nonce,
    to: payment?.to ?? null,
    coin: payment === null ? null : `${payment.coin.currencyCode} on ${payment.coin.network}`,
    units: String(payment?.units ?? 0n),
    most: String(fee.most),
    // The higher offer is mined.
    outcome: outcome === "underpriced" && fee.most > FEE.most ? "paid" : outcome,
  };
}

/** When a transaction that is broadcast for the first time can be mined; null: it is dropped, or pays too little. */
function firstReadyAt({ outcome }: Signed, now: number): number | null {
  if (outcome === "dropped") return null;
  if (outcome === "underpriced") return Number.MAX_SAFE_INTEGER;
  return now + (outcome === "delayed" ? DELAY_MS : BLOCK_MS);
}

function blockAt(ms: number): number {
  return Math.floor((ms - GENESIS_MS) / BLOCK_MS);
}

/** The block of a transaction while the chain is at `latest`; null: it is in none. */
function blockOf({ minedAtMs, outcome }: SandboxTransaction, latest: number): { number: number; hash: string } | null {
  if (minedAtMs === null) return null;
  const first = blockAt(minedAtMs);
  const age = latest - first;
  if (outcome !== "reorganized" || age < REORGANIZED_AT) return { number: first, hash: hashOf(`${first} first`) };
  if (age < FOUND_AGAIN_AFTER) return null;
  const second = first + FOUND_AGAIN_AFTER;
  return { number: second, hash: hashOf(`${second} first`) };
}

function hashOf(text: string): string {
  return `0x${createHash("sha256").update(text).digest("hex")}`;
}
