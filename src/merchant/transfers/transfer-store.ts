// SQL of transfers and their events.

import type { Pool, PoolClient } from "pg";
import type { Environment } from "../../identity/principal.ts";
import { isUuid, uuidv7 } from "../../kernel/ids.ts";
import { invariant } from "../../kernel/invariant.ts";
import { type Asset, scaleOf } from "../../kernel/money.ts";
import { readPostings, type WrittenPosting } from "../../ledger/postings.ts";
import { INSERT_CALLBACK_OF_EVENT } from "../callbacks/store.ts";
import { assetOf, type Network } from "../chains/currencies.ts";
import type { OrderedTransfer, Transfer, TransferEvent, TransferStanding, TransferStatus } from "./transfer.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

const COLUMN_NAMES = `
  id merchant_id environment external_id slug currency_code network implied_network asset address ordered_address received
  fee total fee_id status awaits_approval transaction_hash confirmations reason created_at updated_at confirmed_at`
  .trim()
  .split(/\s+/);

/** The columns that fromTransferColumns reads, of a table under its name in a query. */
export function transferColumns(table: string): string {
  return COLUMN_NAMES.map((name) => `${table}.${name}`).join(", ");
}

const COLUMNS = transferColumns("transfer");
const INSERT = `
INSERT INTO transfer (id, merchant_id, environment, external_id, slug, currency_code, network, implied_network, asset,
  address, ordered_address, received, fee, total, fee_id, status, awaits_approval, reason, created_at, updated_at)
SELECT $1::uuid, $2::uuid, $3::text, $4::text, $5::text, $6::text, $7::text, $8::boolean, $9::text, $10::text, $11::text,
  $12::numeric, $13::numeric, $14::numeric, $15::uuid, $16::text, $17::boolean, $18::text, coalesce($19::timestamptz, now), now
FROM clock_timestamp() AS now
ON CONFLICT ON CONSTRAINT transfer_external_id DO NOTHING RETURNING ${COLUMNS}`;
const BY_EXTERNAL_ID = `
SELECT ${COLUMNS} FROM transfer WHERE merchant_id = $1::uuid AND environment = $2 AND external_id = $3`;
const BY_ID = `SELECT ${COLUMNS} FROM transfer WHERE id = $1::uuid`;
const LOCK = `${BY_ID} FOR NO KEY UPDATE`;
const OF_ACCOUNT = `${BY_ID} AND merchant_id IN (SELECT id FROM merchant WHERE account_id = $2::uuid)`;
const FUND_OF = `SELECT merchant_id, asset FROM transfer WHERE id = $1::uuid`;
const SET_STANDING = `
UPDATE transfer SET status = $2, transaction_hash = $3, confirmations = $4, reason = $5, awaits_approval = $6,
  updated_at = $7::timestamptz, confirmed_at = CASE WHEN $2 = 'CONFIRMED' THEN $7::timestamptz END
WHERE id = $1::uuid`;
// An event and its callback, if its merchant has callbacks, are written in one statement: so none is ever forgotten.
const INSERT_EVENT = `
WITH event AS (
  INSERT INTO transfer_event (id, transfer_id, status, transaction_hash, confirmations, reason, created_at)
  VALUES ($1::uuid, $2::uuid, $3, $4, $5, $6, coalesce($7::timestamptz, clock_timestamp())) RETURNING id, transfer_id, created_at
), callback AS (${INSERT_CALLBACK_OF_EVENT})
SELECT created_at FROM event`;
const EVENTS_OF = `
SELECT id, transfer_id, status, transaction_hash, confirmations, reason, created_at
FROM transfer_event WHERE transfer_id = $1::uuid ORDER BY id`;

const OWNER_OF = `SELECT m.account_id FROM transfer t JOIN merchant m ON m.id = t.merchant_id WHERE t.id = $1::uuid`;

/** The parts in which a transfer is posted. */
export type TransferLeg = "payout" | "sent" | "fee";
const LEGS = ["payout", "sent", "fee"] as const satisfies readonly TransferLeg[];

/** The reference of a part: it is unique for ever, so no part is posted twice. */
export function legReference(transferId: string, leg: TransferLeg): string {
  return `transfer:${transferId}:${leg}`;
}

type StandingColumns = {
  status: TransferStatus;
  transaction_hash: string | null;
  confirmations: number;
  reason: string | null;
};
/** A row of the table `transfer`. */
export type TransferColumns = StandingColumns & {
  id: string;
  merchant_id: string;
  environment: Environment;
  external_id: string;
  slug: string;
  currency_code: string;
  network: Network;
  implied_network: boolean;
  asset: Asset;
  address: string;
  ordered_address: string;
  received: string;
  fee: string;
  total: string;
  fee_id: string;
  awaits_approval: boolean;
  created_at: Date;
  updated_at: Date;
  confirmed_at: Date | null;
};

/** The data of a new transfer. `createdAt` null: now. */
export type NewTransfer = OrderedTransfer &
  Pick<Transfer, "status" | "awaitsApproval" | "reason"> & { readonly createdAt?: Date | null };

/** Adds a transfer; undefined when its merchant has used the externalId. */
export async function insertTransfer(client: PoolClient, transfer: NewTransfer): Promise<Transfer | undefined> {
  const { coin, received, fee, total } = transfer;
  const { rows } = await client.query<TransferColumns>(INSERT, [
    transfer.transferId,
    transfer.merchantId,
    transfer.environment,
    transfer.externalId,
    transfer.slug,
    coin.currencyCode,
    coin.network,
    transfer.isNetworkImplied,
    assetOf(coin),
    transfer.address,
    transfer.orderedAddress,
    received.units,
    fee.units,
    total.units,
    transfer.feeRowId,
    transfer.status,
    transfer.awaitsApproval,
    transfer.reason,
    transfer.createdAt ?? null,
  ]);
  return rows[0] && fromTransferColumns(rows[0]);
}

