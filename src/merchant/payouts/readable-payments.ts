// Transactions of the wallet that pay by the contract of a token which is not configured, or which is configured as another one: what they pay
// cannot be read. Where a journal or an open transfer shows what it is, nothing goes on: the payment would be made again later.

import type { PoolClient } from "pg";
import { ValidationError } from "../../kernel/errors.ts";
import { nativeCurrencies } from "../chains/evm/evm-chain.ts";
import { readSignedTransaction } from "../chains/evm/read-signed.ts";
import type { SignedContents } from "../chains/payout-chain.ts";
import { IS_OPEN, type UnknownPayment } from "./adopt-payments.ts";
import type { LostAttempt } from "./journal-store.ts";

const OPEN_TRANSFER = `
SELECT t.id, t.currency_code AS "currencyCode" FROM transfer t
WHERE t.environment = 'production' AND t.network = $1 AND lower(t.address) = lower($2) AND t.received = $3::numeric
  AND t.currency_code <> ALL ($4::text[]) AND ${IS_OPEN} ORDER BY t.id LIMIT 1`;
const CURRENCY_OF = `SELECT currency_code AS "currencyCode" FROM transfer WHERE id = $1::uuid`;

/** A payment, as far as it is known. `currencyCode` null: a version before this wrote the journal. */
type Hidden = { readonly transferId: string; readonly currencyCode: string | null };

/** Errors: ValidationError, where a token's contract has to be configured first. */
export async function requireReadable(
  client: PoolClient,
  { chain, unknown, lost }: { chain: string; unknown: readonly UnknownPayment[]; lost: readonly LostAttempt[] },
): Promise<void> {
  const byHash = new Map(lost.filter(({ kind }) => kind === "payment").map((attempt) => [attempt.hash, attempt]));
  for (const { nonce, hash, transaction } of unknown) {
    const contents = transaction === null ? null : readSignedTransaction(transaction.raw);
    if (contents === null || contents.contract === null) continue;
    const read = transaction?.payment?.coin.currencyCode ?? null;
    const journaled = byHash.get(hash);
    const hidden =
      journaled === undefined
        ? read === null && (await openTransferOf(client, chain, contents))
        : await paymentOf(client, journaled);
    if (hidden === false || hidden === null || (read !== null && read === (hidden.currencyCode ?? read))) continue;
    const token = hidden.currencyCode ?? "a token";
    const setting = `SALDO_${chain.toUpperCase()}_TOKENS`;
    const isOther = read === null ? "" : ` but as ${read}`;
    const message =
      `nonce ${nonce} was used by ${hash}, which pays transfer ${hidden.transferId} in ${token} by the contract ${contents.contract}: ` +
      `${setting} does not have that contract${isOther}; correct it, then resume`;
    throw new ValidationError([{ field: "chain", rule: "wallet.token_unknown", message }]);
  }
}

/** What a journal has a transaction signed for. */
async function paymentOf(client: PoolClient, { transferId, transfer }: LostAttempt): Promise<Hidden> {
  if (transfer !== null) return { transferId, currencyCode: transfer.currencyCode };
  const { rows } = await client.query<{ currencyCode: string }>(CURRENCY_OF, [transferId]);
  return { transferId, currencyCode: rows[0]?.currencyCode ?? null };
}

/** The open transfer in another currency than the chain's own that such a payment would pay. Null: there is none. */
async function openTransferOf(
  client: PoolClient,
  chain: string,
  { to, units }: SignedContents,
): Promise<Hidden | null> {
  const own = Object.values<string>(nativeCurrencies);
  const { rows } = await client.query<{ id: string; currencyCode: string }>(OPEN_TRANSFER, [chain, to, units, own]);
  const [open] = rows;
  return open === undefined ? null : { transferId: open.id, currencyCode: open.currencyCode };
}
