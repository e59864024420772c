// The part of the operators' log in the ledger's audit.

import { unprotectedTables } from "../../database/schema-checks.ts";

export const operatorActionAudit = {
  whole: { "no line of the operators' log can be changed": unprotectedTables(["operator_action"]) },
} as const;
