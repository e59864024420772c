import { topUpAudit } from "../../billing/top-ups/audit-top-ups.ts";
import { rollUpAudit } from "../../billing/usage/audit-roll-ups.ts";
import { catalogAudit } from "../../catalog/audit-catalog.ts";
import { keyAudit } from "../../keys/audit-keys.ts";
import type { AuditPlugin } from "../../ledger/audit/plugin.ts";
import { payoutAudit } from "../../merchant/payouts/audit-payouts.ts";
import { transferAudit } from "../../merchant/transfers/audit-transfers.ts";
import { operatorActionAudit } from "../../operator/audit-log/audit-operator-actions.ts";

/** What topics add to the audit of the ledger's own invariants. */
export const topicAudits: readonly AuditPlugin[] = [
  keyAudit,
  topUpAudit,
  rollUpAudit,
  transferAudit,
  payoutAudit,
  catalogAudit,
  operatorActionAudit,
];
