import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { MerchantAdminService } from "#gen/saldo/operator/v1/merchant_admin_service_pb.ts";
import type { FeeTerms } from "#gen/saldo/operator/v1/fee_pb.ts";
import { formatMoney } from "../../kernel/money.ts";
import { protoEnvironment } from "../../merchant/proto-environment.ts";
import { toProtoLimit } from "../../merchant/proto-limit.ts";
import { previewFee } from "../../merchant/merchants/preview-fee.ts";
import type { Quote } from "../../merchant/transfers/quote.ts";
import { findFees, type ScheduledFee } from "../../merchant/merchants/fee-store.ts";
import { findMerchants, type ListedMerchant } from "../../merchant/merchants/listings.ts";
import { setFee, termTexts } from "../commands/merchants.ts";
import { carryOutOrStore } from "../second-person/approvals.ts";
import { readPage } from "../../kernel/paging.ts";
import { given, keyed, orNull, type Parts } from "./proto-parts.ts";

/** MerchantAdminService: merchants, their funds and limits, and the fee schedule. */
export function createMerchantAdminService({
  database,
  operatorContext,
  secondPerson: rule,
}: Pick<Parts, "database" | "operatorContext" | "secondPerson">): ServiceImpl<typeof MerchantAdminService> {
  const { pool } = database;
  return {
    async listFees(request) {
      const which = { merchantId: orNull(request.merchantId), withReplaced: request.withReplaced };
      const page = await readPage(
        request,
        (range) => findFees(pool, { ...which, ...range }),
        ({ id }) => id,
      );
      return { rows: page.items.map(toProtoFee), nextPageToken: page.nextPageToken };
    },

    async setFee({ merchantId, currencyCode, terms, reason }, context) {
      const { row, isNew } = await setFee(operatorContext(context), {
        ...fromProtoTerms(terms),
        ...given("merchantId", merchantId),
        ...given("currencyCode", currencyCode),
        reason: orNull(reason),
      });
      return { row: toProtoFee({ ...row, isCurrent: true }), isNew };
    },

    async previewFee({ merchantId, currencyCode, network, amount, terms }) {
      const { row, current, proposed } = await previewFee(database, {
        merchantId: orNull(merchantId),
        currencyCode,
        network,
        amountText: amount,
        terms: terms === undefined ? null : fromProtoTerms(terms),
      });
      return {
        row: toProtoFee({ ...row, isCurrent: true }),
        current: toProtoPreview(current),
        ...(proposed === null ? {} : { proposed: toProtoPreview(proposed) }),
      };
    },

    async listMerchants(request) {
      const which = { accountId: orNull(request.accountId) };
      const page = await readPage(
        request,
        (range) => findMerchants(pool, { ...which, ...range }),
        ({ merchantId }) => merchantId,
      );
      return { merchants: page.items.map(toProtoMerchant), nextPageToken: page.nextPageToken };
    },

    async creditMerchant({ merchantId, currencyCode, network, amount, reason, idempotencyKey }, context) {
      const command = {
        merchantId,
        currencyCode,
        ...given("network", network),
        amountText: amount,
        reason,
        reference: idempotencyKey,
      };
      const requested = await keyed(
        carryOutOrStore({ by: operatorContext(context), rule }, "merchant credit", command),
      );
      if (requested.outcome === null) return { pendingApprovalId: requested.pendingApprovalId };
      const { postingId, available, isNew } = requested.outcome;
      return { postingId, available, isNew };
    },

    async setLimit({ merchantId, currencyCode, perTransfer, daily, approvalAbove }, context) {
      const command = { merchantId, currencyCode, perTransfer, daily, approvalAbove, reason: null };
      const { outcome, pendingApprovalId } = await carryOutOrStore(
        { by: operatorContext(context), rule },
        "merchant limit",
        command,
      );
      return { ...(outcome === null ? {} : { limit: toProtoLimit(outcome) }), pendingApprovalId };
    },
  };
}

/** A merchant in a list. */
export function toProtoMerchant({ merchantId, accountId, environment, createdAt }: ListedMerchant) {
  return {
    id: merchantId,
    accountId,
    environment: protoEnvironment[environment],
    createdAt: timestampFromDate(createdAt),
  };
}

function fromProtoTerms(terms: FeeTerms | undefined) {
  return {
    flat: terms?.flat ?? "",
    rate: terms?.rate ?? "",
    ...given("min", terms?.min),
    ...given("max", terms?.max),
  };
}

function toProtoFee(row: ScheduledFee) {
  const { min, max, ...terms } = termTexts(row);
  return {
    id: row.id,
    merchantId: row.merchantId ?? "",
    currencyCode: row.currencyCode ?? "",
    version: row.version,
    terms: { ...terms, ...(min === null ? {} : { min }), ...(max === null ? {} : { max }) },
    createdAt: timestampFromDate(row.createdAt),
    isCurrent: row.isCurrent,
  };
}

function toProtoPreview({ received, fee, total }: Quote) {
  return { received: formatMoney(received), fee: formatMoney(fee), total: formatMoney(total) };
}
