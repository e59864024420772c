// `--cell NAME`: a command works on the database of another cell than the home.

/** The commands that are carried out in every cell where the option is left out. */
const OF_ALL = /^(?:admission (?:start|status|stop)|demo clear|migrate|secrets (?:encrypt|rotate))$/;
/** The commands that act on what a cell has. People, operators, merchants and payouts are in the home cell. */
const OF_CELLS: readonly RegExp[] = [
  /^account (?!create)/,
  /^(?:action|approval|auto-top-up|receipt|statement|usage|top-up|key) /,
  /^(?:audit|margin)$/,
  /^recover (?:prepare|report)$/,
  /^catalog export$/,
  /^settings show$/,
  /^proof seal$/,
];

/** The option as the help of a command lists it. */
export function cellOption(command: string): { readonly name: string; readonly about: string } {
  const instead = OF_ALL.test(command)
    ? "works on that cell of SALDO_CELLS alone, and not on all"
    : "works on that cell of SALDO_CELLS instead of the home cell";
  return { name: "--cell NAME", about: instead };
}

/** Whether a command may work on another cell. */
export function worksOnCells(command: string): boolean {
  return OF_ALL.test(command) || OF_CELLS.some((form) => form.test(command));
}
