// The part of an upstream's message that a customer may read. An upstream echoes the customer's text, which may be long and
// hostile: it is cut before it is matched, and every expression here reads each character a bounded number of times.

import { isIPv4, isIPv6 } from "node:net";

/** No more of a message is read. */
const MAX_READ_CHARACTERS = 2_000;
const MAX_SHOWN_CHARACTERS = 300;

const ADDRESS = "[address]";
const SECRET = "[secret]";
const PATH = "[path]";

/** The message without addresses, hosts, keys, paths or control characters, and not long. Null: nothing is left. */
export function scrub(message: string): string | null {
  const words = wordsOf(message);
  const shown = words.map((word, index) => (followsScheme(words, index) ? SECRET : shownWord(word)));
  const text = withoutFullStop(shown.join(" "));
  if (text === "") return null;
  return text.length <= MAX_SHOWN_CHARACTERS ? text : `${text.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed()}…`;
}

/** The words of the part that is read. A word that the cut has parted is left out: half a key does not look like one. */
function wordsOf(message: string): string[] {
  const isCut = message.length > MAX_READ_CHARACTERS;
  // eslint-disable-next-line no-control-regex -- these are what is removed
  const words = message.slice(0, MAX_READ_CHARACTERS).split(/[\s\u0000-\u001f\u007f]+/);
  if (isCut && words.length > 1) words.pop();
  return words.filter((word) => word !== "");
}

/** Whether the word is the credential behind the name of an authentication scheme. `Basic` is also an ordinary word. */
function followsScheme(words: readonly string[], index: number): boolean {
  const before = words[index - 1] ?? "";
  return /bearer["':]?$/i.test(before) || (/Basic["':]?$/.test(before) && /[\d=+/]/.test(words[index] ?? ""));
}

function shownWord(word: string): string {
  const scheme = word.indexOf("://");
  if (scheme >= 0) return `${withoutScheme(word.slice(0, scheme))}${ADDRESS}${closingMarks(word)}`;
  // Quotes, brackets and separators stay, so that the sentence can still be read.
  return word.replace(/[^"'`()<>{},;|=]+/g, shownPart);
}

/** The characters before an address that are not its scheme, such as an opening quote. */
function withoutScheme(text: string): string {
  let end = text.length;
  while (end > 0 && /[\w+.-]/.test(text[end - 1] ?? "")) end -= 1;
  return end === 0 ? "" : shownWord(text.slice(0, end));
}

function closingMarks(word: string): string {
  let start = word.length;
  while (start > 0 && `"'\`)>]},;.:`.includes(word[start - 1] ?? "")) start -= 1;
  return word.slice(start);
}

/** A part without quotes and separators: a path, or names that may be hosts or keys. */
function shownPart(part: string): string {
  if (/^(?:~?\/|[A-Za-z]:\\|\\\\)[^\s/\\]/.test(part)) return PATH;
  const shown = part
    .replace(/\[?[\da-fA-F:.]{2,}(?:%\w*)?\]?(?::\d{1,5})?/g, (run) => (holdsIPv6(run) ? ADDRESS : run))
    .replace(/[\p{L}\p{M}\p{N}_.*@-]+(?::\d{1,5}(?![\p{L}\p{N}_]))?/gu, shownName);
  const path = shown.search(/\[address\][/?#]/);
  return path < 0 ? shown : shown.slice(0, path + ADDRESS.length);
}

function holdsIPv6(run: string): boolean {
  const bare = /^\[?([\da-fA-F:.]+)/.exec(run)?.[1] ?? "";
  return isIPv6(bare) || isIPv6(bare.endsWith(".") || bare.endsWith(":") ? bare.slice(0, -1) : bare);
}

/** A run of the characters of names, perhaps with a port behind it. */
function shownName(run: string): string {
  if (run === "address") return run;
  const colon = run.indexOf(":");
  const name = withoutFullStop(colon < 0 ? run : run.slice(0, colon));
  const rest = run.slice(name.length);
  if (LONG_RUN.test(name) || KEY.test(name)) return `${SECRET}${colon < 0 ? rest : ""}`;
  if (colon < 0) return isAddress(name) ? `${ADDRESS}${rest}` : run;
  return hasPort(name, rest) ? ADDRESS : run;
}

/** No ordinary word is so long; keys, tokens and digests are. */
const LONG_RUN = /[\w-]{24}/;
const KEY = /(?:^|[.@-])(?:(?:sk|pk|gsk|xai|key|org|proj|gw|mk)[-_][\w*-]{4}|AIza|eyJ[\w-]{8})/;

/** A host of any name with a port. Times and ratios have small numbers before and behind the colon. */
function hasPort(name: string, rest: string): boolean {
  if (name === "" || name.startsWith(".")) return false;
  return !/^\d+$/.test(name) || rest.length > ":59".length;
}

/** Names with dots of a request or a sentence, which hosts are not. */
const FIELD_ROOTS: ReadonlySet<string> = new Set(
  (
    "messages message content role name tools tool function functions parameters properties input output body request " +
    "response response_format json_schema schema stream_options model prompt params query payload data type user metadata " +
    "reasoning audio image_url input_audio video_url choices usage error"
  ).split(" "),
);
const KNOWN_ENDINGS: ReadonlySet<string> = new Set(
  "com org net io ai dev cloud local internal intranet corp lan home test localhost svc cluster".split(" "),
);

/** Whether a name without a port is an address: an IP address, an e-mail address, or a host with any ending. */
function isAddress(name: string): boolean {
  if (isIPv4(name) || name.toLowerCase() === "localhost") return true;
  const at = name.indexOf("@");
  if (at > 0 && at < name.length - 1) return true;
  const labels = name.split(".");
  if (labels.length < 2 || labels.some((label) => label === "")) return false;
  const ending = labels.at(-1) ?? "";
  if (KNOWN_ENDINGS.has(ending.toLowerCase())) return true;
  if (FIELD_ROOTS.has(labels[0] ?? "") || name.includes("_")) return false;
  // A capital behind the dot begins a sentence; digits behind it are a version, such as that of a model.
  return /^(?:xn--[\w-]+|\p{Ll}{2,63}|\p{Lu}{2,63})$/u.test(ending);
}

function withoutFullStop(text: string): string {
  return text.endsWith(".") ? text.slice(0, -1) : text;
}
