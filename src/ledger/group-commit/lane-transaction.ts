// The statements for the members that a lane commits together: one each for a few members, one for all of many. Preparing the
// statement for many takes as long as some three single ones.

import { columnsOf } from "./columns.ts";
import type { Waiting } from "./lane-queue.ts";
import { compareIds } from "./lane-statement.ts";
import type { PipelinedStatement, TextRows } from "./statement-pipeline.ts";
import { admissionStatement } from "./admission.ts";
import { extensionStatement } from "./extension.ts";
import { settlementStatement } from "./settlement.ts";

const FEW = 3;

/** The statements of one transaction, and the members in the groups by which they are answered. */
export type LaneTransaction = {
  readonly statements: readonly PipelinedStatement[];
  readonly groups: readonly Waiting[][];
  /** The rows of each group, from those of the statements. */
  rowsOf(results: readonly TextRows[]): readonly TextRows[];
};

/** The transaction of groups, one for each kind that has members, settlements first. */
export function transactionOf(groups: readonly Waiting[][]): LaneTransaction {
  return eachAlone(groups.flat()) ?? allTogether(groups);
}

/** Undefined: they are too many, or of a kind without a statement for a single member. */
function eachAlone(members: Waiting[]): LaneTransaction | undefined {
  if (members.length > FEW) return undefined;
  // Accounts are locked in order, here by one statement after the other.
  members.sort((one, other) => compareIds(one.member.accountId, other.member.accountId));
  const statements: PipelinedStatement[] = [];
  for (const { statement, member } of members) {
    if (statement.lone === undefined) return undefined;
    statements.push(statement.lone(member));
  }
  return { statements, groups: members.map((waiting) => [waiting]), rowsOf: (results) => results };
}

/** The kinds in the order of the parameters of commit_requests. */
const KINDS = [settlementStatement, extensionStatement, admissionStatement];
const PARAMETERS = KINDS.flatMap(({ width }) => Array.from({ length: width })).map((_, index) => `$${index + 1}`);
const COMMIT_REQUESTS = `SELECT * FROM commit_requests(${PARAMETERS.join(", ")})`;

function allTogether(groups: readonly Waiting[][]): LaneTransaction {
  const ordered = groups.map((group) => {
    const statement = group[0]?.statement;
    if (statement?.order === undefined) return group;
    return group.toSorted((one, other) => statement.order?.(one.member, other.member) ?? 0);
  });
  const values = KINDS.flatMap(({ name, width }) => {
    const group = ordered.find(([first]) => first?.statement.name === name) ?? [];
    return columnsOf(
      group.map(({ statement, member }) => statement.parameters(member)),
      width,
    );
  });
  // Named by its contents, so that the server's view of running statements shows them.
  const name = `group of ${ordered.map(([first]) => first?.statement.name).join("+")}`;
  return {
    statements: [{ name, text: COMMIT_REQUESTS, values }],
    groups: ordered,
    rowsOf: ([rows = []]) => ordered.map(([first]) => rows.filter(([letter]) => letter === first?.statement.letter)),
  };
}
