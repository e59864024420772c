// The machine that saldo-agents works on, as values: tests hand in a home folder of their own.

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The facts about the machine. */
export type Machine = {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** A variable of the environment; an empty one counts as not set. */
export function variable({ env }: Machine, name: string): string | undefined {
  return env[name] || undefined;
}

/** The folder for settings of a program that follows the XDG rules on every system. */
export function xdgConfig(machine: Machine): string {
  return variable(machine, "XDG_CONFIG_HOME") ?? join(machine.home, ".config");
}

/** The folder in which saldo-agents remembers what it changed. */
export function recordsFolder(machine: Machine): string {
  const roaming = machine.platform === "win32" ? variable(machine, "APPDATA") : undefined;
  return join(roaming ?? xdgConfig(machine), "saldo-agents");
}

/** The path of a program on the PATH. */
export function findProgram(machine: Machine, name: string): string | undefined {
  const endings = machine.platform === "win32" ? [".cmd", ".exe", ".bat"] : [""];
  const folders = (variable(machine, "PATH") ?? variable(machine, "Path") ?? "").split(delimiter).filter(Boolean);
  return folders.flatMap((folder) => endings.map((ending) => join(folder, name + ending))).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