/** A merchant's transfer by its externalId. */
export async function readTransferOfExternalId(
  client: Queryable,
  { merchantId, environment, externalId }: Pick<OrderedTransfer, "merchantId" | "environment" | "externalId">,
): Promise<Transfer | undefined> {
  const { rows } = await client.query<TransferColumns>(BY_EXTERNAL_ID, [merchantId, environment, externalId]);
  return rows[0] && fromTransferColumns(rows[0]);
}

/** A transfer by its id. */
export async function readTransfer(client: Queryable, transferId: string): Promise<Transfer | undefined> {
  const { rows } = await client.query<TransferColumns>(BY_ID, [isUuid(transferId) ? transferId : null]);
  return rows[0] && fromTransferColumns(rows[0]);
}

/** A transfer by its id, where it is one of an account's merchants. */
export async function readTransferOfAccount(
  client: Queryable,
  { transferId, accountId }: { transferId: string; accountId: string },
): Promise<Transfer | undefined> {
  const { rows } = await client.query<TransferColumns>(OF_ACCOUNT, [isUuid(transferId) ? transferId : null, accountId]);
  return rows[0] && fromTransferColumns(rows[0]);
}

/** The fund that holds a transfer: it is locked before the transfer is. */
export async function readFundOf(
  client: Queryable,
  transferId: string,
): Promise<{ merchantId: string; asset: Asset } | undefined> {
  const { rows } = await client.query<{ merchant_id: string; asset: Asset }>(FUND_OF, [
    isUuid(transferId) ? transferId : null,
  ]);
  return rows[0] && { merchantId: rows[0].merchant_id, asset: rows[0].asset };
}

/** Locks a transfer whose fund is locked. */
export async function lockTransferRow(client: PoolClient, transferId: string): Promise<Transfer> {
  const { rows } = await client.query<TransferColumns>(LOCK, [transferId]);
  invariant(rows[0] !== undefined, "a transfer is never deleted");
  return fromTransferColumns(rows[0]);
}

/** Writes the new state of a locked transfer, as of a moment. */
export async function writeStanding(
  client: PoolClient,
  transferId: string,
  standing: TransferStanding & { readonly awaitsApproval: boolean; readonly at: Date },
): Promise<void> {
  const { status, transactionHash, confirmations, reason, awaitsApproval, at } = standing;
  const values = [transferId, status, transactionHash, confirmations, reason, awaitsApproval, at];
  await client.query(SET_STANDING, values);
}

/** Adds an event and returns its moment: now, unless another one is given. */
export async function insertEvent(
  client: PoolClient,
  transferId: string,
  { status, transactionHash, confirmations, reason, at = null }: TransferStanding & { readonly at?: Date | null },
): Promise<Date> {
  const values = [uuidv7(), transferId, status, transactionHash, confirmations, reason, at];
  const { rows } = await client.query<{ created_at: Date }>(INSERT_EVENT, values);
  invariant(rows[0] !== undefined, "an event that was written is there");
  return rows[0].created_at;
}

/** The events of a transfer, oldest first. */
export async function readEvents(client: Queryable, transferId: string): Promise<TransferEvent[]> {
  const { rows } = await client.query<StandingColumns & { id: string; transfer_id: string; created_at: Date }>(
    EVENTS_OF,
    [transferId],
  );
  return rows.map((row) => ({
    eventId: row.id,
    transferId: row.transfer_id,
    ...fromStandingColumns(row),
    createdAt: row.created_at,
  }));
}

/** The account whose merchant ordered a transfer. */
export async function readOwner(client: Queryable, transferId: string): Promise<string> {
  const { rows } = await client.query<{ account_id: string }>(OWNER_OF, [transferId]);
  invariant(rows[0] !== undefined, "a transfer has a merchant, and the merchant an account");
  return rows[0].account_id;
}

/** The postings of a transfer, oldest first. */
export async function readTransferPostings(client: Queryable, transferId: string): Promise<WrittenPosting[]> {
  const references = LEGS.map((leg) => legReference(transferId, leg));
  return readPostings(client, { accountId: await readOwner(client, transferId), references });
}

function fromStandingColumns(row: StandingColumns): TransferStanding {
  return {
    status: row.status,
    transactionHash: row.transaction_hash,
    confirmations: row.confirmations,
    reason: row.reason,
  };
}

/** Reads a row of the table `transfer`. */
export function fromTransferColumns(row: TransferColumns): Transfer {
  const { asset } = row;
  return {
    transferId: row.id,
    merchantId: row.merchant_id,
    environment: row.environment,
    externalId: row.external_id,
    slug: row.slug,
    coin: { currencyCode: row.currency_code, network: row.network, decimals: scaleOf(asset) },
    isNetworkImplied: row.implied_network,
    address: row.address,
    orderedAddress: row.ordered_address,
    received: { units: BigInt(row.received), asset },
    fee: { units: BigInt(row.fee), asset },
    total: { units: BigInt(row.total), asset },
    feeRowId: row.fee_id,
    ...fromStandingColumns(row),
    awaitsApproval: row.awaits_approval,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    confirmedAt: row.confirmed_at,
  };
}
