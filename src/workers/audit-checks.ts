import { auditRollUps } from "../billing/audit-roll-ups.ts";
import type { AuditCheck } from "../ledger/audit.ts";

/** What the audit asks of topics besides the ledger's own invariants. */
export const topicChecks: readonly AuditCheck[] = [auditRollUps];
