// The SQL in a source: whole statements and pieces of them, without comments, quotes of names and the schema public.

import { INSERTED, literalsOf } from "./source-tokens.ts";

/** A table that a statement names, and whether the statement changes its rows. */
export type TableUse = { readonly table: string; readonly isChanged: boolean };

const COMMENT = /--.*$|\/\*[\s\S]*?\*\//gm;
/** The beginning of a statement, in any case: words of prose do not follow each other so. */
const STATEMENT =
  /^[\s(]*(?:WITH\s+(?:RECURSIVE\s+)?\w+\s*(?:\([^)]*\)\s*)?AS\b|SELECT\s[\s\S]*\bFROM\s|INSERT\s+INTO\s|UPDATE\s+[\s\S]+?\sSET\s|DELETE\s+FROM\s|MERGE\s+INTO\s|TRUNCATE\s|LOCK\s+(?:TABLE\s|ONLY\s|["\w.${}]+\s*(?:IN\s|$))|COPY\s+[\s\S]+?\s(?:FROM|TO)\s|(?:ALTER|DROP|CREATE)\s[\s\S]*?\bTABLE\s)/i;
/** A piece of a statement has its words in capitals. */
const PIECE = /\b(?:FROM|JOIN|INTO|UPDATE|USING|TRUNCATE|LOCK|COPY)\s+(?:(?:TABLE|ONLY)\s+)*["\w$]/;
/** A call of a pool, a client or an entity manager that takes a statement. */
const RUNS = /\.query\s*(?:\?\.\s*)?[(<]|\.query\.(?:bind|call|apply)\b|\b(?:em|getConnection\(\))\.execute\s*[(<]/;

const NAME = String.raw`((?:auth\.)?(?:[a-z_]\w*(?:\$\{\})?|\$\{\}))`;
const SINGLE = new RegExp(
  String.raw`\b(INTO|UPDATE|JOIN|COPY)\s+(?:ONLY\s+)?${NAME}(?:\s*\([^)]*\))?(\s+FROM\b)?`,
  "gi",
);
const LIST = /\b(DELETE\s+FROM|FROM|USING|TABLE|TRUNCATE|LOCK)\s/gi;
const ITEM = new RegExp(String.raw`^\s*(?:(?:TABLE|ONLY|LATERAL|IF|EXISTS|NOT)\s+)*${NAME}`, "i");
const END_OF_LIST =
  /^(?:WHERE|GROUP|ORDER|SET|RETURNING|FOR|LIMIT|UNION|HAVING|WINDOW|USING|VALUES|FROM|WITH|IN|AS\s*\()\b/i;

/** Words without one of which a file has no SQL; looking for them is fast. */
const WORD = /\b(?:select|insert\s+into|update|delete\s+from|merge\s+into|truncate|lock|copy|table)\s/i;

function sqlLiterals(text: string, isSql: (literal: string) => boolean): string[] {
  return WORD.test(text) || PIECE.test(text) ? literalsOf(text).filter(isSql) : [];
}

/** The SQL of a file, each statement or piece apart. */
export function sqlOf(path: string, text: string): string[] {
  const isSql = (literal: string): boolean => STATEMENT.test(literal) || PIECE.test(literal);
  const texts = path.endsWith(".sql") ? text.split(";") : sqlLiterals(text, isSql);
  return texts.map((each) =>
    each
      .replaceAll(COMMENT, "")
      .replaceAll('"', "")
      .replaceAll(/\bpublic\./gi, ""),
  );
}

/** Whether a file has a statement, or runs one that it gets from elsewhere. */
export function hasSql(text: string): boolean {
  const code = text.replaceAll(/^\s*(?:\/\/|\*|\/\*).*$/gm, "");
  return RUNS.test(code) || sqlLiterals(text, (literal) => STATEMENT.test(literal)).length > 0;
}

/** What SQL names where a table is named. A partition counts as its table. */
export function tableUses(sql: string): TableUse[] {
  const found: TableUse[] = [];
  for (const [, word = "", table = "", from] of sql.matchAll(SINGLE)) {
    const isCopyOut = /^copy$/i.test(word) && from === undefined;
    found.push({ table: wholeTable(table), isChanged: !/^join$/i.test(word) && !isCopyOut });
  }
  for (const match of sql.matchAll(LIST)) {
    const isChanged = /^(?:DELETE|TRUNCATE)/i.test(match[1] ?? "");
    for (const item of itemsOf(sql.slice(match.index + match[0].length))) {
      const table = ITEM.exec(item)?.[1];
      if (table !== undefined) found.push({ table: wholeTable(table), isChanged });
    }
  }
  return found;
}

function wholeTable(name: string): string {
  return name === INSERTED ? name : name.toLowerCase().replace(/(?:_\d+)+$|_?\$\{\}$/, "");
}

/** The parts between the commas of a list of tables, up to the clause behind it. */
function itemsOf(text: string): string[] {
  const items = [""];
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at);
    const isWordStart = /\W/.test(text.charAt(at - 1));
    if (sign === ";" || (depth === 0 && (sign === ")" || (isWordStart && END_OF_LIST.test(text.slice(at, at + 12))))))
      break;
    if (sign === "(") depth += 1;
    if (sign === ")") depth -= 1;
    if (sign === "," && depth === 0) items.push("");
    else items.push((items.pop() ?? "") + sign);
  }
  return items;
}
