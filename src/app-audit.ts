// What the topics have audited beside the ledger, in one list for the server and the command line.

import type { TopicAudit } from "./ledger/audit.ts";
import { auditPayouts } from "./merchant/audit-payouts.ts";
import { auditTransfers } from "./merchant/audit-transfers.ts";

export const topicAudits: readonly TopicAudit[] = [auditTransfers, auditPayouts];
