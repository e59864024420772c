// The objects of a list inside of a body, so that one of them can be changed while the others stay as they are.

import { type ObjectScan, scanObject, type Span } from "./json-scan.ts";

/** An object of a list, and where its members lie, counted from its own start. */
export type ScannedObject = Span & Pick<ObjectScan, "members">;

const OPEN_BRACE = 0x7b;

/** The objects of a list, in a body that was parsed before; one object where it stands for a list. */
export function objectsIn(body: Buffer, list: Span): ScannedObject[] {
  const found: ScannedObject[] = [];
  for (let at = body.indexOf(OPEN_BRACE, list.start); at >= 0 && at < list.end; at = body.indexOf(OPEN_BRACE, at)) {
    const { members, end } = scanObject(body.subarray(at, list.end));
    found.push({ start: at, end: at + end, members });
    at += end;
  }
  return found;
}

/** Where a member of an object lies in the body. Undefined: it has none of this name. */
export function memberIn({ start, members }: ScannedObject, name: string): Span | undefined {
  const member = members.get(name);
  return member === undefined ? undefined : { start: start + member.start, end: start + member.end };
}
