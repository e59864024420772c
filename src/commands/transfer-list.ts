// The list of merchants' transfers, for operators.

import { ENVIRONMENTS } from "../identity/principal.ts";
import { formatMoney } from "../kernel/money.ts";
import { TRANSFER_STATUSES } from "../merchant/transfers/transfer.ts";
import { findTransfers, type OwnedTransfer } from "../merchant/transfers/transfer-search-store.ts";
import type { Command, CommandValues } from "./command.ts";
import { choiceOption, integerOption, uuidOption } from "./option-values.ts";
import { column, numbers, tableOf } from "./table.ts";
import { anyAccountFrom, anyAccountOption } from "./which-account.ts";

const MOST_LISTED = 1_000;
const DEFAULT_LIMIT = 50;

const COLUMNS = [
  column<OwnedTransfer>("transfer", ({ transfer }) => transfer.transferId),
  column<OwnedTransfer>("external id", ({ transfer }) => transfer.externalId),
  column<OwnedTransfer>("merchant", ({ merchant }) => merchant.merchantId),
  column<OwnedTransfer>("environment", ({ merchant }) => merchant.environment),
  column<OwnedTransfer>("status", statusOf),
  column<OwnedTransfer>("created at", ({ transfer }) => transfer.createdAt),
  column<OwnedTransfer>("coin", ({ transfer }) => `${transfer.coin.currencyCode} on ${transfer.coin.network}`),
  numbers<OwnedTransfer>("received", ({ transfer }) => formatMoney(transfer.received)),
  numbers<OwnedTransfer>("fee", ({ transfer }) => formatMoney(transfer.fee)),
  numbers<OwnedTransfer>("total", ({ transfer }) => formatMoney(transfer.total)),
  column<OwnedTransfer>("reason", ({ transfer }) => transfer.reason),
];

export const transferListCommands: readonly Command[] = [
  {
    name: "transfer list",
    about: "Lists merchants' transfers, newest first; with --attention those that wait for approval.",
    options: {
      account: anyAccountOption,
      merchant: { required: false, value: "ID", about: "only of this merchant" },
      environment: {
        required: false,
        value: ENVIRONMENTS.join("|"),
        about: "only those that were ordered there",
        choices: ENVIRONMENTS,
      },
      status: { required: false, value: "S", about: "only those in this status", choices: TRANSFER_STATUSES },
      attention: { required: false, value: null, about: "only those that wait for an operator's approval" },
      name: { required: false, value: "NAME", about: "only the one with this id or external id" },
      limit: { required: false, value: "N", about: `how many at most, 1 to ${MOST_LISTED}; ${DEFAULT_LIMIT}` },
    },
    async run(values, { database }) {
      const merchant = values.get("merchant");
      const transfers = await findTransfers((await database()).pool, {
        accountId: await anyAccountFrom(values, database),
        merchantId: merchant === undefined ? null : uuidOption(merchant, "merchant"),
        environment: chosen(values, "environment", ENVIRONMENTS),
        status: chosen(values, "status", TRANSFER_STATUSES),
        awaitsApproval: values.has("attention"),
        name: values.get("name") ?? null,
        beforeId: null,
        limit: integerOption(values.get("limit") ?? String(DEFAULT_LIMIT), "limit", { min: 1, max: MOST_LISTED }),
      });
      return { json: { transfers: transfers.map(toJson) }, text: tableOf(transfers, COLUMNS, "No transfers.") };
    },
  },
];

function chosen<Choice extends string>(values: CommandValues, option: string, choices: readonly Choice[]) {
  const value = values.get(option);
  return value === undefined ? null : choiceOption(value, option, choices);
}

function statusOf({ transfer: { status, awaitsApproval } }: OwnedTransfer): string {
  return status === "WAITING" && awaitsApproval ? "WAITING for approval" : status;
}

function toJson({ transfer, accountId, merchant }: OwnedTransfer) {
  const { transferId, externalId, status, coin, address, received, fee, total, reason, transactionHash } = transfer;
  return {
    transferId,
    externalId,
    merchantId: merchant.merchantId,
    accountId,
    environment: merchant.environment,
    status,
    awaitsApproval: status === "WAITING" && transfer.awaitsApproval,
    currencyCode: coin.currencyCode,
    network: coin.network,
    address,
    received: formatMoney(received),
    fee: formatMoney(fee),
    total: formatMoney(total),
    reason,
    transactionHash,
    createdAt: transfer.createdAt.toISOString(),
    confirmedAt: transfer.confirmedAt?.toISOString() ?? null,
  };
}
