// Random faults, for tests that run long enough to find unforeseen failures.

import type { Fault } from "./postgres-link.ts";
import type { Rule } from "./postgres-proxy.ts";

/** Every fault of the proxy on a turn. */
export const ALL_FAULTS: readonly Fault[] = [
  "lose-request",
  "lose-commit",
  "lose-reply",
  "strand-request",
  "strand-commit",
  { raise: "40001" },
  { raise: "40P01" },
  { raise: "53100" },
  { delayMs: 20 },
];

export type Chances = {
  /** How likely a fault is for each turn. */
  readonly chance: number;
  /** Selects turns by the names of prepared statements and the texts of others, in order. Default: all. */
  readonly statements?: RegExp;
  readonly faults?: readonly Fault[];
};

/** A rule that causes each of the faults as often as the others. */
export function randomFaults(random: () => number, { chance, statements = /^/, faults = ALL_FAULTS }: Chances): Rule {
  return (turn) => {
    if (!statements.test(turn.statements.join(" ")) || random() >= chance) return undefined;
    return faults[Math.floor(random() * faults.length)];
  };
}
