// Compares the bytes of lost transactions with what they should pay, before they are sent again: the audit would find the difference only when the
// coins have left. The books decide where they have the transfer, the journal where they lack it.

import type { PoolClient } from "pg";
import { differenceOf, foreignSignature } from "./audit-signed-bytes.ts";
import type { LostAttempt } from "./journal-store.ts";

const IN_BOOKS = `
SELECT address AS recipient, received AS units, currency_code AS currency FROM transfer WHERE id = $1::uuid`;

/** A wallet, and the contracts of its tokens by currency. */
export type SigningWallet = {
  readonly walletId: string;
  readonly chain: string;
  readonly address: string;
  readonly tokens: Readonly<Record<string, string>>;
};

type Due = { readonly recipient: string; readonly units: string; readonly currency: string };

/** The first difference of the attempts of one nonce. Null: there is none. */
export async function findWrongBytes(
  client: PoolClient,
  { chain, address: wallet, tokens }: SigningWallet,
  attempts: readonly LostAttempt[],
): Promise<string | null> {
  const due = await dueOf(client, attempts);
  if (due === null) return "its transfer is not known";
  for (const { hash, kind, raw, nonce, number } of attempts) {
    const contract = kind === "payment" ? { contract: tokens[due.currency] ?? null } : {};
    const attempt = { payout: "", number, kind, raw, hash, nonce, chain, wallet, ...due, ...contract };
    const difference = differenceOf(attempt) ?? (await foreignSignature(attempt));
    if (difference !== null) return `${hash}: ${difference}`;
  }
  return null;
}

async function dueOf(client: PoolClient, attempts: readonly LostAttempt[]): Promise<Due | null> {
  const { rows } = await client.query<Due>(IN_BOOKS, [attempts[0]?.transferId]);
  if (rows[0] !== undefined) return rows[0];
  const transfer = attempts.find((attempt) => attempt.transfer !== null)?.transfer ?? null;
  if (transfer === null) return null;
  return { recipient: transfer.address, units: transfer.received, currency: transfer.currencyCode };
}
