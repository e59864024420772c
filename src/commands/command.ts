// The operator's command line: what a command is, and how its words become options. Results go to standard output, one
// JSON object and nothing else with --json; everything else goes to standard error.

import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import type { Config } from "../app/config/config.ts";
import type { Database } from "../database/database.ts";
import { printable } from "../kernel/unprintable.ts";
import { commandsOfGroup, type CommandUsage, describe, findCommand, synopsis, wordsBeforeOptions } from "./help.ts";
import type { Shown } from "./table.ts";

/** The command was called wrongly; the process exits with 2. */
export class UsageError extends Error {}

export type CommandContext = {
  readonly config: Config;
  /** The database of the running server if there is one, else one opened for this command. */
  readonly database: () => Promise<Database>;
  /** The database that has the people, where `--cell` names another cell. Null: `database` has them. */
  readonly people: (() => Promise<Database>) | null;
  /** Every cell, the home cell first; the one alone that `--cell` names. */
  readonly cells: readonly CommandCell[];
};

/** A cell as a command works on it. */
export type CommandCell = {
  readonly name: string;
  readonly config: Config;
  /** Errors: that it is away, or another cell than the settings name. */
  readonly database: () => Promise<Database>;
};

export type CommandResult = {
  /** What --json prints. Members are added and never renamed or removed: programs read them. */
  readonly json: Readonly<Record<string, unknown>>;
  /** What a person reads. Left out: the members of `json`, a line each. */
  readonly text?: Shown;
  /** False: the command did its work and found something wrong; the process exits with 1. */
  readonly ok?: boolean;
};

export type Command = CommandUsage & {
  run(values: CommandValues, context: CommandContext): Promise<CommandResult>;
};

export type CommandValues = {
  /** The value of a required option. */
  need(option: string): string;
  /** The value of an option that may be left out. */
  get(option: string): string | undefined;
  /** Whether an option without a value was given. */
  has(option: string): boolean;
  readonly positionals: readonly string[];
};

export type ParsedCommand = {
  readonly command: Command;
  readonly values: CommandValues;
  readonly json: boolean;
  /** The cell that was named. */
  readonly cell: string | undefined;
};

/** Finds the command that the words call and reads its options. Errors: UsageError. */
export function parseCommand(words: readonly string[], commands: readonly Command[]): ParsedCommand {
  const command = findCommand(words, commands);
  if (command === undefined) throw noSuchCommand(words, commands);
  const declared: ParseArgsOptionsConfig = { json: { type: "boolean" }, cell: { type: "string" } };
  for (const [option, { value }] of Object.entries(command.options)) {
    declared[option] = { type: value === null ? "boolean" : "string" };
  }
  const expected = command.positionals ?? [];
  const { values, positionals } = parseOrExplain(command, words.slice(command.name.split(" ").length), declared);
  if (positionals.length !== expected.length)
    throw usageOf(command, `needs ${expected.join(" ") || "no further words"}`);
  for (const [option, { required }] of Object.entries(command.options)) {
    if (required && !values[option]) throw usageOf(command, `needs --${option}`);
  }
  const get = (option: string): string | undefined => {
    const value = values[option];
    return typeof value === "string" ? value : undefined;
  };
  const need = (option: string): string => {
    const value = get(option);
    if (value === undefined) throw usageOf(command, `needs --${option}`);
    return value;
  };
  const has = (option: string): boolean => values[option] === true;
  return { command, values: { get, need, has, positionals }, json: values["json"] === true, cell: get("cell") };
}

/** What is refused where no command has the words: with the commands of their group, and never with the whole list. */
export function noSuchCommand(words: readonly string[], commands: readonly CommandUsage[]): UsageError {
  const named = wordsBeforeOptions(words);
  const group = commandsOfGroup(named.slice(0, 1), commands);
  const list = group.length === 0 ? "saldo help lists all commands." : describe(group);
  return new UsageError(`There is no command "saldo ${printable(named.join(" "))}".\n\n${list}`);
}

function parseOrExplain(command: Command, args: readonly string[], options: ParseArgsOptionsConfig) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw usageOf(command, error instanceof Error ? error.message : "was called wrongly");
  }
}

function usageOf(command: Command, problem: string): UsageError {
  return new UsageError(`saldo ${command.name}: ${problem}\n\nusage: saldo ${synopsis(command)}`);
}
