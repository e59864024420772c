// A key may come in any place of the command line by mistake, and every message repeats what it did not understand. So a key
// is taken out of the output in one place, behind all of them (run.ts).

import { type Machine, variable } from "./machine.ts";

/** The beginning of a gateway's keys; the first four characters behind it may be shown, and distinguish keys. */
const KEY = /gw_[\w-]{5,}/gi;
const HIDDEN = "(a key)";
/** A shorter text is no key, and hiding it would make holes in words. */
const SHORTEST = 4;

/** The text without anything that looks like a key. */
export function withoutKeys(text: string): string {
  return text.replaceAll(KEY, HIDDEN);
}

/** Removes what looks like a key, and the given keys, whether they look like one or not. */
export function keyHider(words: readonly string[], machine: Machine): (text: string) => string {
  const given = words.flatMap((word, index) => {
    const before = words[index - 1];
    if (before !== undefined && /^(?:-\w*k|--key)$/.test(before)) return [word];
    return [/^(?:--key=|-k)(.+)$/s.exec(word)?.[1] ?? ""];
  });
  const keys = [...given, variable(machine, "SALDO_API_KEY") ?? ""]
    .filter(({ length }) => length >= SHORTEST)
    .toSorted((one, other) => other.length - one.length);
  // Hosts come out in small letters.
  const exact = keys.map((key) => new RegExp(key.replaceAll(/[^\w]/gu, String.raw`\$&`), "gi"));
  return (text) => withoutKeys(exact.reduce((left, key) => left.replaceAll(key, HIDDEN), text));
}
