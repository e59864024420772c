// Runs one command: its result on standard output, what went wrong on standard error, and the exit code.

import type { Config } from "../app/config/config.ts";
import { openServiceDatabase } from "../app/compose/database.ts";
import type { Database } from "../database/database.ts";
import { isDatabaseAway } from "../database/transactions.ts";
import { DomainError, ValidationError } from "../kernel/errors.ts";
import { accountLimitCommands } from "./account-limits.ts";
import { accountCommands } from "./accounts.ts";
import { admissionCommands } from "./admission.ts";
import { auditCommands } from "./audit.ts";
import { backupCommands } from "./backup.ts";
import { catalogCommands } from "./catalog.ts";
import { type Command, type CommandResult, describe, parseCommand, UsageError } from "./command.ts";
import { databaseCommands } from "./database.ts";
import { demoCommands } from "./demo.ts";
import { keyCommands } from "./keys.ts";
import { marginCommands } from "./margin.ts";
import { merchantCommands } from "./merchants.ts";
import { memberCommands } from "./members.ts";
import { operatorCommands } from "./operators.ts";
import { payoutCommands } from "./payouts.ts";
import { proofCommands } from "./proof.ts";
import { receiptCommands } from "./receipts.ts";
import { recoveryCommands } from "./recovery.ts";
import { approvalCommands } from "./approvals.ts";
import { secondFactorCommands } from "./second-factor.ts";
import { secretCommands } from "./secrets.ts";
import { seedCommands } from "./seed.ts";
import { securityCommands } from "./security.ts";
import { serviceTokenCommands } from "./service-tokens.ts";
import { settingCommands } from "./settings.ts";
import { transferCommands } from "./transfers.ts";
import { topUpCommands } from "./top-ups.ts";
import { usageCommands } from "./usage.ts";

/** Every command but `serve`, which does not end. */
export const commands: readonly Command[] = [
  ...accountCommands,
  ...accountLimitCommands,
  ...usageCommands,
  ...settingCommands,
  ...topUpCommands,
  ...receiptCommands,
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
  ...transferCommands,
  ...seedCommands,
  ...demoCommands,
  ...secretCommands,
  ...databaseCommands,
  ...backupCommands,
  ...proofCommands,
  ...recoveryCommands,
  ...auditCommands,
];

export const EXIT = { done: 0, failed: 1, usage: 2 } as const;

export type Output = { out(text: string): void; err(text: string): void };

/** Runs the command that the words call and gives the exit code. */
export async function runCommand(words: readonly string[], config: Config, output: Output): Promise<number> {
  let opened: Promise<Database> | undefined;
  const database = (): Promise<Database> => (opened ??= openServiceDatabase(config));
  try {
    const { command, values, json } = parseCommand(words, commands);
    const result = await command.run(values, { config, database });
    output.out(json ? JSON.stringify(result.json) : textOf(result));
    return result.ok === false ? EXIT.failed : EXIT.done;
  } catch (error) {
    const message = explain(error, config);
    output.err(message);
    // A program that asked for JSON gets it, also when the command failed.
    if (words.includes("--json")) output.out(JSON.stringify({ error: codeOf(error), message }));
    return error instanceof UsageError ? EXIT.usage : EXIT.failed;
  } finally {
    // A database that could not be opened has been reported already.
    await opened?.then((openedDatabase) => openedDatabase.close()).catch(() => {});
  }
}

/** The list of commands, for people. */
export function helpText(): string {
  const serve = "  saldo serve\n      Serves until SIGTERM or SIGINT. npm start does the same.";
  const version = "  saldo --version\n      Prints the version of this checkout.";
  return `${describe(commands)}\n${serve}\n${version}`;
}

function textOf({ json, text }: CommandResult): string {
  return (
    text ??
    Object.entries(json)
      .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
      .join("\n")
  );
}

function explain(error: unknown, { logLevel }: Config): string {
  if (error instanceof ValidationError) {
    return error.details.map(({ field, message }) => `${field === "" ? "" : `${field} `}${message}`).join("\n");
  }
  if (!(error instanceof Error)) return String(error);
  // What went wrong, for an operator; where in our code, only on request.
  const isOurs = error instanceof UsageError || error instanceof DomainError;
  return !isOurs && logLevel === "debug" ? (error.stack ?? error.message) : error.message || error.name;
}

function codeOf(error: unknown): string {
  if (error instanceof UsageError) return "usage";
  if (error instanceof DomainError) return error.code;
  return isDatabaseAway(error) ? "database_away" : "failed";
}
