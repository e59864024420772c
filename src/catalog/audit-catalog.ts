// The part of the catalog in the ledger's audit.

import { unprotectedTables } from "../database/schema-checks.ts";

export const catalogAudit = {
  whole: {
    "no version or change of the catalog can be changed": unprotectedTables(["catalog_version", "catalog_change"]),
  },
} as const;
