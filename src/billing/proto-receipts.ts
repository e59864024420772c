// ReceiptService: translation between the contract and receipts/.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { ReceiptService } from "#gen/saldo/billing/v1/receipt_service_pb.ts";
import { ReceiptKind as ProtoKind } from "#gen/saldo/billing/v1/receipt_pb.ts";
import type { Database } from "../database/database.ts";
import type { RecordChange } from "../database/record-change.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import type { Language } from "../kernel/preferred-language.ts";
import type { PdfMaker } from "./documents/pdf-maker.ts";
import { NOBODY, type Party } from "./receipts/party.ts";
import { numberText, type Receipt, type ReceiptKind } from "./receipts/receipt.ts";
import { getReceipt, listReceipts, readBuyer, readReceiptDocument, setBuyer } from "./receipts/receipts.ts";
import { leastOrderOf } from "./receipts/tax.ts";
import { readTaxRule } from "./settings.ts";
import { LEAST_AMOUNT } from "./top-ups/create-top-up.ts";

const protoKind = {
  receipt: ProtoKind.RECEIPT,
  credit_note: ProtoKind.CREDIT_NOTE,
} as const satisfies Record<ReceiptKind, ProtoKind>;

export type ReceiptServiceDependencies = {
  readonly database: Database;
  readonly pdf: Pick<PdfMaker, "make">;
  /** The account a call acts for. */
  readonly accountOf: (context: HandlerContext) => string;
  /** Whether no receipt is issued, because no seller is set. */
  readonly isSellerMissing: () => Promise<boolean>;
  /** Writes the line of a change in its transaction. */
  readonly recordChangeOf: (context: HandlerContext) => RecordChange;
};

/** Makes the service. Every method acts on the caller's own account; a receipt of another account is not found. */
export function createReceiptService({
  database: { pool },
  pdf,
  accountOf,
  isSellerMissing,
  recordChangeOf,
}: ReceiptServiceDependencies): ServiceImpl<typeof ReceiptService> {
  return {
    async listReceipts({ pageSize, pageToken }, context) {
      const page = await listReceipts(pool, { accountId: accountOf(context), pageSize, pageToken });
      const sellerMissing = await isSellerMissing();
      return { receipts: page.items.map(toProtoReceipt), nextPageToken: page.nextPageToken, sellerMissing };
    },

    async getReceipt({ receiptId }, context) {
      return { receipt: toProtoReceipt(await getReceipt(pool, { accountId: accountOf(context), receiptId })) };
    },

    async getReceiptFile({ receiptId, language }, context) {
      const accountId = accountOf(context);
      const asked = { accountId, receiptId, language: fromProtoLanguage(language) };
      const { document, name } = await readReceiptDocument(pool, asked);
      const content = await pdf.make(accountId, document);
      return { content, mediaType: "application/pdf", fileName: `${name}.pdf` };
    },

    async getTaxTerms() {
      const rule = await readTaxRule(pool);
      const leastAmount = formatMoney(idr(leastOrderOf(LEAST_AMOUNT, rule)));
      return { percent: percentOf(rule.rate), included: rule.isIncluded, leastAmount };
    },

    async getBuyer(_request, context) {
      return { buyer: await readBuyer(pool, accountOf(context)) };
    },

    async setBuyer({ buyer }, context) {
      const { name, address, npwp }: Party = buyer ?? NOBODY;
      const typed = { name, address, npwp };
      return { buyer: await setBuyer(pool, accountOf(context), typed, recordChangeOf(context)) };
    },
  };
}

/** Empty: Indonesian. */
export function fromProtoLanguage(language: string): Language {
  return language === "en" ? "en" : "id";
}

function toProtoReceipt(receipt: Receipt) {
  const { receiptId, kind, topUpId, net, tax, taxRate, seller, buyer, datedAt, issuedAt, provider } = receipt;
  return {
    id: receiptId,
    number: numberText(receipt),
    kind: protoKind[kind],
    topUpId,
    net: formatMoney(idr(net)),
    tax: formatMoney(idr(tax)),
    total: formatMoney(idr(net + tax)),
    taxPercent: percentOf(taxRate),
    seller,
    buyer,
    datedAt: timestampFromDate(datedAt),
    issuedAt: timestampFromDate(issuedAt),
    provider,
  };
}

/** A rate in hundredths of a percent as a decimal string of percent. */
function percentOf(rate: number): string {
  return formatMoney({ units: BigInt(rate), asset: "PERCENT/2" });
}
