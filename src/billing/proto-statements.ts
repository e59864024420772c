// StatementService: translation between the contract and statements/.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { StatementService } from "#gen/saldo/billing/v1/statement_service_pb.ts";
import type { Database } from "../database/database.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import type { PdfMaker } from "./documents/pdf-maker.ts";
import { fromProtoLanguage } from "./proto-receipts.ts";
import { listStatements, readStatement, type Statement } from "./statements/statement.ts";
import { statementCsv } from "./statements/statement-csv.ts";
import { statementDocument, type StatementParties } from "./statements/statement-document.ts";

export type StatementServiceDependencies = {
  readonly database: Database;
  readonly pdf: Pick<PdfMaker, "make">;
  /** The account a call acts for. */
  readonly accountOf: (context: HandlerContext) => string;
  /** Who is named on an account's statements. */
  readonly partiesOf: (accountId: string) => Promise<StatementParties>;
};

/** Makes the service. Every method acts on the caller's own account. */
export function createStatementService({
  database: { pool },
  pdf,
  accountOf,
  partiesOf,
}: StatementServiceDependencies): ServiceImpl<typeof StatementService> {
  return {
    async listStatements(_request, context) {
      const months = await listStatements(pool, accountOf(context));
      return { months: months.map(({ month, isComplete }) => ({ month, complete: isComplete })) };
    },

    async getStatement({ month }, context) {
      const accountId = accountOf(context);
      const statement = await readStatement(pool, { accountId, month });
      return { statement: toProtoStatement(statement, await partiesOf(accountId)) };
    },

    async getStatementFile({ month, format, language }, context) {
      const accountId = accountOf(context);
      const statement = await readStatement(pool, { accountId, month });
      const name = `saldo-${month}`;
      if (format === "csv") {
        const content = new TextEncoder().encode(statementCsv(statement));
        return { content, mediaType: "text/csv; charset=utf-8", fileName: `${name}.csv` };
      }
      const document = statementDocument(statement, await partiesOf(accountId), fromProtoLanguage(language));
      return { content: await pdf.make(accountId, document), mediaType: "application/pdf", fileName: `${name}.pdf` };
    },
  };
}

function toProtoStatement(statement: Statement, { seller, buyer }: StatementParties) {
  const { month, isComplete, opening, closing, sums, usage, entries, entriesLeftOut } = statement;
  return {
    month,
    complete: isComplete,
    openingBalance: rupiah(opening),
    closingBalance: rupiah(closing),
    sums: sums.map(({ reason, count, amount }) => ({ reason, count, amount: rupiah(amount) })),
    usage: usage.map(({ charge, ...counts }) => ({ ...counts, charge: rupiah(charge) })),
    entries: entries.map(({ postedAt, reason, amount, topUpId, receiptNumber }) => ({
      postedAt: timestampFromDate(postedAt),
      reason,
      amount: rupiah(amount),
      topUpId: topUpId ?? "",
      receiptNumber: receiptNumber ?? "",
    })),
    entriesLeftOut,
    seller,
    buyer,
  };
}

function rupiah(units: bigint): string {
  return formatMoney(idr(units));
}
