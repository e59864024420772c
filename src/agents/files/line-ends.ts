// Line ends where a file mixes two kinds: each line that stays keeps its own.

import { UneditableFile } from "../editing/edits.ts";

/** Comparing every line with every other takes this many steps at the most; no configuration comes near it. */
const MOST_STEPS = 25_000_000;

type Ends = { readonly lines: readonly string[]; readonly written: readonly string[] };

/** Gives the lines of an edited text, which end with a line feed, the ends that they had in the text as it was written. Lines
 * that are new end like most of the old ones. Errors: UneditableFile. */
export function withLineEnds(text: string, written: string): string {
  const old = written.split(/(?<=\n)/);
  const pairs = old.filter((line) => line.endsWith("\r\n")).length;
  const feeds = old.filter((line) => line.endsWith("\n")).length;
  if (pairs === 0) return text;
  if (pairs === feeds) return text.replaceAll("\n", "\r\n");
  const usual = pairs * 2 >= feeds ? "\r\n" : "\n";
  const lines = text.split(/(?<=\n)/);
  const plain = old.map((line) => line.replace(/\r?\n$/, "\n"));
  const partners = partnersOf({ lines, written: plain });
  return lines
    .map((line, index) => {
      if (!line.endsWith("\n")) return line;
      const [own = usual] = /\r?\n$/.exec(old[partners[index] ?? -1] ?? "") ?? [];
      return line.slice(0, -1) + own;
    })
    .join("");
}

/** For each line the old one that it is, or that it was changed from. */
function partnersOf({ lines, written }: Ends): (number | undefined)[] {
  const partners: (number | undefined)[] = Array.from({ length: lines.length });
  let changed = { line: 0, old: 0 };
  for (const [line, old] of [...commonLines({ lines, written }), [lines.length, written.length] as const]) {
    // Between two lines that stay, the first new ones are the old ones changed: a splice begins where it changes a line.
    for (let step = 0; changed.line + step < line && changed.old + step < old; step += 1) {
      partners[changed.line + step] = changed.old + step;
    }
    if (line < lines.length) partners[line] = old;
    changed = { line: line + 1, old: old + 1 };
  }
  return partners;
}

/** The longest common run of lines, with gaps, as pairs of places. */
function commonLines({ lines, written }: Ends): (readonly [number, number])[] {
  const shorter = Math.min(lines.length, written.length);
  let head = 0;
  while (head < shorter && lines[head] === written[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && lines.at(-1 - tail) === written.at(-1 - tail)) tail += 1;
  const rows = lines.length - head - tail;
  const columns = written.length - head - tail;
  if (rows * columns > MOST_STEPS)
    throw new UneditableFile("mixes two kinds of line ends in a way that is hard to keep");
  // longest[row][column]: how many lines are common behind these places.
  const longest = Array.from({ length: rows + 1 }, () => new Uint32Array(columns + 1));
  const at = (row: number, column: number): number => longest[row]?.[column] ?? 0;
  const isSameAt = (row: number, column: number): boolean => lines[head + row] === written[head + column];
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      const length = isSameAt(row, column)
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
      longest[row]?.fill(length, column, column + 1);
    }
  }
  const middle: (readonly [number, number])[] = [];
  for (let row = 0, column = 0; row < rows && column < columns;) {
    if (isSameAt(row, column)) {
      middle.push([head + row, head + column]);
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
  const start = Array.from({ length: head }, (_, index) => [index, index] as const);
  const end = Array.from(
    { length: tail },
    (_, index) => [lines.length - tail + index, written.length - tail + index] as const,
  );
  return [...start, ...middle, ...end];
}
