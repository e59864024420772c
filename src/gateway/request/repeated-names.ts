// Names that are in one object twice, at any depth. JSON.parse keeps the last of them without an error, so the parsed value has
// fewer members than the text has colons.

import { isObject } from "./field-rules.ts";

/** How many members the objects within a parsed value have. */
export function countMembers(value: unknown): number {
  let members = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") members += countMembers(item);
  } else if (isObject(value)) {
    // Several times as fast as making a list of them, and each body is counted.
    for (const name in value) {
      members += 1;
      const member = value[name];
      if (typeof member === "object") members += countMembers(member);
    }
  }
  return members;
}

// The closing quote is there in a sound text. Optional, it keeps the expression linear for any other.
const STRING_OR_BRACE = /("[^"\\]*(?:\\.[^"\\]*)*"?)(\s*:)?|[{}]/gs;

/** The first name that is in one object of a sound JSON text twice. Null: there is none. */
export function repeatedName(json: string): string | null {
  const open: Set<string>[] = [];
  for (const [text, string, colon] of json.matchAll(STRING_OR_BRACE)) {
    if (text === "{") open.push(new Set());
    else if (text === "}") open.pop();
    else if (string !== undefined && colon !== undefined) {
      const name = String(JSON.parse(string));
      const names = open.at(-1);
      if (names?.has(name) === true) return name;
      names?.add(name);
    }
  }
  return null;
}
