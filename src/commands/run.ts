// Runs one command: its result on standard output, what went wrong on standard error, and the exit code.

import { type Config, ConfigError, type LogLevel } from "../app/config/config.ts";
import { describeHolder } from "../database/schema/migration-lock.ts";
import { isDatabaseAway } from "../database/transactions.ts";
import { DomainError, ValidationError } from "../kernel/errors.ts";
import { packageVersion } from "../kernel/version.ts";
import { commands, usages } from "./all-commands.ts";
import { contextOf } from "./command-cells.ts";
import { type CommandResult, noSuchCommand, parseCommand, UsageError } from "./command.ts";
import { commandsOfGroup, describe, describeOne, findCommand, usageAsJson, wordsBeforeOptions } from "./help.ts";
import { printable } from "../kernel/unprintable.ts";
import { print } from "./table.ts";

export const EXIT = { done: 0, failed: 1, usage: 2 } as const;

export type Output = { out(text: string): void; err(text: string): void };

/** Runs the command that the words call and gives the exit code. */
export async function runCommand(words: readonly string[], config: Config, output: Output): Promise<number> {
  const onSchemaWait = (holder: Parameters<typeof describeHolder>[0]): void =>
    output.err(`saldo: ${describeHolder(holder)} changes the schema; this command waits.`);
  try {
    const { command, values, json, cell } = parseCommand(words, commands);
    await using context = contextOf({ command: command.name, cell }, config, { onSchemaWait });
    const result = await command.run(values, context);
    output.out(json ? JSON.stringify(result.json) : textOf(result));
    return result.ok === false ? EXIT.failed : EXIT.done;
  } catch (error) {
    return reportFailure(error, words, output, config.logLevel);
  }
}

/** Answers the words that need no settings: the help, of all commands, a group or one, and the version. Returns the exit code; null: it is another word. */
export function answerAtOnce(words: readonly string[], output: Output): number | null {
  const show = (json: object, text: string): void => output.out(isJson(words) ? JSON.stringify(json) : text);
  const asked = words.filter((word) => word !== "--json");
  const [first] = asked;
  if (first === "--version") {
    show({ version: packageVersion() }, packageVersion());
    return EXIT.done;
  }
  const isHelp = first === undefined || first === "help" || words.includes("--help");
  const named = wordsBeforeOptions(asked.slice(first === "help" ? 1 : 0));
  const command = findCommand(named, usages);
  const group = commandsOfGroup(named, usages);
  // Of a command that is the beginning of others, such as `backup`.
  const others = group.filter((each) => each !== command);
  const longer = others.length > 0 ? [describe(others)] : [];
  // The name of a group alone, such as `key`, asks for its commands.
  const isGroup = command === undefined && group.length > 0 && asked.length === named.length;
  if (!isHelp && !isGroup) return null;
  if (named.length === 0) show(usageAsJson(usages), describe(usages));
  else if (command !== undefined) show(usageAsJson([command]), [describeOne(command), ...longer].join("\n\n"));
  else if (group.length > 0) show(usageAsJson(group), describe(group));
  else return reportFailure(noSuchCommand(named, usages), words, output);
  return first === undefined ? EXIT.usage : EXIT.done;
}

/** Reports a failure: in words on standard error and, for a program that asked for JSON, as an object. Returns the exit code. */
export function reportFailure(error: unknown, words: readonly string[], output: Output, logLevel?: LogLevel): number {
  const message = explain(error, logLevel);
  output.err(message);
  if (isJson(words)) output.out(JSON.stringify({ error: codeOf(error), message }));
  return error instanceof UsageError || error instanceof ConfigError ? EXIT.usage : EXIT.failed;
}

function isJson(words: readonly string[]): boolean {
  return words.includes("--json");
}

function textOf({ json, text }: CommandResult): string {
  if (text !== undefined) return print(text);
  return Object.entries(json)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? printable(value) : JSON.stringify(value)}`)
    .join("\n");
}

function explain(error: unknown, logLevel?: LogLevel): string {
  if (error instanceof ValidationError) {
    return error.details.map(({ field, message }) => `${field === "" ? "" : `${field} `}${message}`).join("\n");
  }
  if (!(error instanceof Error)) return String(error);
  // What went wrong, for an operator; where in our code, only on request.
  const isOurs = [UsageError, DomainError, ConfigError].some((kind) => error instanceof kind);
  return !isOurs && logLevel === "debug" ? (error.stack ?? error.message) : error.message || error.name;
}

function codeOf(error: unknown): string {
  if (error instanceof UsageError) return "usage";
  if (error instanceof ConfigError) return "settings";
  if (error instanceof DomainError) return error.code;
  return isDatabaseAway(error) ? "database_away" : "failed";
}
