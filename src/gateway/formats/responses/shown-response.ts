// A response, or an event of one, as its client sees it: our names in place of the upstream's, and for a client of the same protocol the
// opaque texts of its items under the name of the upstream that made them. All other bytes stay.

import { opaqueText } from "../../conversation/opaque-text.ts";
import { parseForeignJson } from "../../../kernel/foreign-json.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import type { Span } from "../../request/json-scan.ts";
import { memberIn, objectsIn, type ScannedObject } from "../../request/object-list.ts";
import { countMembers } from "../../request/repeated-names.ts";
import { type Edit, insertMembers, splice } from "../../request/splice.ts";
import { scanOf } from "../scan-of.ts";
import type { ShownAs } from "../shown-format.ts";
import { unlessTooDeep } from "../shown-text.ts";
import { replacedMembers, replacedWithin } from "./hidden-members.ts";

const SEALED = "encrypted_content";

/** A response as its client sees it, but for the usage. */
export function shownResponse(response: JsonObject, as: ShownAs): JsonObject {
  const textOf = (name: string): string => JSON.stringify(response[name]);
  const { output } = response;
  const items = Array.isArray(output) ? { output: output.map((item: unknown) => shownItem(item, as)) } : {};
  return { ...response, ...items, ...Object.fromEntries(replacedMembers(Object.keys(response), textOf, as)) };
}

/** An event as its client sees it. */
export function shownEvent(event: JsonObject, as: ShownAs): JsonObject {
  const { response, item } = event;
  return {
    ...event,
    ...Object.fromEntries(replacedWithin(event, as) ?? []),
    ...(isObject(response) ? { response: shownResponse(response, as) } : {}),
    ...(item === undefined ? {} : { item: shownItem(item, as) }),
  };
}

/** The JSON of an event as its client sees it. Null: it is nested too deep. */
export function shownJson(json: string, event: JsonObject, as: ShownAs): string | null {
  const { response, item } = event;
  const replaced = replacedWithin(event, as);
  const ofItem = valuesOf(item, as);
  if (!isObject(response) && replaced === null && ofItem === null) return json;
  const bytes = Buffer.from(json);
  const scanned = scannedAs(bytes, event);
  if (scanned === null) return unlessTooDeep(() => JSON.stringify(shownEvent(event, as)));
  const edits = memberEdits(bytes, scanned, replaced ?? new Map());
  const [responseSpan, itemSpan] = [memberIn(scanned, "response"), memberIn(scanned, "item")];
  if (isObject(response) && responseSpan !== undefined)
    edits.push(...responseEdits(bytes, objectAt(bytes, responseSpan), as));
  if (ofItem !== null && itemSpan !== undefined) edits.push(...memberEdits(bytes, objectAt(bytes, itemSpan), ofItem));
  return splice(bytes, edits).toString("utf8");
}

/** The edits of a response that lies in a JSON text. `more`: other members that it gets. */
export function responseEdits(
  json: Buffer,
  response: ScannedObject,
  as: ShownAs,
  more: Readonly<Record<string, unknown>> = {},
): Edit[] {
  const textOf = (name: string): string => {
    const member = memberIn(response, name);
    return member === undefined ? "" : json.toString("utf8", member.start, member.end);
  };
  const replaced = replacedMembers(response.members.keys(), textOf, as);
  const output = memberIn(response, "output");
  return [
    ...memberEdits(json, response, new Map([...replaced, ...Object.entries(more)])),
    ...(output === undefined ? [] : listEdits(json, output, as)),
  ];
}

/** The JSON of an event with another usage in its response. */
export function withUsage(json: string, event: JsonObject, usage: JsonObject): string {
  const bytes = Buffer.from(json);
  const scanned = scannedAs(bytes, event);
  const span = scanned === null ? undefined : memberIn(scanned, "response");
  if (span === undefined) return JSON.stringify({ ...event, response: { ...Object(event["response"]), usage } });
  return splice(bytes, memberEdits(bytes, objectAt(bytes, span), new Map([["usage", usage]]))).toString("utf8");
}

/** Where the members of an object lie, if its text has no more of them than were parsed: of repeated ones a client might read the first. */
function scannedAs(json: Buffer, object: JsonObject): ScannedObject | null {
  const scan = scanOf(json);
  if (scan === null || scan.memberCount !== countMembers(object)) return null;
  return { start: 0, end: scan.end, members: scan.members };
}

/** An object inside of a text that was scanned before. */
function objectAt(json: Buffer, { start, end }: Span): ScannedObject {
  const scan = scanOf(json.subarray(start, end));
  return { start, end, members: scan?.members ?? new Map() };
}

/** Members in place of those of the same name, or in front of all others. */
function memberEdits(json: Buffer, object: ScannedObject, values: ReadonlyMap<string, unknown>): Edit[] {
  const edits: Edit[] = [];
  const added: string[] = [];
  for (const [name, value] of values) {
    const span = memberIn(object, name);
    if (span === undefined) added.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
    else edits.push({ ...span, text: JSON.stringify(value) });
  }
  const brace = json.indexOf("{", object.start);
  if (added.length > 0) edits.push(insertMembers(brace, added.join(","), object.members.size === 0));
  return edits;
}

/** The edits of the items of an output. A list that has anything else than items stays as it is. */
function listEdits(json: Buffer, list: Span, as: ShownAs): Edit[] {
  if (as.native === undefined) return [];
  const items = parseForeignJson(json.toString("utf8", list.start, list.end));
  if (!Array.isArray(items) || !items.every(isObject)) return [];
  const values = items.map((item) => valuesOf(item, as));
  if (values.every((each) => each === null)) return [];
  return objectsIn(json, list).flatMap((span, at) => memberEdits(json, span, values[at] ?? new Map()));
}

function shownItem(item: unknown, as: ShownAs): unknown {
  const values = valuesOf(item, as);
  return values === null ? item : { ...Object(item), ...Object.fromEntries(values) };
}

/** The members of an item that differ for its client: its opaque text, which the client sends back. Null: none, or it is read by us first. */
function valuesOf(item: unknown, as: ShownAs): ReadonlyMap<string, unknown> | null {
  if (as.native === undefined || !isObject(item)) return null;
  const replaced = replacedWithin(item, as);
  const blob = item[SEALED];
  if (typeof blob !== "string" || blob === "") return replaced;
  return new Map([...(replaced ?? []), [SEALED, opaqueText({ origin: as.native.origin, blob })]]);
}
