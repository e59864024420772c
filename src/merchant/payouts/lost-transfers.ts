// Transfers that were ordered and signed in a time that the books have lost. A journal has what such a transfer is: it is made again with its
// own id and externalId, and its total is held again. So its merchant's repeated order returns it, and it is not paid twice.

import type { PoolClient } from "pg";
import { isUuid, timeOfUuidv7, uuidv7 } from "../../kernel/ids.ts";
import { invariant } from "../../kernel/invariant.ts";
import { type Asset, add, type Money, scaleOf } from "../../kernel/money.ts";
import { creditFund, type Fund, holdInFund, lockFund, openFund } from "../../ledger/funds.ts";
import { systemAccounts } from "../../ledger/system-accounts.ts";
import type { Network } from "../chains/currencies.ts";
import { chooseFeeRow, computeFee } from "../merchants/fee-schedule.ts";
import { readFeeRows } from "../merchants/fee-store.ts";
import type { OrderedTransfer, Transfer } from "../transfers/transfer.ts";
import { UNCOVERED, uncoveredReference } from "../transfers/uncovered.ts";
import { slugOf } from "../transfers/slug.ts";
import { insertEvent, insertTransfer, readTransferOfExternalId } from "../transfers/transfer-store.ts";
import type { UnknownPayment } from "./adopt-payments.ts";
import type { LostAttempt } from "./journal-store.ts";
import type { JournaledTransfer } from "./payout.ts";
import { isSameOrder } from "./taken-names.ts";

/** A transfer of a journal, which the books lack. */
export type LostTransfer = { readonly transferId: string; readonly transfer: JournaledTransfer };

/** What we bear of a transfer, because its fund did not have it: `units` of the asset, and their posting. */
export type UncoveredTransfer = {
  readonly transferId: string;
  readonly asset: Asset;
  readonly units: string;
  readonly accountId: string;
  readonly postingId: string;
};

/** A transfer that has another name than its merchant gave it, because another order has that one. */
export type RenamedTransfer = {
  readonly transferId: string;
  readonly orderedAs: string;
  readonly externalId: string;
  readonly takenBy: string;
};

/** What was made again. `uncovered` null: its fund had the total. `renamed` null: it has its own name. */
export type RemadeTransfer = {
  readonly transferId: string;
  readonly uncovered: UncoveredTransfer | null;
  readonly renamed: RenamedTransfer | null;
};

// What has the name by now may be the repeated order: that one is the transfer, unless it has ended without a payment.
const OWNER = `
SELECT m.account_id AS "accountId", o.id AS "takenBy"
FROM merchant m LEFT JOIN transfer o ON o.merchant_id = m.id AND o.environment = m.environment AND o.external_id = $3
WHERE m.id = $1::uuid AND m.environment = 'production' AND NOT EXISTS (SELECT FROM transfer t WHERE t.id = $2::uuid)
  AND (o.id IS NULL OR o.status IN ('CANCELED', 'REJECTED') OR NOT ${isSameOrder("o", "$4::jsonb")})`;

type Owner = { readonly accountId: string; readonly takenBy: string | null };

/** The transfers that these transactions have paid by the journals, and that the books lack. */
export async function findLostTransfers(
  client: PoolClient,
  { unknown, lost }: { unknown: readonly UnknownPayment[]; lost: readonly LostAttempt[] },
): Promise<readonly { readonly unknown: UnknownPayment; readonly lost: LostTransfer }[]> {
  const byHash = new Map(lost.filter(({ kind }) => kind === "payment").map((attempt) => [attempt.hash, attempt]));
  const found = [];
  for (const each of unknown) {
    const known = lostTransferOf(byHash.get(each.hash));
    // The bytes of a displaced payout never pay; the transaction in their place may have.
    if (each.displaced?.delivery.outcome === "nothing") continue;
    if (known !== null && pays(each, known) && (await ownerOf(client, known)) !== null)
      found.push({ unknown: each, lost: known });
  }
  return found;
}

/** Whether the books lack a transfer that can be made again. */
export async function isLostTransfer(client: PoolClient, attempts: readonly LostAttempt[]): Promise<boolean> {
  const known = lostTransferOf(described(attempts));
  return known !== null && (await ownerOf(client, known)) !== null;
}

/** Makes the transfer of these attempts again, where the books lack it. Null: they have it, or cannot have it. */
export async function remakeLost(client: PoolClient, attempts: readonly LostAttempt[]): Promise<RemadeTransfer | null> {
  const known = lostTransferOf(described(attempts));
  return known === null ? null : remakeTransfer(client, known);
}

/**
 * Makes a transfer again as it was ordered, inside the caller's transaction, and holds its total. The money has left, or may leave: what the
 * fund does not have is ours to bear, by a posting of its own. Null: the books have the transfer or its name, or lack its merchant.
 */
export async function remakeTransfer(client: PoolClient, lost: LostTransfer): Promise<RemadeTransfer | null> {
  const { merchantId, asset } = lost.transfer;
  const merchant = await ownerOf(client, lost);
  if (merchant === null) return null;
  const fund = await openFund(client, { merchantId, asset, accountId: merchant.accountId });
  // An order of that name may have been placed before the fund was locked.
  const owner = await ownerOf(client, lost);
  if (owner === null) return null;
  const { order, orderedAt } = await orderOf(client, lost);
  const uncovered = await bear(client, fund, order);
  const made = await insertByFreeName(client, { order, orderedAt, isTaken: owner.takenBy !== null });
  const covered = await lockFund(client, { merchantId, asset });
  invariant(covered !== undefined, "a fund that is locked is there");
  await holdInFund(client, covered, order.total.units);
  await insertEvent(client, made.transferId, made);
  return { transferId: made.transferId, uncovered, renamed: await renamedOf(client, lost, made) };
}

