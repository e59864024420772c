import type { PipelinedStatement, TextRows } from "./statement-pipeline.ts";

/** A kind of statement a lane runs: one text for a lone member, one for a group, both named and planned once. */
export interface LaneStatement<Member, Outcome> {
  readonly name: "admission" | "extension" | "settlement";
  lone(member: Member): PipelinedStatement;
  group(members: readonly Member[]): PipelinedStatement;
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
