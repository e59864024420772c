// All the bugs there are.

import type { PlantedBug } from "../planted-bug.ts";
import { ADMISSION_BUGS } from "./admission.ts";
import { ALERT_BUGS } from "./alerts.ts";
import { ANSWER_BUGS } from "./answers.ts";
import { ATTEMPT_BUGS } from "./attempts.ts";
import { ARCHIVE_BUGS } from "./archive.ts";
import { ARITHMETIC_BUGS } from "./arithmetic.ts";
import { BACKUP_BUGS } from "./backups.ts";
import { CALLER_BUGS } from "./callers.ts";
import { EMBEDDINGS_BUGS } from "./embeddings.ts";
import { FORGERY_BUGS } from "./forgeries.ts";
import { FORMAT_BUGS } from "./formats.ts";
import { FLOOR_BUGS } from "./floor.ts";
import { GATE_BUGS } from "./gate.ts";
import { HOLD_BUGS } from "./holds.ts";
import { HOSTILE_TEXT_BUGS } from "./hostile-text.ts";
import { INTAKE_BUGS } from "./intake.ts";
import { BUDGET_ZONE_BUGS } from "./budget-zones.ts";
import { KEY_LIMIT_BUGS } from "./key-limits.ts";
import { MEMBER_BUDGET_BUGS } from "./member-budgets.ts";
import { LIMIT_BUGS } from "./limits.ts";
import { NATIVE_RESPONSES_BUGS } from "./native-responses.ts";
import { OWED_BUGS } from "./owed.ts";
import { PASSWORD_BUGS } from "./passwords.ts";
import { LOST_PAYOUTS } from "./lost-payouts.ts";
import { PAYOUT_BOOKS } from "./payout-books.ts";
import { PAYOUT_RULES, PAYOUTS } from "./payouts.ts";
import { CALLBACK_BUGS } from "./callbacks.ts";
import { DOCTOR_BUGS } from "./doctor.ts";
import { METERING_BUGS } from "./metering.ts";
import { PROCESS_BUGS } from "./processes.ts";
import { PROOF_BUGS } from "./proofs.ts";
import { PROTOCOL_BUGS } from "./protocols.ts";
import { RECOVERY_BUGS } from "./recovery.ts";
import { REQUEST_ROLE_BUGS } from "./request-role.ts";
import { REQUEST_BUGS } from "./requests.ts";
import { RESTORE_BUGS } from "./restores.ts";
import { ROLE_BUGS } from "./roles.ts";
import { SCHEMA_BUGS } from "./schema.ts";
import { SECRET_BUGS } from "./secrets.ts";
import { SIGNERS } from "./signers.ts";
import { SECURITY_LOG_BUGS } from "./security-log.ts";
import { STANDBY_BUGS } from "./standby.ts";
import { SEPARATION_BUGS } from "./separation.ts";
import { SEAL_BUGS } from "./seals.ts";
import { SECOND_PERSON_BUGS } from "./second-person.ts";
import { SETTLEMENT_BUGS } from "./settlement.ts";
import { STATUS_BUGS } from "./status.ts";
import { TRACE_BUGS } from "./traces.ts";
import { TRANSFER_BUGS } from "./transfers.ts";
import { TOP_UP_BUGS } from "./top-ups.ts";
import { CELL_BUGS } from "./cells.ts";
import { AUTO_TOP_UP_BUGS } from "./auto-top-ups.ts";
import { RECEIPT_BUGS } from "./receipts.ts";
import { UNSOUND_ANSWER_BUGS } from "./unsound-answers.ts";
import { USAGE_BUGS } from "./usage.ts";

/** In the order in which they are planted. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  ...ADMISSION_BUGS,
  ...HOLD_BUGS,
  ...BUDGET_ZONE_BUGS,
  ...KEY_LIMIT_BUGS,
  ...MEMBER_BUDGET_BUGS,
  ...SETTLEMENT_BUGS,
  ...RECOVERY_BUGS,
  ...REQUEST_ROLE_BUGS,
  ...STANDBY_BUGS,
  ...ARITHMETIC_BUGS,
  ...OWED_BUGS,
  ...BACKUP_BUGS,
  ...RESTORE_BUGS,
  ...CELL_BUGS,
  ...REQUEST_BUGS,
  ...ANSWER_BUGS,
  ...ATTEMPT_BUGS,
  ...CALLBACK_BUGS,
  ...ALERT_BUGS,
  ...DOCTOR_BUGS,
  ...TRANSFER_BUGS,
  ...TOP_UP_BUGS,
  ...AUTO_TOP_UP_BUGS,
  ...RECEIPT_BUGS,
  ...USAGE_BUGS,
  ...ROLE_BUGS,
  ...STATUS_BUGS,
  ...METERING_BUGS,
  ...UNSOUND_ANSWER_BUGS,
  ...EMBEDDINGS_BUGS,
  ...PROTOCOL_BUGS,
  ...NATIVE_RESPONSES_BUGS,
  ...FORGERY_BUGS,
  ...SEAL_BUGS,
  ...ARCHIVE_BUGS,
  ...FORMAT_BUGS,
  ...PAYOUT_RULES,
  ...PAYOUTS,
  ...PAYOUT_BOOKS,
  ...LOST_PAYOUTS,
  ...SIGNERS,
  ...SECOND_PERSON_BUGS,
  ...CALLER_BUGS,
  ...HOSTILE_TEXT_BUGS,
  ...PROOF_BUGS,
  ...PASSWORD_BUGS,
  ...SECURITY_LOG_BUGS,
  ...PROCESS_BUGS,
  ...SEPARATION_BUGS,
  ...SECRET_BUGS,
  ...LIMIT_BUGS,
  ...GATE_BUGS,
  ...FLOOR_BUGS,
  ...INTAKE_BUGS,
  ...SCHEMA_BUGS,
  ...TRACE_BUGS,
];
