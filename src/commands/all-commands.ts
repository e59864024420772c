// The table of commands: what can be called, what the help lists, and what shells complete.

import { accountLimitCommands } from "./account-limits.ts";
import { accountCommands } from "./accounts.ts";
import { admissionCommands } from "./admission.ts";
import { auditCommands } from "./audit.ts";
import { autoTopUpCommands } from "./auto-top-ups.ts";
import { backupCommands } from "./backup.ts";
import { catalogCommands } from "./catalog.ts";
import { databaseCommands } from "./database.ts";
import { demoCommands } from "./demo.ts";
import { doctorCommands } from "./doctor/doctor.ts";
import { keyCommands } from "./keys.ts";
import { marginCommands } from "./margin.ts";
import { merchantCommands } from "./merchants.ts";
import { memberCommands } from "./members.ts";
import { operatorCommands } from "./operators.ts";
import { payoutCommands } from "./payouts.ts";
import { proofCommands } from "./proof.ts";
import { receiptCommands } from "./receipts.ts";
import { recoveryCommands } from "./recovery.ts";
import { restoredBooksCommands } from "./restored-books.ts";
import { approvalCommands } from "./approvals.ts";
import { secondFactorCommands } from "./second-factor.ts";
import { secretCommands } from "./secrets.ts";
import { seedCommands } from "./seed.ts";
import { securityCommands } from "./security.ts";
import { serviceTokenCommands } from "./service-tokens.ts";
import { settingCommands } from "./settings.ts";
import { statementCommands } from "./statements.ts";
import { transferListCommands } from "./transfer-list.ts";
import { transferCommands } from "./transfers.ts";
import { topUpCommands } from "./top-ups.ts";
import { usageSumCommands } from "./usage-sums.ts";
import { usageCommands } from "./usage.ts";
import { usageArchiveCommands } from "./usage-archive.ts";
import type { Command } from "./command.ts";
import { completionCommand } from "./completion.ts";
import type { CommandUsage } from "./help.ts";

/** Every command but `serve`, which does not end. */
export const commands: readonly Command[] = [
  ...accountCommands,
  ...accountLimitCommands,
  ...usageCommands,
  ...usageSumCommands,
  ...usageArchiveCommands,
  ...settingCommands,
  ...topUpCommands,
  ...autoTopUpCommands,
  ...receiptCommands,
  ...statementCommands,
  ...marginCommands,
  ...admissionCommands,
  ...keyCommands,
  ...catalogCommands,
  ...merchantCommands,
  ...approvalCommands,
  ...payoutCommands,
  ...serviceTokenCommands,
  ...securityCommands,
  ...operatorCommands,
  ...memberCommands,
  ...secondFactorCommands,
  ...transferListCommands,
  ...transferCommands,
  ...seedCommands,
  ...demoCommands,
  ...secretCommands,
  ...databaseCommands,
  ...backupCommands,
  ...proofCommands,
  ...recoveryCommands,
  ...restoredBooksCommands,
  ...auditCommands,
  ...doctorCommands,
  completionCommand(() => usages),
];

/** What the process answers without a command's code. */
const OWN: readonly CommandUsage[] = [
  { name: "serve", about: "Serves until SIGTERM or SIGINT. npm start does the same.", options: {} },
  { name: "help", about: "Lists the commands, or the options of the one that follows.", options: {} },
  { name: "--version", about: "Prints the version of this checkout.", options: {} },
];

/** Every command with its options. */
export const usages: readonly CommandUsage[] = [...commands, ...OWN];
