// Commands that are carried out in every cell, unless `--cell` names one: left out in one of them, it would go on as before, or not start again.

import type { CommandCell, CommandContext, CommandResult } from "./command.ts";

/** What was done in a cell. */
export type Done<Outcome> = { readonly cell: string; readonly outcome: Outcome };

/** Opens all cells before anything is done in one of them. Errors: the first of one that cannot be opened. */
export async function openAll({ cells }: Pick<CommandContext, "cells">): Promise<void> {
  const opened = await Promise.allSettled(cells.map(({ database }) => database()));
  for (const [index, each] of opened.entries()) {
    if (each.status === "fulfilled") continue;
    const name = cells[index]?.name;
    if (cells.length === 1) throw each.reason;
    throw new Error(`Nothing was done, because the cell ${name} cannot be opened: ${messageOf(each.reason)}`);
  }
}

/** Does it in one cell behind the other; the home cell is the last. Errors: the first; cells behind it are left. */
export async function inEach<Outcome>(
  { cells }: Pick<CommandContext, "cells">,
  work: (cell: CommandCell) => Promise<Outcome>,
): Promise<Done<Outcome>[]> {
  const done: Done<Outcome>[] = [];
  for (const cell of cells.toReversed()) done.unshift({ cell: cell.name, outcome: await work(cell) });
  return done;
}

/**
 * Does it in all cells that can be opened, whatever becomes of the others. The command fails where one did. Errors: that of the only
 * cell.
 */
export async function inAll(
  { cells }: Pick<CommandContext, "cells">,
  work: (cell: CommandCell) => Promise<CommandResult>,
): Promise<CommandResult> {
  const [first] = cells;
  if (cells.length === 1 && first !== undefined) return work(first);
  const done = await Promise.allSettled(cells.map(work));
  const outcomes = done.map((each, index) => {
    const cell = cells[index]?.name ?? "";
    if (each.status === "fulfilled") return { cell, ...each.value.json };
    return { cell, error: messageOf(each.reason) };
  });
  return {
    // What programs read of one database is that of the home cell.
    json: { ...(done[0]?.status === "fulfilled" ? done[0].value.json : {}), cells: outcomes },
    text: outcomes.map(({ cell, ...facts }) => `${cell}: ${factsText(facts)}`).join("\n"),
    ok: done.every((each) => each.status === "fulfilled" && each.value.ok !== false),
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function factsText(facts: Readonly<Record<string, unknown>>): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name} ${value === null ? "-" : textOf(value)}`)
    .join(", ");
}

/** The members of `json` that name the cells, where there are several. */
export function perCell<Outcome extends object>(done: readonly Done<Outcome>[]): { cells?: readonly object[] } {
  return done.length === 1 ? {} : { cells: done.map(({ cell, outcome }) => ({ cell, ...outcome })) };
}
