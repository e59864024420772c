import { auditRollUps } from "../billing/audit-roll-ups.ts";
import type { AuditCheck } from "../ledger/audit.ts";
import { auditPayouts } from "../merchant/audit-payouts.ts";
import { auditTransfers } from "../merchant/audit-transfers.ts";

/** What the audit asks of topics besides the ledger's own invariants. */
export const topicChecks: readonly AuditCheck[] = [auditRollUps, auditTransfers, auditPayouts];
