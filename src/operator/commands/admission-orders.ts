// Stopping and starting the admission of chat requests, by an operator.

import { withAuditLog, type OrderedBy } from "../audit-log/operator-actions.ts";
import {
  type AdmissionStop,
  readAdmissionStop,
  startAdmissions,
  stopAdmissions,
} from "../../ledger/admission-switch.ts";

/** Refuses new chat requests on every process within seconds. A second stop keeps the moment and reason of the first. */
export async function orderStop(by: OrderedBy, { reason }: { reason: string }): Promise<AdmissionStop> {
  await withAuditLog(
    by,
    (client) => stopAdmissions(client, reason),
    (isNew) => (isNew ? { action: "admission stop", subject: null, reason } : null),
  );
  return readAdmissionStop(by.database.pool);
}

/** Admits chat requests again. */
export async function orderStart(by: OrderedBy): Promise<AdmissionStop> {
  await withAuditLog(by, startAdmissions, (isNew) =>
    isNew ? { action: "admission start", subject: null, reason: null } : null,
  );
  return readAdmissionStop(by.database.pool);
}
