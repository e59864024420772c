// What the rows of a statement mean for the members of a group, and the reading of what a lost statement has written for them.

import { CONFIRM_READS as CONFIRM_READS_TEXT } from "../../database/confirmed-read.ts";
import { invariant } from "../../kernel/invariant.ts";
import type { Waiting } from "./lane-queue.ts";
import type { PipelinedStatement, TextRows } from "./statement-pipeline.ts";

/** Behind a recall in its transaction: the ended backend may have left rows that no standby has confirmed. */
const CONFIRM_READS = { name: "confirm_reads", text: CONFIRM_READS_TEXT, values: [] };

type AnyMember = Waiting["member"];
type AnyStatement = Waiting["statement"];

/** The members of a group with their outcomes, and those for which nothing was written. */
export type Outcomes = { readonly answered: [Waiting, unknown][]; readonly unanswered: Waiting[] };

/** Runs statements in one transaction and returns the rows of each. */
type Run = (statements: readonly PipelinedStatement[]) => Promise<readonly TextRows[]>;

/** Sorts the members of a group, all of one kind, by whether the statement has an outcome for them. */
export function outcomesOf(
  group: readonly Waiting[],
  read: (statement: AnyStatement, members: AnyMember[]) => unknown[],
): Outcomes {
  const statement = statementOf(group);
  const outcomes = read(
    statement,
    group.map(({ member }) => member),
  );
  const sorted: Outcomes = { answered: [], unanswered: [] };
  for (const [index, waiting] of group.entries()) {
    const outcome = outcomes[index];
    if (outcome === undefined) sorted.unanswered.push(waiting);
    else sorted.answered.push([waiting, outcome]);
  }
  return sorted;
}

/**
 * Reads what lost statements have written for members of one kind. What they wrote is known behind it: nothing, for those without
 * an outcome. Errors: those of `run`; then it is as unknown as before.
 */
export async function recall(run: Run, group: readonly Waiting[]): Promise<Outcomes> {
  const statement = statementOf(group);
  for (const waiting of group) waiting.isRecalled = true;
  const [rows = []] = await run([statement.recall(group.map(({ member }) => member)), CONFIRM_READS]);
  for (const waiting of group) {
    waiting.perhapsWritten = false;
    waiting.isRecalled = false;
  }
  return outcomesOf(group, (_, members) => statement.recalled(rows, members));
}

/** Answers members. */
export function answerAll({ answered }: Outcomes): void {
  for (const [waiting, outcome] of answered) waiting.resolve(outcome);
}

function statementOf([first]: readonly Waiting[]): AnyStatement {
  invariant(first !== undefined, "a group has a member");
  return first.statement;
}
