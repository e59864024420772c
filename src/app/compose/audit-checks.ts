import { auditRollUps } from "../../billing/usage/audit-roll-ups.ts";
import type { AuditCheck } from "../../ledger/audit/audit.ts";
import { auditPayouts } from "../../merchant/payouts/audit-payouts.ts";
import { auditTransfers } from "../../merchant/transfers/audit-transfers.ts";

/** What the audit asks of topics besides the ledger's own invariants. */
export const topicChecks: readonly AuditCheck[] = [auditRollUps, auditTransfers, auditPayouts];
