// Receipts and statements in this process: their services, the thread that draws them, and the job that writes receipts.

import { PdfMaker } from "../../billing/documents/pdf-maker.ts";
import { receiptTick } from "../../billing/jobs/receipts.ts";
import { createReceiptService } from "../../billing/proto-receipts.ts";
import { createStatementService } from "../../billing/proto-statements.ts";
import { NOBODY, type Party } from "../../billing/receipts/party.ts";
import { isSellerMissing, partiesOf, type ReceiptWork } from "../../billing/receipts/issue-receipts.ts";
import type { Database } from "../../database/database.ts";
import { readerOfAccount } from "../../identity/store.ts";
import { accountOf } from "../../transport/calls/callers.ts";
import { recordChangeOf } from "./record-change.ts";
import type { Config } from "../config/config.ts";

const DEMO_SELLER: Party = { name: "Saldo Demo", address: "", npwp: "" };

/** Who sells where operators have set no seller. Null: there is no seller, and no receipt is written. */
export function sellerByDefault({ demo }: Pick<Config, "demo">): Party | null {
  return demo ? DEMO_SELLER : null;
}

/** What writing receipts needs. */
export function receiptWork(config: Pick<Config, "demo">, database: Database): ReceiptWork {
  return {
    database,
    sellerByDefault: sellerByDefault(config),
    ownerOf: async (accountId) => ({
      ...NOBODY,
      name: (await readerOfAccount(database.pool, accountId))?.email ?? accountId,
    }),
  };
}

/** Builds receipts and statements. */
export function createReceiptParts(config: Pick<Config, "demo">, database: Database) {
  const pdf = new PdfMaker();
  const work = receiptWork(config, database);
  return {
    services: {
      receipts: createReceiptService({
        database,
        pdf,
        accountOf,
        recordChangeOf,
        isSellerMissing: () => isSellerMissing(database.pool, work.sellerByDefault),
      }),
      statements: createStatementService({ database, pdf, accountOf, partiesOf: (id) => partiesOf(work, id) }),
    },
    tick: receiptTick(work),
    close: () => pdf.close(),
  };
}
