// Publishing a catalog, by an operator.

import { withAuditLog, type OrderedBy } from "../audit-log/operator-actions.ts";
import { type CatalogOrder, type ComparedCatalog, publishCatalog } from "../../catalog/apply-catalog.ts";

/** Applies a file to the catalog. Errors: as publishCatalog. */
export function orderCatalog(by: OrderedBy, order: Omit<CatalogOrder, "operator">): Promise<ComparedCatalog> {
  return withAuditLog(
    by,
    (client) => publishCatalog(client, { ...order, operator: by.operator }),
    ({ version, changes }) => {
      if (changes.length === 0) return null;
      const count = (kind: string): number => changes.filter(({ change }) => change === kind).length;
      return {
        action: "catalog apply",
        subject: String(version),
        reason: order.reason,
        facts: { version, added: count("added"), changed: count("changed"), retired: count("retired") },
      };
    },
  );
}
