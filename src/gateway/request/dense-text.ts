// How many tokens a text can have, for holds alone: what is billed is never counted here. Tokenizers make one token of a common word and
// one of nearly each byte of a random string, so the neighbours of each byte decide. The figures were fitted to seven published
// tokenizers over random texts of sixty kinds; `test/gateway/texts-within-holds.test.ts` tests them with texts of its own.

import type { Span } from "./json-scan.ts";

/** The cost of two neighbouring bytes is a whole number of these. */
const UNITS_PER_TOKEN = 16;
/** A text of one token for each byte. */
const TOKEN = 16;

/** Letters, each with those that often come behind it in words of English, Indonesian and code. These ninety pairs make half of all text. */
const COMMON_PAIRS = [
  "acdgilmnrst bae caeho daeio eadlmnrstx ge haeo icdlnost ke laeilo maeop ncdegost odlmnprtu paeoru raeio",
  "saest taehiors unrst ve",
];
const USUAL_PAIRS = [
  "abhkpuy biloy cklt ds ebcefpqvy faioru gai hi iaegmr ka ldsy mbi nailpuy ocfgkosvw pilst qu rcdmnrstuy",
  "shiopu tptuy uelmp vi waehi xt yat",
];
const RARE_PAIRS = [
  "aafvwx bjrsu ccirsu dbdgmruy ehikw feflt gghnorstu hrt ibfhkpv jaes kinsu ltu mmsu nfknv oabei pcp",
  "rgklpv scfklwy tclw uabcdgiko va wnors xcp yeps ze",
];
/** Pairs of signs that are one token, or a part of one, in JSON, code and Markdown. */
const JOINED_SIGNS = String.raw`\" ": ", \\ ,\ {\ ;\ .\ }\ |\ /\ [\ }, ); }) => (( }} ** -- == // /* */ .. ./ :[ ,{ ]} }] [{ {" "} ". "; "< ), ).
  (): )) ]. ], () [] ## !=  && || :: := += ">`;

const COMMON = 4;
/** Fewer words are one token where they are written in capitals. */
const LEAST_OF_CAPITALS = 10;

/** A range of the second byte behind a first one, and the units of that pair: what the character has beyond a token for its last byte. */
type Range = readonly [first: number, from: number, to: number, units: number];

/** Letters that all tokenizers know. All other bytes may be a token each. */
const KNOWN_RANGES: readonly Range[] = [
  // Latin letters with accents, and signs such as a section's.
  [0xc2, 0xa0, 0xbf, 10],
  [0xc3, 0x80, 0xbf, 10],
  // Greek.
  [0xce, 0xb1, 0xbf, 6],
  [0xcf, 0x80, 0x89, 6],
  // Cyrillic, first the capitals.
  [0xd0, 0x90, 0xaf, 6],
  [0xd0, 0xb0, 0xbf, 0],
  [0xd1, 0x80, 0x8f, 0],
  // Hebrew and Arabic.
  [0xd7, 0x90, 0xaa, 11],
  [0xd8, 0xa7, 0xbf, 6],
  [0xd9, 0x80, 0x8a, 6],
  // Devanagari, Thai, dashes and quotation marks, kana.
  [0xe0, 0xa4, 0xa5, 2],
  [0xe0, 0xb8, 0xb9, 2],
  [0xe2, 0x80, 0x80, 2],
  [0xe3, 0x81, 0x83, 2],
  // Words in one character, which some tokenizers spell out: squared words of Japanese, phrases of Arabic.
  [0xe3, 0x8c, 0x8f, 3 * TOKEN],
  [0xef, 0xb7, 0xb7, 255],
];

const SPACE = 0x20;
const BACKSLASH = 0x5c;
const FOUR_SPACES = 0x20202020;
/** Of four spaces in one word of memory: a run of spaces, such as before indented code, is one token. */
const UNITS_OF_FOUR_SPACES = 4;
/** For twelve bytes that come again at once. In `erererer`, `ieaieaiea` or `cIcIcIcI` each pair or each byte is a token. */
const UNITS_OF_A_REPETITION = 12 * TOKEN;

/** The units of two neighbours by `first | second << 8`. */
const UNITS = unitsOfPairs();

/** The data of pictures and sound, in order, which is no text; and the count at which it may end, because more is not held for. */
export type DenseBounds = { readonly without: readonly Span[]; readonly enough: number };

/** The most tokens that a text can have by published tokenizers, or at least `enough`. */
export function denseTokens(
  text: Buffer,
  { without, enough }: DenseBounds = { without: [], enough: Infinity },
): number {
  const most = enough * UNITS_PER_TOKEN;
  let units = 0;
  let from = 0;
  for (const { start, end } of [...without, { start: text.length, end: text.length }]) {
    for (; from < start && units < most; from += BYTES_AT_ONCE) {
      units += unitsOf(text.subarray(from, Math.min(start, from + BYTES_AT_ONCE)));
    }
    from = end;
  }
  return Math.ceil(units / UNITS_PER_TOKEN);
}

