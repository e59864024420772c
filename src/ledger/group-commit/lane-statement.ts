import type { Parameter } from "./columns.ts";
import type { PipelinedStatement, TextRows } from "./statement-pipeline.ts";

/**
 * A kind of member of a lane: the statement for a single one, its parameters in a group's statement, and how its rows are read.
 */
export interface LaneStatement<Member, Outcome> {
  readonly name: "admission" | "extension" | "settlement";
  /** The statement of a single member. Without one it runs as a group of one. */
  lone?(member: Member): PipelinedStatement;
  /** Whether a member never joins a group, because no group's statement has its parameters. */
  isAlwaysAlone?(member: Member): boolean;
  /** The letter of this kind's rows. */
  readonly letter: "a" | "e" | "s";
  /** How many parameters a member has, and their values, in the order of the group's statement. */
  readonly width: number;
  parameters(member: Member): readonly Parameter[];
  /** The order of members that the group's statement needs, if any. */
  order?(one: Member, other: Member): number;
  /** One outcome per member, in order. Undefined: this statement wrote nothing for it, because an earlier one has. */
  outcomes(rows: TextRows, members: readonly Member[]): (Outcome | undefined)[];
  /** Reads what lost statements have written for their members. */
  recall(members: readonly Member[]): PipelinedStatement;
  /** One outcome per member, in order. Undefined: nothing was written for it. */
  recalled(rows: TextRows, members: readonly Member[]): (Outcome | undefined)[];
  /** The error of a member for which there was nothing to write and nothing is written. */
  missing(member: Member): Error;
  /** How long a member waits while the database is unavailable, and for a row that is locked. */
  readonly awayPatienceMs: number;
  readonly lockPatienceMs: number;
  /** How often a member is retried after deadlocks and serialization failures. */
  readonly maxAttempts: number;
}

/** A row that a money statement returns for a member; the function's own comment describes the columns of each kind. */
export type MemberRow = {
  readonly outcome: string;
  readonly amount: bigint;
  readonly other: bigint;
  /** The key's window: limit, remaining, seconds until it resets, milliseconds to wait, limit and rest of its tokens; then the statement's own columns. */
  readonly window: readonly (string | null)[];
};

/** The rows by member, in order; undefined where there is none. */
export function memberRows(rows: TextRows, members: readonly unknown[]): (MemberRow | undefined)[] {
  const byMember = members.map((): MemberRow | undefined => undefined);
  for (const [kind, ordinal, outcome, amount, other, ...window] of rows) {
    if (kind === null) continue; // a single statement that wrote nothing
    byMember[Number(ordinal) - 1] = {
      outcome: String(outcome),
      amount: BigInt(amount ?? 0),
      other: BigInt(other ?? 0),
      window,
    };
  }
  return byMember;
}

/** The order of two ids, as PostgreSQL orders UUIDs: by their bytes, so by their digits. */
export function compareIds(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
