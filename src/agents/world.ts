// The surroundings of a run of saldo-agents, and its exit codes.

import type { Machine } from "./machine.ts";
import type { Options } from "./options.ts";

/** The surroundings of a run. */
export type World = {
  readonly machine: Machine;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly now: () => Date;
  /** The folder it was called in. */
  readonly folder: string;
  /** The version of this program. */
  readonly version: string;
  /** The gateway that served this program; null where none did. */
  readonly servedBy: string | null;
  /** Whether it runs from a package, and not from the sources. */
  readonly isPackaged: boolean;
  /** Asks a person; null where there is no terminal. */
  readonly person: Person | null;
};

/** A person at a terminal. */
export type Person = {
  confirm(question: string): Promise<boolean>;
  /** Everything from the address to the last yes. */
  wizard(options: Options, world: World): Promise<number>;
};

/** The command of this program in a shell: the package of its gateway, the one of a registry in this version, or the sources. */
export function programOf({
  servedBy,
  isPackaged,
  version,
}: Pick<World, "servedBy" | "isPackaged" | "version">): string {
  if (servedBy !== null) return `npx -y ${servedBy}/saldo-agents.tgz`;
  return isPackaged ? `npx -y saldo-agents@${version}` : "npm run saldo-agents --";
}

/** The exit codes of the process. */
export const EXIT = { done: 0, failed: 1, refused: 2 } as const;
