import { giftAudit } from "../../billing/audit-gifts.ts";
import { archiveAudit } from "../../billing/archive/audit-archive.ts";
import { sealAudit } from "../../billing/proof/audit-seals.ts";
import type { ProofKey } from "../../billing/proof/signing.ts";
import { topUpAudit } from "../../billing/top-ups/audit-top-ups.ts";
import { receiptAudit } from "../../billing/receipts/audit-receipts.ts";
import { recordAudit } from "../../billing/usage/audit-records.ts";
import { rollUpAudit } from "../../billing/usage/audit-roll-ups.ts";
import { catalogAudit } from "../../catalog/audit-catalog.ts";
import type { CatalogModel } from "../../catalog/catalog-model.ts";
import { keyAudit } from "../../keys/audit-keys.ts";
import type { AuditPlugin } from "../../ledger/audit/plugin.ts";
import type { PayoutChain } from "../../merchant/chains/payout-chain.ts";
import { chainAudit } from "../../merchant/payouts/audit-chain.ts";
import { payoutAudit } from "../../merchant/payouts/audit-payouts.ts";
import { transferAudit } from "../../merchant/transfers/audit-transfers.ts";
import { operatorPostingAudit } from "../../operator/audit-postings.ts";
import { operatorActionAudit } from "../../operator/audit-log/audit-operator-actions.ts";

/**
 * What a full audit compares the books with, beyond the database: the keys that sign roots, the chains that payouts are on, and the folder with
 * the files of archived usage.
 */
export type AuditWitnesses = {
  readonly proofKeys: readonly ProofKey[];
  readonly chains: readonly PayoutChain[];
  readonly archiveFolder?: string | null;
};

/**
 * What topics add to the audit of the ledger's own invariants. `presetModels`: those of a demo, which no change of the catalog has.
 * `witnesses` null: the database is compared with itself only.
 */
export function topicAudits(
  presetModels: readonly CatalogModel[] = [],
  witnesses: AuditWitnesses | null = null,
): readonly AuditPlugin[] {
  return [
    keyAudit,
    topUpAudit,
    receiptAudit,
    giftAudit,
    sealAudit(witnesses?.proofKeys ?? null),
    archiveAudit(witnesses && { keys: witnesses.proofKeys, folder: witnesses.archiveFolder ?? null }),
    rollUpAudit,
    recordAudit(presetModels),
    transferAudit,
    payoutAudit,
    ...(witnesses === null ? [] : [chainAudit(witnesses.chains)]),
    catalogAudit,
    operatorActionAudit,
    operatorPostingAudit,
  ];
}
