// Runs one command: its result on standard output, what went wrong on standard error, and the exit code.

import type { Config } from "../config.ts";
import { openServiceDatabase } from "../app-database.ts";
import type { Database } from "../database/database.ts";
import { DomainError, ValidationError } from "../kernel/errors.ts";
import { accountCommands } from "./accounts.ts";
import { catalogCommands } from "./catalog.ts";
import { type Command, type CommandResult, describe, parseCommand, UsageError } from "./command.ts";
import { databaseCommands } from "./database.ts";
import { keyCommands } from "./keys.ts";
import { merchantCommands } from "./merchants.ts";

/** Every command but `serve`, which does not end. */
export const commands: readonly Command[] = [
  ...accountCommands,
  ...keyCommands,
  ...catalogCommands,
  ...merchantCommands,
  ...databaseCommands,
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
    output.err(explain(error));
    return error instanceof UsageError ? EXIT.usage : EXIT.failed;
  } finally {
    // A database that could not be opened has been told already.
    await opened?.then((openedDatabase) => openedDatabase.close()).catch(() => {});
  }
}

/** The list of commands, for people. */
export function helpText(): string {
  const serve = "  saldo serve\n      Serves until it is told to stop. npm start does the same.";
  return `${describe(commands)}\n${serve}`;
}

function textOf({ json, text }: CommandResult): string {
  return (
    text ??
    Object.entries(json)
      .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
      .join("\n")
  );
}

function explain(error: unknown): string {
  if (error instanceof UsageError) return error.message;
  if (error instanceof ValidationError) {
    return error.details.map(({ field, message }) => `${field === "" ? "" : `${field} `}${message}`).join("\n");
  }
  if (error instanceof DomainError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
