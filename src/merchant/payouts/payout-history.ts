// The payouts of a transfer on its chain, as a statement shows them.

import type { Pool, PoolClient } from "pg";
import { isUuid } from "../../kernel/ids.ts";
import type { PayoutAttempt } from "../transfers/statement.ts";
import { REVERTED } from "./settle-payout.ts";
import type { AttemptKind, AttemptState, PayoutState } from "./payout.ts";

const HISTORY = `
SELECT p.id, w.chain, w.address, p.nonce, p.state, p.filling_reason, p.final_hash, p.chosen_at, p.ended_at, t.confirmations,
       a.number, a.kind, a.hash, a.state AS attempt_state, a.signed_at, a.broadcast_at, a.block_number, a.block_hash
FROM payout p JOIN wallet w ON w.id = p.wallet_id
CROSS JOIN LATERAL (SELECT confirmations FROM transfer WHERE id = p.transfer_id OFFSET 0) t
LEFT JOIN LATERAL (SELECT * FROM payout_attempt WHERE payout_id = p.id OFFSET 0) a ON true
WHERE p.transfer_id = $1::uuid ORDER BY p.id, a.number`;

/** A signed transaction of a payout. */
export type AttemptRecord = {
  readonly kind: AttemptKind;
  readonly hash: string;
  readonly state: AttemptState;
  readonly signedAt: Date;
  /** When it was handed to the network last; null: not yet. */
  readonly broadcastAt: Date | null;
  readonly blockNumber: number | null;
  readonly blockHash: string | null;
};

/** One nonce that was meant for a transfer. */
export type PayoutRecord = {
  readonly payoutId: string;
  readonly chain: string;
  /** The wallet's address. */
  readonly wallet: string;
  readonly nonce: number;
  readonly state: PayoutState;
  /** Why the nonce was filled instead of paid; null: it was not. */
  readonly fillingReason: string | null;
  /** Of the transfer, when it was last looked at. */
  readonly confirmations: number;
  /** The transaction that has used up the nonce for good. */
  readonly finalHash: string | null;
  readonly chosenAt: Date;
  readonly endedAt: Date | null;
  readonly attempts: readonly AttemptRecord[];
};

type Columns = {
  id: string;
  chain: string;
  address: string;
  nonce: number;
  state: PayoutState;
  filling_reason: string | null;
  final_hash: string | null;
  chosen_at: Date;
  ended_at: Date | null;
  confirmations: number;
  number: number | null;
  kind: AttemptKind;
  hash: string;
  attempt_state: AttemptState;
  signed_at: Date;
  broadcast_at: Date | null;
  block_number: bigint | null;
  block_hash: string | null;
};

/** The payouts of a transfer with their attempts, oldest first: more than one only where a nonce was lost to a foreign transaction. */
export async function readPayoutHistory(
  client: Pick<Pool | PoolClient, "query">,
  transferId: string,
): Promise<PayoutRecord[]> {
  const { rows } = await client.query<Columns>(HISTORY, [isUuid(transferId) ? transferId : null]);
  return [...Map.groupBy(rows, ({ id }) => id).values()].flatMap((ofPayout) => {
    const [first] = ofPayout;
    if (first === undefined) return [];
    return [
      {
        payoutId: first.id,
        chain: first.chain,
        wallet: first.address,
        nonce: first.nonce,
        state: first.state,
        fillingReason: first.filling_reason,
        confirmations: first.confirmations,
        finalHash: first.final_hash,
        chosenAt: first.chosen_at,
        endedAt: first.ended_at,
        attempts: ofPayout.filter(({ number }) => number !== null).map(toAttempt),
      },
    ];
  });
}

function toAttempt(row: Columns): AttemptRecord {
  return {
    kind: row.kind,
    hash: row.hash,
    state: row.attempt_state,
    signedAt: row.signed_at,
    broadcastAt: row.broadcast_at,
    blockNumber: row.block_number === null ? null : Number(row.block_number),
    blockHash: row.block_hash,
  };
}

/** The same as a statement shows it: every transaction that was signed, in the words of its contract. */
export async function readPayoutAttempts(
  client: Pick<Pool | PoolClient, "query">,
  transferId: string,
): Promise<PayoutAttempt[]> {
  const payouts = await readPayoutHistory(client, transferId);
  return payouts.flatMap((payout) =>
    payout.attempts.map((attempt) => ({
      transactionHash: attempt.hash,
      state: stateOf(payout, attempt),
      nonce: BigInt(payout.nonce),
      confirmations: attempt.blockHash === null ? 0 : payout.confirmations,
      blockNumber: attempt.blockNumber === null ? null : BigInt(attempt.blockNumber),
      createdAt: attempt.signedAt,
      problem: problemOf(payout, attempt),
    })),
  );
}

function stateOf({ state, endedAt }: PayoutRecord, attempt: AttemptRecord): PayoutAttempt["state"] {
  if (attempt.state === "final") return state === "reverted" ? "failed" : "confirmed";
  if (endedAt !== null) return "replaced";
  if (attempt.state === "signed") return attempt.broadcastAt === null ? "signed" : "unknown";
  return attempt.state === "mined" ? "mined" : "broadcast";
}

function problemOf({ state, fillingReason, finalHash }: PayoutRecord, { kind, hash }: AttemptRecord): string {
  if (state === "displaced") return "Another transaction has used up its nonce.";
  if (kind === "filler") return `It moves nothing and fills the nonce. ${fillingReason ?? ""}`.trimEnd();
  return state === "reverted" && finalHash === hash ? REVERTED : "";
}
