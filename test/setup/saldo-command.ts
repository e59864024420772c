// The operator's commands, run in the process of the test: a process of its own takes a second of a core for each. The entry, its
// arguments and its exit codes are tested with processes, in test/app/lifecycle.test.ts.

import { readConfig } from "../../src/app/config/config.ts";
import { ConfigError } from "../../src/app/config/environment.ts";
import { reportFailure, runCommand } from "../../src/commands/run.ts";
import { environmentOf } from "./test-environment.ts";

export type CommandOutcome = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs one `saldo` command with these settings, and returns what it printed. */
export async function runSaldo(
  words: readonly string[],
  settings: Readonly<Record<string, string>>,
): Promise<CommandOutcome> {
  const printed = { out: "", err: "" };
  const output = {
    out: (text: string): void => void (printed.out += `${text}\n`),
    err: (text: string): void => void (printed.err += `${text}\n`),
  };
  const run = async (): Promise<number> => {
    try {
      return await runCommand(words, readConfig(environmentOf(settings)), output);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return reportFailure(error, words, output);
    }
  };
  return { code: await run(), stdout: printed.out, stderr: printed.err };
}

/** Runs a command with --json and reads the object it prints. */
export async function saldoJson(words: readonly string[], settings: Readonly<Record<string, string>>) {
  const { code, stdout, stderr } = await runSaldo([...words, "--json"], settings);
  if (code !== 0) throw new Error(`saldo ${words.join(" ")} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as Record<string, string>;
}
