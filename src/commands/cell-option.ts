// `--cell NAME`: a command works on the database of another cell than the home.

/** The commands that act on what a cell has. People, operators, merchants and payouts are in the home cell. */
const OF_CELLS: readonly RegExp[] = [
  /^account (?!create)/,
  /^(?:action|approval|receipt|statement|usage|top-up|key) /,
  /^admission /,
  /^(?:audit|margin|migrate)$/,
  /^catalog export$/,
  /^settings show$/,
  /^proof seal$/,
];

/** The option as the help lists it. */
export const CELL_OPTION = { name: "--cell NAME", about: "works on that cell of SALDO_CELLS instead of the home cell" };

/** Whether a command may work on another cell. */
export function worksOnCells(command: string): boolean {
  return OF_CELLS.some((form) => form.test(command));
}
