// What is known of a command without running it, and the help that is made of it. The completion of shells has the same source.

import { cellOption, worksOnCells } from "./cell-option.ts";
import { column, print, tableOf } from "./table.ts";

/** An option of a command: `--name VALUE`, or `--name` alone where `value` is null. */
export type CommandOption = {
  readonly required: boolean;
  readonly value: string | null;
  readonly about: string;
  /** The values that are offered when the command line is completed. */
  readonly choices?: readonly string[];
};

/** What the help and the completion know of a command. `FILE` and `DIR` are completed as paths. */
export type CommandUsage = {
  /** The words that call it, such as `account create`. */
  readonly name: string;
  readonly about: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  /** Words behind the name that are not options, such as a file. */
  readonly positionals?: readonly string[];
  /** What is offered for the first of them. */
  readonly choices?: readonly string[];
};

const JSON_OPTION = { name: "--json", about: "prints one JSON object" };

/** The command that the words begin with: of two the one with the longer name. */
export function findCommand<Usage extends CommandUsage>(
  words: readonly string[],
  commands: readonly Usage[],
): Usage | undefined {
  const called = commands.filter(({ name }) => name.split(" ").every((word, index) => words[index] === word));
  return called.toSorted((one, other) => other.name.length - one.name.length)[0];
}

/** The commands of a group such as `key` or `payout journal`: those whose names begin with all these words. */
export function commandsOfGroup<Usage extends CommandUsage>(
  words: readonly string[],
  commands: readonly Usage[],
): readonly Usage[] {
  const beginning = `${words.join(" ")} `;
  return words.length === 0 ? [] : commands.filter(({ name }) => `${name} `.startsWith(beginning));
}

/** The words before the first option. */
export function wordsBeforeOptions(words: readonly string[]): readonly string[] {
  const first = words.findIndex((word) => word.startsWith("-"));
  return first === -1 ? words : words.slice(0, first);
}

/** How a command is called, on one line. */
export function synopsis({ name, options, positionals = [] }: CommandUsage): string {
  const words = Object.entries(options).map(([option, { required, value }]) => {
    const usage = value === null ? `--${option}` : `--${option} ${value}`;
    return required ? usage : `[${usage}]`;
  });
  return [name, ...positionals, ...words, "[--json]"].join(" ");
}

/** The list of commands. */
export function describe(commands: readonly CommandUsage[]): string {
  return ["Commands:", ...commands.map((command) => `  saldo ${synopsis(command)}\n      ${command.about}`)].join("\n");
}

/** One command with its options, a line for each. */
export function describeOne(command: CommandUsage): string {
  const options = Object.entries(command.options).map(([option, { required, value, about }]) => ({
    name: value === null ? `--${option}` : `--${option} ${value}`,
    required: required ? "yes" : "no",
    about,
  }));
  const columns = [
    column<(typeof options)[number]>("option", ({ name }) => name),
    column<(typeof options)[number]>("required", ({ required }) => required),
    column<(typeof options)[number]>("meaning", ({ about }) => about),
  ];
  const everywhere = worksOnCells(command.name) ? [cellOption(command.name), JSON_OPTION] : [JSON_OPTION];
  const table = tableOf([...options, ...everywhere.map((each) => ({ ...each, required: "no" }))], columns, "");
  return [command.about, "", `usage: saldo ${synopsis(command)}`, "", print(table)].join("\n");
}

/** The table of commands as --json prints it. */
export function usageAsJson(commands: readonly CommandUsage[]) {
  return {
    commands: commands.map(({ name, about, options, positionals = [] }) => ({
      name,
      about,
      positionals,
      options: Object.entries(options).map(([option, { choices, ...rest }]) => ({
        name: option,
        ...rest,
        choices: choices ?? null,
      })),
    })),
  };
}
