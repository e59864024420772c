// Cuts an answer into blocks that are parsed alone: while it arrives, only its last block is parsed again. A parser of Markdown
// takes more than linear time for some texts, so a long block is not parsed at all.

const FENCE = /^\s*(`{3,}|~{3,})/;
/** At this length the worst text takes a tenth of a second. */
const LONGEST_BLOCK = 5_000;
/** The cells of a table are parsed one by one. */
const LONGEST_TABLE = 20_000;
const LONGEST_ROW = 2_000;

/** The blocks of a text, which in order are the whole text. A block ends at an empty line outside of code. */
export function blocksOf(text: string): string[] {
  const blocks: string[] = [];
  let block = "";
  let fence = "";
  let isAfterEmpty = false;
  for (const line of text.split(/(?<=\n)/)) {
    const isEmpty = line.trim() === "";
    // An indented line goes on with the list before it.
    if (isAfterEmpty && !isEmpty && fence === "" && !/^\s/.test(line)) {
      blocks.push(block);
      block = "";
    }
    fence = fenceAfter(line, fence);
    block += line;
    isAfterEmpty = isEmpty;
  }
  return block === "" ? blocks : [...blocks, block];
}

/** The fence of the code that a line is inside of, after this line. Empty: none. */
function fenceAfter(line: string, fence: string): string {
  const found = FENCE.exec(line)?.[1] ?? "";
  if (fence === "") return found;
  const isEnd = found.startsWith(fence) && line.trim() === found;
  return isEnd ? "" : fence;
}

/** Whether a block is short enough to be parsed. Code is, whatever its length: nothing is parsed in it. */
export function isParsed(block: string): boolean {
  if (block.length <= LONGEST_BLOCK || FENCE.test(block)) return true;
  if (!block.startsWith("|") || block.length > LONGEST_TABLE) return false;
  return block.split("\n").every((line) => line.length <= LONGEST_ROW);
}