/** Writes the transfer under its own name, or another where an order has that one. An order of another currency may take it meanwhile. */
async function insertByFreeName(
  client: PoolClient,
  { order, orderedAt, isTaken }: { order: OrderedTransfer; orderedAt: Date | null; isTaken: boolean },
): Promise<Transfer> {
  const other = `lost-${order.transferId}`;
  const names = [...(isTaken ? [] : [order.externalId]), other, `${other}-${uuidv7()}`];
  let made: Transfer | undefined;
  for (const externalId of names) {
    made ??= await insertTransfer(client, {
      ...order,
      externalId,
      status: "PENDING",
      awaitsApproval: false,
      reason: null,
      createdAt: orderedAt,
    });
  }
  invariant(made !== undefined, "a name that cannot be guessed is free");
  return made;
}

async function renamedOf(
  client: PoolClient,
  { transfer: { externalId: orderedAs } }: LostTransfer,
  { transferId, merchantId, environment, externalId }: Transfer,
): Promise<RenamedTransfer | null> {
  if (externalId === orderedAs) return null;
  const taken = await readTransferOfExternalId(client, { merchantId, environment, externalId: orderedAs });
  invariant(taken !== undefined, "a name that is not free is that of a transfer");
  return { transferId, orderedAs, externalId, takenBy: taken.transferId };
}

/** Puts on a locked fund what it lacks of an order's total. Null: it has the total. */
async function bear(
  client: PoolClient,
  fund: Fund,
  { transferId, total }: OrderedTransfer,
): Promise<UncoveredTransfer | null> {
  const lacking = total.units - (fund.posted - fund.held);
  if (lacking <= 0n) return null;
  const { accountId, asset } = fund;
  const postingId = await creditFund(client, {
    fund,
    amount: lacking,
    from: systemAccounts.operatorAdjustments,
    reason: UNCOVERED,
    reference: uncoveredReference(transferId),
  });
  return { transferId, asset, units: String(lacking), accountId, postingId };
}

/** Whether a transaction pays what the journal has of its transfer. */
function pays({ transaction }: UnknownPayment, { transfer }: LostTransfer): boolean {
  const payment = transaction?.payment ?? null;
  if (payment === null) return false;
  const { coin, to, units } = payment;
  const isCoin = coin.network === transfer.network && coin.currencyCode === transfer.currencyCode;
  return isCoin && to.toLowerCase() === transfer.address.toLowerCase() && units === BigInt(transfer.received);
}

/** An earlier version may have written the first attempts of a nonce. */
function described(attempts: readonly LostAttempt[]): LostAttempt | undefined {
  return attempts.find(({ transfer }) => transfer !== null);
}

function lostTransferOf(attempt: LostAttempt | undefined): LostTransfer | null {
  if (attempt === undefined || attempt.transfer === null) return null;
  return { transferId: attempt.transferId, transfer: attempt.transfer };
}

/** The account whose merchant lacks the transfer, and what has its name. Null: it does not lack it, or there is no such merchant. */
async function ownerOf(client: PoolClient, { transferId, transfer }: LostTransfer): Promise<Owner | null> {
  if (!isUuid(transfer.merchantId)) return null;
  const values = [transfer.merchantId, transferId, transfer.externalId, JSON.stringify(transfer)];
  return (await client.query<Owner>(OWNER, values)).rows[0] ?? null;
}

/** The order, and when it was placed. Null: its row of the fee schedule is lost, so it is priced by the row of today. */
async function orderOf(
  client: PoolClient,
  { transferId, transfer }: LostTransfer,
): Promise<{ readonly order: OrderedTransfer; readonly orderedAt: Date | null }> {
  const { merchantId, externalId, network, currencyCode, asset } = transfer;
  const received: Money = { units: BigInt(transfer.received), asset };
  const isPriceKnown = (await client.query("SELECT FROM fee_schedule WHERE id = $1::uuid", [transfer.feeRowId]))
    .rowCount;
  const feeRow = chooseFeeRow(await readFeeRows(client, { merchantId, currencyCode }), { merchantId, currencyCode });
  invariant(feeRow !== undefined, "the fee schedule has a default row");
  const fee = isPriceKnown === 1 ? { units: BigInt(transfer.fee), asset } : computeFee(feeRow, received);
  const order = {
    transferId,
    merchantId,
    environment: "production",
    externalId,
    slug: slugOf(transferId),
    coin: { currencyCode, network: network as Network, decimals: scaleOf(asset) },
    isNetworkImplied: transfer.isNetworkImplied,
    address: transfer.address,
    orderedAddress: transfer.orderedAddress,
    received,
    fee,
    total: add(received, fee),
    feeRowId: isPriceKnown === 1 ? transfer.feeRowId : feeRow.id,
  } as const satisfies OrderedTransfer;
  return { order, orderedAt: isPriceKnown === 1 ? new Date(timeOfUuidv7(transferId)) : null };
}
