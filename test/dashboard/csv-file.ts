// Parses a file by RFC 4180, and refuses one that violates it.

/** The records of a file under the names in its first line. */
export function readCsv(text: string): Record<string, string>[] {
  const [names = [], ...lines] = linesOf(text);
  return lines.map((fields) => {
    if (fields.length !== names.length) throw new Error(`a line has ${fields.length} fields, not ${names.length}`);
    return Object.fromEntries(names.map((name, index) => [name, fields[index] ?? ""]));
  });
}

/** A quoted field, where a quote is written twice, or an unquoted one; and the character that ends it. */
const FIELD = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;

function linesOf(text: string): string[][] {
  const lines: string[][] = [];
  let line: string[] = [];
  FIELD.lastIndex = 0;
  while (FIELD.lastIndex < text.length) {
    const at = FIELD.lastIndex;
    const [, quoted, plain = "", end] = FIELD.exec(text) ?? [];
    if (end === undefined) throw new Error(`no field of RFC 4180 at ${at}: ${text.slice(at, at + 40)}`);
    line.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === ",") continue;
    lines.push(line);
    line = [];
  }
  if (line.length > 0) throw new Error("the last line is not ended");
  return lines;
}
