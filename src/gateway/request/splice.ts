// Replaces ranges of a body without changing the bytes around them: all other bytes reach the upstream as the client wrote them.

import type { MemberSpan, Span } from "./json-scan.ts";

/** New bytes for a range. An empty range is an insertion. */
export type Edit = Span & { readonly text: string };

/** The bytes with the edits applied; the same buffer where there is nothing to change. The ranges must not overlap. */
export function splice(bytes: Buffer, edits: readonly Edit[]): Buffer {
  if (edits.length === 0) return bytes;
  const ordered = edits.length === 1 ? edits : edits.toSorted((a, b) => a.start - b.start);
  let size = bytes.length;
  for (const edit of ordered) size += Buffer.byteLength(edit.text) - (edit.end - edit.start);
  const result = Buffer.allocUnsafe(size);
  let from = 0;
  let to = 0;
  for (const edit of ordered) {
    to += bytes.copy(result, to, from, edit.start);
    to += result.write(edit.text, to);
    from = edit.end;
  }
  bytes.copy(result, to, from);
  return result;
}

/** Puts members in front of the others of the object that begins at `brace`. `isEmpty`: it has no other member. */
export function insertMembers(brace: number, members: string, isEmpty: boolean): Edit {
  return { start: brace + 1, end: brace + 1, text: isEmpty ? members : `${members},` };
}

/** Takes a member out of an object that has others. The ranges of two neighbours overlap: only one of them may be taken out. */
export function removeMember(members: ReadonlyMap<string, MemberSpan>, member: MemberSpan): Edit {
  if (member.comma >= 0) return { start: member.comma, end: member.end, text: "" };
  // The first member goes with the comma in front of the second.
  let { end } = member;
  for (const { comma } of members.values()) {
    if (comma < 0) continue;
    end = comma + 1;
    break;
  }
  return { start: member.keyStart, end, text: "" };
}

/** Takes members of these names out of an object. The others keep the commas between them. */
export function removeMembers(members: ReadonlyMap<string, MemberSpan>, names: ReadonlySet<string>): Edit[] {
  const all = [...members].map(([name, span]) => ({ ...span, isOut: names.has(name) }));
  const first = all.findIndex(({ isOut }) => !isOut);
  const kept = all[first];
  const [begin] = all;
  const last = all.at(-1);
  if (begin === undefined || last === undefined) return [];
  if (kept === undefined) return [{ start: begin.keyStart, end: last.end, text: "" }];
  const before = first === 0 ? [] : [{ start: begin.keyStart, end: kept.keyStart, text: "" }];
  const behind = all.slice(first).filter(({ isOut }) => isOut);
  return [...before, ...behind.map(({ comma, end }) => ({ start: comma, end, text: "" }))];
}

/**
 * Writes the edits over the bytes where none is longer than the range it replaces, padded with spaces, which JSON ignores.
 * False, and nothing is written: an edit is too long.
 */
export function writeInPlace(bytes: Buffer, edits: readonly Edit[]): boolean {
  if (!edits.every(({ start, end, text }) => Buffer.byteLength(text) <= end - start)) return false;
  for (const { start, end, text } of edits) bytes.fill(" ", start + bytes.write(text, start), end);
  return true;
}
