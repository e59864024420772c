import { giftAudit } from "../../billing/audit-gifts.ts";
import { sealAudit } from "../../billing/proof/audit-seals.ts";
import { topUpAudit } from "../../billing/top-ups/audit-top-ups.ts";
import { receiptAudit } from "../../billing/receipts/audit-receipts.ts";
import { recordAudit } from "../../billing/usage/audit-records.ts";
import { rollUpAudit } from "../../billing/usage/audit-roll-ups.ts";
import { catalogAudit } from "../../catalog/audit-catalog.ts";
import type { CatalogModel } from "../../catalog/catalog-model.ts";
import { keyAudit } from "../../keys/audit-keys.ts";
import type { AuditPlugin } from "../../ledger/audit/plugin.ts";
import { payoutAudit } from "../../merchant/payouts/audit-payouts.ts";
import { transferAudit } from "../../merchant/transfers/audit-transfers.ts";
import { operatorPostingAudit } from "../../operator/audit-postings.ts";
import { operatorActionAudit } from "../../operator/audit-log/audit-operator-actions.ts";

/** What topics add to the audit of the ledger's own invariants. `presetModels`: those of a demo, which no change of the catalog has. */
export function topicAudits(presetModels: readonly CatalogModel[] = []): readonly AuditPlugin[] {
  return [
    keyAudit,
    topUpAudit,
    receiptAudit,
    giftAudit,
    sealAudit,
    rollUpAudit,
    recordAudit(presetModels),
    transferAudit,
    payoutAudit,
    catalogAudit,
    operatorActionAudit,
    operatorPostingAudit,
  ];
}
