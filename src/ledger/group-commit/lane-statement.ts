import type { Parameter } from "./columns.ts";
import type { PipelinedStatement, TextRows } from "./statement-pipeline.ts";

/** A kind of member of a lane: how one alone is decided, what it brings to a group's statement, and how rows are read. */
export interface LaneStatement<Member, Outcome> {
  readonly name: "admission" | "extension" | "settlement";
  /** The statement of a member that is alone. Without one it runs as a group of one. */
  lone?(member: Member): PipelinedStatement;
  /** Whether a member never joins a group, because no group's statement knows what it asks for. */
  isAlwaysAlone?(member: Member): boolean;
  /** The letter of this kind's rows. */
  readonly letter: "a" | "e" | "s";
  /** How many parameters a member has, and which, in the order of the group's statement. */
  readonly width: number;
  parameters(member: Member): readonly Parameter[];
  /** The order in which the group's statement wants its members, where it wants one. */
  order?(one: Member, other: Member): number;
  /** One outcome per member, in order. Undefined: this statement wrote nothing for it, because somebody has before. */
  outcomes(rows: TextRows, members: readonly Member[]): (Outcome | undefined)[];
  /** Asks what is written already of members whose statement was lost. */
  recall(members: readonly Member[]): PipelinedStatement;
  /** One outcome per member, in order. Undefined: nothing is written of it. */
  recalled(rows: TextRows, members: readonly Member[]): (Outcome | undefined)[];
  /** What to say of a member for which there is nothing to write and nothing written. */
  missing(member: Member): Error;
  /** How long a member waits for a database that is away, and for a row that somebody else has locked. */
  readonly awayPatienceMs: number;
  readonly lockPatienceMs: number;
  /** How often a member is tried after deadlocks and serialization failures. */
  readonly maxAttempts: number;
}

/** A row that a money statement gives of a member; see the function's own text for what it says of each kind. */
export type MemberRow = {
  readonly outcome: string;
  readonly amount: bigint;
  readonly other: bigint;
  /** The key's window: limit, remaining, seconds until it resets, milliseconds to wait; then what is the statement's own. */
  readonly window: readonly (string | null)[];
};

/** The rows by member, in order; undefined where there is none. */
export function memberRows(rows: TextRows, members: readonly unknown[]): (MemberRow | undefined)[] {
  const byMember = members.map((): MemberRow | undefined => undefined);
  for (const [kind, ordinal, outcome, amount, other, ...window] of rows) {
    if (kind === null) continue; // a lone statement that wrote nothing
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
