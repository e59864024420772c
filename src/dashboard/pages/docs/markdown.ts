// Reads the Markdown that our documentation is written in into blocks, when the dashboard is built. It knows what we use and no
// more: headings, paragraphs, lists, tables, code, and within them code, emphasis and links. There is no HTML in it, so
// nothing that stands in a text can become any.

/** A piece of a line. */
export type Inline =
  | { readonly kind: "text" | "code" | "strong" | "em"; readonly text: string }
  | { readonly kind: "link"; readonly text: string; readonly to: string };

/** A piece of a page. */
export type Block =
  | { readonly kind: "heading"; readonly level: number; readonly text: string; readonly id: string }
  | { readonly kind: "paragraph"; readonly inlines: readonly Inline[] }
  | { readonly kind: "list"; readonly ordered: boolean; readonly items: readonly (readonly Inline[])[] }
  | { readonly kind: "table"; readonly head: Row; readonly rows: readonly Row[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  /** Where the prices of all models stand. */
  | { readonly kind: "models" };

type Row = readonly (readonly Inline[])[];

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|\[([^\]]+)\]\(([^)]+)\)/g;
const FENCE = "```";
const ITEM = /^(?:- |\d+\. )/;

/** The blocks of a text. Errors: Error, where a block of code has no end. */
export function readMarkdown(text: string): Block[] {
  const lines = text.split("\n");
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? "";
    if (line === "") {
      at += 1;
      continue;
    }
    const end = line.startsWith(FENCE) ? endOfCode(lines, at) : endOfBlock(lines, at);
    blocks.push(readBlock(lines.slice(at, end)));
    at = end;
  }
  return blocks;
}

function endOfCode(lines: readonly string[], start: number): number {
  const end = lines.indexOf(FENCE, start + 1);
  if (end === -1) throw new Error(`line ${start + 1}: a block of code has no end`);
  return end + 1;
}

function endOfBlock(lines: readonly string[], start: number): number {
  const end = lines.findIndex((line, at) => at > start && (line === "" || line.startsWith(FENCE)));
  return end === -1 ? lines.length : end;
}

function readBlock(lines: readonly string[]): Block {
  const [first = ""] = lines;
  if (first.startsWith(FENCE)) {
    return { kind: "code", language: first.slice(FENCE.length), text: lines.slice(1, -1).join("\n") };
  }
  const [, marks, title] = /^(#+) (.*)$/.exec(first) ?? [];
  if (marks !== undefined && title !== undefined) {
    return { kind: "heading", level: marks.length, text: title, id: idOf(title) };
  }
  if (first === "{models}") return { kind: "models" };
  if (first.startsWith("| ")) {
    const [head = [], , ...rows] = lines.map(readRow);
    return { kind: "table", head, rows };
  }
  if (ITEM.test(first)) {
    return { kind: "list", ordered: !first.startsWith("-"), items: itemsOf(lines).map(readInlines) };
  }
  return { kind: "paragraph", inlines: readInlines(lines.join(" ")) };
}

/** A line that begins no item goes on with the one before. */
function itemsOf(lines: readonly string[]): string[] {
  const items: string[] = [];
  for (const line of lines) {
    if (ITEM.test(line)) items.push(line.replace(ITEM, ""));
    else items.push(`${items.pop() ?? ""} ${line.trim()}`);
  }
  return items;
}

function readRow(line: string): Row {
  const cells = line.split("|").slice(1, -1);
  return cells.map((cell) => readInlines(cell.trim()));
}

/** The pieces of a line. */
export function readInlines(line: string): Inline[] {
  const inlines: Inline[] = [];
  let read = 0;
  for (const found of line.matchAll(INLINE)) {
    if (found.index > read) inlines.push({ kind: "text", text: line.slice(read, found.index) });
    inlines.push(inlineOf(found));
    read = found.index + found[0].length;
  }
  if (read < line.length) inlines.push({ kind: "text", text: line.slice(read) });
  return inlines;
}

function inlineOf([, code, strong, em, text = "", to = ""]: RegExpExecArray): Inline {
  if (code !== undefined) return { kind: "code", text: code };
  if (strong !== undefined) return { kind: "strong", text: strong };
  return em === undefined ? { kind: "link", text, to } : { kind: "em", text: em };
}

function idOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}
