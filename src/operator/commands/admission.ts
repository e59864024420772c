// Stopping and starting the admission of chat requests, by an operator.

import { withAuditLog, type OperatorContext } from "../audit-log/operator-actions.ts";
import * as admissionSwitch from "../../ledger/admission-switch.ts";
import type { AdmissionStop } from "../../ledger/admission-switch.ts";

/** Refuses new chat requests on every process within seconds. A second stop keeps the moment and reason of the first. */
export async function stopAdmissions(by: OperatorContext, { reason }: { reason: string }): Promise<AdmissionStop> {
  await withAuditLog(
    by,
    (client) => admissionSwitch.stopAdmissions(client, reason),
    (isNew) => (isNew ? { action: "admission stop", subject: null, reason, inAccount: null } : null),
  );
  return admissionSwitch.readAdmissionStop(by.database.pool);
}

/** Admits chat requests again. */
export async function startAdmissions(by: OperatorContext): Promise<AdmissionStop> {
  await withAuditLog(by, admissionSwitch.startAdmissions, (isNew) =>
    isNew ? { action: "admission start", subject: null, reason: null, inAccount: null } : null,
  );
  return admissionSwitch.readAdmissionStop(by.database.pool);
}
