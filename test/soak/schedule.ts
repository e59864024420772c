// The faults of the nemesis and their times, chosen by the seed alone before anything runs.

import { seededRandom } from "../money/random.ts";
import { REQUEST_FAILPOINTS, type RequestFailpoint } from "../../src/kernel/failpoint.ts";

/** The faults of a connection to PostgreSQL; `postgres-link.ts` explains each. */
export const LOSSES = ["lose-request", "lose-commit", "lose-reply", "strand-request", "strand-commit"] as const;

/** One fault with all that is chance about it. `gateway` is 0 or 1. */
export type Fault =
  | { readonly kind: "kill gateway" | "restart gateway"; readonly gateway: number; readonly awayMs: number }
  | { readonly kind: "pause gateway" | "outsleep the lease"; readonly gateway: number; readonly pausedMs: number }
  | { readonly kind: "failpoint"; readonly gateway: number; readonly name: RequestFailpoint; readonly nth: number }
  | { readonly kind: "lose transactions"; readonly loss: (typeof LOSSES)[number]; readonly turns: number }
  | { readonly kind: "raise errors"; readonly sqlState: string; readonly turns: number }
  | { readonly kind: "cut connections"; readonly awayMs: number }
  | { readonly kind: "end backends"; readonly share: number }
  | { readonly kind: "kill postgres" }
  | { readonly kind: "lock accounts"; readonly accounts: number; readonly lockedMs: number };

export type FaultKind = Fault["kind"];

/** A fault, and the quiet before it, counted from the end of the one before. */
export type Step = { readonly afterMs: number; readonly fault: Fault };

export type ScheduleOptions = {
  readonly seed: number;
  readonly kinds: readonly FaultKind[];
  /** The mean quiet between two faults. */
  readonly quietMs: number;
};

export const FAULT_KINDS: readonly FaultKind[] = [
  "kill gateway",
  "restart gateway",
  "pause gateway",
  "outsleep the lease",
  "failpoint",
  "lose transactions",
  "raise errors",
  "cut connections",
  "end backends",
  "kill postgres",
  "lock accounts",
];

/** A lease of 20 s, and the rounds of the other one that buries it and resolves its holds. */
const OUTSLEPT_MS = 25_000;
/** For so many rounds either gateway may die. */
const ROUNDS_FOR_BOTH = 3;

/** A serialization failure, a deadlock, a lock time-out, a full disk: callers may only be asked to come again. */
const SQL_STATES = ["40001", "40P01", "55P03", "53100"];

/** Yields the faults of a seed without end: every kind once in each round, in an order of its own. */
export function* schedule({ seed, kinds, quietMs }: ScheduleOptions): Generator<Step, never> {
  const random = seededRandom(seed);
  const between = (low: number, high: number): number => low + random() * (high - low);
  const whole = (low: number, high: number): number => Math.floor(between(low, high + 1));
  const oneOf = <Item>(items: readonly Item[]): Item => {
    const item = items[whole(0, items.length - 1)];
    if (item === undefined) throw new Error("there is something to choose from");
    return item;
  };
  let rounds = 0;
  // From then on one of them lives, so that the growth of a process that is hours old can be seen.
  const mortal = (): number => (rounds < ROUNDS_FOR_BOTH ? whole(0, 1) : 0);
  const faults: Record<FaultKind, () => Fault> = {
    "kill gateway": () => ({ kind: "kill gateway", gateway: mortal(), awayMs: between(0, 3_000) }),
    "restart gateway": () => ({ kind: "restart gateway", gateway: mortal(), awayMs: between(0, 500) }),
    // The lease is 20 s long, so that the other gateway buries some of the paused and not others.
    "pause gateway": () => ({ kind: "pause gateway", gateway: whole(0, 1), pausedMs: between(5_000, 45_000) }),
    // Long enough for the other gateway to recover its holds, short enough for its clients to be there still.
    "outsleep the lease": () => ({ kind: "outsleep the lease", gateway: whole(0, 1), pausedMs: OUTSLEPT_MS }),
    failpoint: () => ({ kind: "failpoint", gateway: mortal(), name: oneOf(REQUEST_FAILPOINTS), nth: whole(1, 40) }),
    "lose transactions": () => ({ kind: "lose transactions", loss: oneOf(LOSSES), turns: whole(1, 20) }),
    "raise errors": () => ({ kind: "raise errors", sqlState: oneOf(SQL_STATES), turns: whole(1, 20) }),
    "cut connections": () => ({ kind: "cut connections", awayMs: between(0, 6_000) }),
    "end backends": () => ({ kind: "end backends", share: between(0.2, 1) }),
    "kill postgres": () => ({ kind: "kill postgres" }),
    "lock accounts": () => ({ kind: "lock accounts", accounts: whole(1, 4), lockedMs: between(200, 5_000) }),
  };
  for (;;) {
    const round = [...kinds];
    while (round.length > 0) {
      const [kind] = round.splice(whole(0, round.length - 1), 1);
      if (kind !== undefined) yield { afterMs: between(0.5, 1.5) * quietMs, fault: faults[kind]() };
    }
    rounds += 1;
  }
}