const BYTES_AT_ONCE = 65_536;

/** Four bytes are read at once, where they lie in one word of memory: a text of 100 KB takes 40 microseconds. */
function unitsOf(text: Buffer): number {
  const head = Math.min(text.length, (BYTES_PER_WORD - (text.byteOffset % BYTES_PER_WORD)) % BYTES_PER_WORD);
  const words = new Int32Array(text.buffer, text.byteOffset + head, (text.length - head) >> 2);
  let units = unitsByByte(text, 0, head);
  const last = words.length - WORDS_AT_ONCE;
  let at = 0;
  let word = words[0] ?? 0;
  for (; at < last; at += WORDS_AT_ONCE) {
    const second = words[at + 1] ?? 0;
    const third = words[at + 2] ?? 0;
    const next = words[at + WORDS_AT_ONCE] ?? 0;
    if (word === next && word !== FOUR_SPACES) units += UNITS_OF_A_REPETITION;
    else units += unitsOfWord(word, second) + unitsOfWord(second, third) + unitsOfWord(third, next);
    word = next;
  }
  return units + unitsByByte(text, head + at * BYTES_PER_WORD, text.length);
}

const BYTES_PER_WORD = 4;
const WORDS_AT_ONCE = 3;

/** The units of four bytes, the last of them beside the first one behind them. */
function unitsOfWord(word: number, next: number): number {
  if (word === FOUR_SPACES) return UNITS_OF_FOUR_SPACES;
  return (
    (UNITS[word & 0xffff] ?? 0) +
    (UNITS[(word >>> 8) & 0xffff] ?? 0) +
    (UNITS[word >>> 16] ?? 0) +
    (UNITS[(word >>> 24) | ((next & 0xff) << 8)] ?? 0)
  );
}

/** Behind the last byte a space is assumed: a word costs what it costs where it ends. */
function unitsByByte(text: Buffer, from: number, to: number): number {
  let units = 0;
  for (let at = from; at < to; at += 1) units += UNITS[(text[at] ?? 0) | ((text[at + 1] ?? SPACE) << 8)] ?? 0;
  return units;
}

function unitsOfPairs(): Uint8Array {
  const units = new Uint8Array(0x10000);
  for (let first = 0; first < 0x100; first += 1) {
    for (let second = 0; second < 0x100; second += 1) units[first | (second << 8)] = unitsBetween(first, second);
  }
  setPairs(units, JOINED_SIGNS, 2);
  setLetters(units);
  // An escape is six bytes, and its character is up to three tokens.
  units[BACKSLASH | (0x75 << 8)] = 2 * TOKEN;
  // A line break begins here in JSON.
  units[BACKSLASH | (0x6e << 8)] = 8;
  return units;
}

/** The units of a pair that is not a pair of letters. Nearly all of a word, a number or a sign is paid where it ends. */
function unitsBetween(first: number, second: number): number {
  const [from, to] = [kindOf(first), kindOf(second)];
  if (from === "other") return unitsOfOther(first, second);
  if (to === "other") return from === "letter" ? 4 : TOKEN;
  if (from === "space") return to === "letter" ? 1 : to === "sign" ? 8 : TOKEN;
  if (from === "sign" && to === "space") return 10;
  return from === "sign" && first === second ? 8 : TOKEN;
}

type Kind = "letter" | "digit" | "space" | "sign" | "other";

/** Control characters are never in a string of JSON, and between its members they are no text. */
function kindOf(byte: number): Kind {
  if (byte >= 0x80) return "other";
  const small = byte | 0x20;
  if (small >= 0x61 && small <= 0x7a) return "letter";
  if (byte >= 0x30 && byte <= 0x39) return "digit";
  return byte <= SPACE ? "space" : "sign";
}

function setLetters(units: Uint8Array): void {
  const small = new Map<string, number>();
  for (const [pairs, each] of [
    [COMMON_PAIRS, COMMON],
    [USUAL_PAIRS, 11],
    [RARE_PAIRS, 13],
  ] as const) {
    for (const [first = "", ...others] of pairs.flatMap((line) => line.split(" "))) {
      for (const second of others) small.set(first + second, each);
    }
  }
  for (const [pair, each] of small) {
    const [first = "", second = ""] = pair;
    const capital = first.toUpperCase();
    setPair(units, pair, each);
    if (each === COMMON) setPair(units, capital + second, each);
    setPair(units, pair.toUpperCase(), Math.max(each, LEAST_OF_CAPITALS));
  }
}

function setPairs(units: Uint8Array, pairs: string, each: number): void {
  for (const pair of pairs.split(/\s+/)) setPair(units, pair, each);
}

function setPair(units: Uint8Array, pair: string, each: number): void {
  units[pair.charCodeAt(0) | (pair.charCodeAt(1) << 8)] = each;
}

function unitsOfOther(first: number, second: number): number {
  const known = KNOWN_RANGES.find(([lead, from, to]) => lead === first && second >= from && second <= to);
  return known?.[3] ?? TOKEN;
}
