// Texts that make careless code slow: one short pattern again and again, so that much of it nearly matches everywhere, with an
// end that lets nothing match.

import type { TextOf } from "./growth.ts";

export type HostileText = { readonly name: string; readonly textOf: TextOf };

const CHARACTERS = [
  ...Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)),
  ...Array.from("\t\n\r\u0000\u00a0é漢\u0301\u200b\u2028\uff1d"),
  "\ud800",
  "😀",
];

/** One list to a kind of text, its items parted by a character that none of them has. */
const PATTERNS = [
  "a.~a-~a:~a@~a/~a_~a ~a,~a=~a%~*b~1.~1,~1:~-1~0x~1.1.1.~aA~A.a",
  String.raw`\"~\\~"a~""~":~"a":~"a":"~"a" ~'a~''~"""~'''~\u0061~\u`,
  '[]~[[~{}~{[~[],~{},~{"a":~1,~[1~()~(a~<a~</~<!--~<script>~[a](~**a~`a',
  " \n~\n ~\r\n~\n\n~#\n~# ~//~/*~/**/~*/~- ~: ~? ~&a ~*a ~!!~| ~> ",
  "data:~data: \n~data: {}\n\n~://~a://~a://b@~@a~?a=~&a=~%00~%~%%~+~--~=?",
  "e\u0301~\u0301\u0300~\udc00\ud800~\u202ea~::~:1~::1~a::~0.0.~e9~1e~E+",
].flatMap((patterns) => patterns.split("~"));

/** The pattern again and again. `end` comes behind the last. */
function repeated(pattern: string, { start = "", end = "" } = {}): HostileText {
  const name = `${JSON.stringify(start)} + ${JSON.stringify(pattern)} × n + ${JSON.stringify(end)}`;
  return { name, textOf: (length) => start + pattern.repeat(Math.max(1, Math.floor(length / pattern.length))) + end };
}

/** What nothing that repeats goes on with. */
const STOP = "\u0001!";

/** For parsers. */
export const HOSTILE_TEXTS: readonly HostileText[] = [
  ...PATTERNS,
  ...Array.from("a0 \t\n\"'\\[{(*.,:;-_/=%&#\u0301\ud800"),
].map((pattern) => repeated(pattern));

/** For parsers as well, as long as they can be. */
export const FEW_HOSTILE_TEXTS: readonly HostileText[] = String.raw`\"~"~\~ ~a.~a-~*~0~[~{~],[~"a":~{"a":~a://b@~# ~- `
  .split("~")
  .concat("\n", "\u0301", "\ud800")
  .map((pattern) => repeated(pattern));

/** For a regular expression: every character and pattern, and what the expression itself is made of. */
export function textsFor(source: string): HostileText[] {
  const own = ownPatterns(source);
  const patterns = [...new Set([...CHARACTERS, ...PATTERNS, ...own])];
  const starts = own.filter((pattern) => pattern.length > 1).slice(0, 4);
  return [
    ...patterns.map((pattern) => repeated(pattern)),
    ...patterns.map((pattern) => repeated(pattern, { end: STOP })),
    ...starts.flatMap((start) => ["a", "0", " ", "="].map((pattern) => repeated(pattern, { start, end: STOP }))),
  ];
}

/** The words and marks of an expression, alone and with what may come between them. */
function ownPatterns(source: string): string[] {
  const plain = source.replaceAll(/\\[dDwWsSbBnrt]|\\p\{\w+\}|\\u[\da-f]{4}|\\x[\da-f]{2}|\{\d+,?\d*\}/gi, " ");
  const words = [...new Set(plain.match(/[A-Za-z]{2,}/g))].slice(0, 12);
  const marks = [...new Set(plain.replaceAll(/[\w\s\\]/g, ""))].slice(0, 12);
  return [
    ...words.flatMap((word) => [word, `${word} `, `"${word}":"`, `${word}=`]),
    ...(words.length > 1 ? [words.join(" "), words.join("")] : []),
    ...marks.flatMap((mark) => [`a${mark}`, `${mark}a`, `${mark} `, `${mark}${mark}`]),
  ];
}
