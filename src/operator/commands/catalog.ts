// Publishing a catalog, by an operator.

import { withAuditLog, type OperatorContext } from "../audit-log/operator-actions.ts";
import * as applyCatalog from "../../catalog/apply-catalog.ts";
import type { CatalogPublication, ComparedCatalog } from "../../catalog/apply-catalog.ts";

/** Applies a file to the catalog. Errors: as applyCatalog.publishCatalog. */
export function publishCatalog(
  by: OperatorContext,
  command: Omit<CatalogPublication, "operator">,
): Promise<ComparedCatalog> {
  return withAuditLog(
    by,
    (client) => applyCatalog.publishCatalog(client, { ...command, operator: by.operator }),
    ({ version, changes }) => {
      if (changes.length === 0) return null;
      const count = (kind: string): number => changes.filter(({ change }) => change === kind).length;
      return {
        action: "catalog apply",
        subject: String(version),
        reason: command.reason,
        facts: { version, added: count("added"), changed: count("changed"), retired: count("retired") },
        inAccount: null,
      };
    },
  );
}
