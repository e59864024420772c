// A chunk as clients see it: with our id and the catalog's model, and without the upstream's usage. They get the billed usage
// once, at the end. All other bytes stay unchanged.

import { isObject, type JsonObject } from "../../request/field-rules.ts";
import type { ObjectScan } from "../../request/json-scan.ts";
import { type Edit, insertMembers, splice } from "../../request/splice.ts";
import { DATA_FIELD, eventOf, isOneLineOfData } from "../../stream/sse.ts";
import { scanOf } from "../scan-of.ts";
import type { ShownNames } from "../shown-format.ts";
import { beginOf, onOneLine, unlessTooDeep } from "../shown-text.ts";

/** The members of a chunk that usage is in. */
const USAGE_PLACES = ["usage", "x_groq"] as const;

/** The data of a usage chunk on one line, with our names; null where it is nested too deep to be written again. */
export function usageChunkOf(data: string, names: ShownNames): string | null {
  const json = Buffer.from(data);
  const scan = scanOf(json);
  return scan === null ? null : onOneLine(splice(json, nameEdits(json, scan, names)).toString("utf8"));
}

/** A chunk as it is sent, and the place of its JSON text in the upstream's event. */
export type ShownChunk = {
  readonly event: Buffer;
  /** The upstream's JSON text of the chunk and its place in the event; null where it is on several lines. */
  readonly source: { readonly json: Buffer; readonly at: number } | null;
};

/** Null: the chunk is nested too deep. */
export function shownChunk(
  { event, data, chunk }: { readonly event: Buffer; readonly data: string; readonly chunk: JsonObject },
  names: ShownNames,
): ShownChunk | null {
  const json = isOneLineOfData(event) ? event.subarray(DATA_FIELD.length, -2) : Buffer.from(data);
  const scan = scanOf(json);
  if (scan === null) return serialized(chunk, names);
  const edits = nameEdits(json, scan, names);
  for (const place of USAGE_PLACES) {
    const span = scan.members.get(place);
    if (span !== undefined && isObject(chunk[place])) edits.push({ ...span, text: "null" });
  }
  const at = event.indexOf(json);
  if (at < 0) return { event: eventOf(onOneLine(splice(json, edits).toString("utf8"))), source: null };
  const moved = edits.map(({ start, end, text }) => ({ start: at + start, end: at + end, text }));
  return { event: splice(event, moved), source: { json, at } };
}

/** A chunk that is nested too deep to be scanned, serialized again. Null: it is too deep for that too. */
function serialized({ usage: _usage, x_groq: _groq, ...chunk }: JsonObject, names: ShownNames): ShownChunk | null {
  return unlessTooDeep(() => ({ event: eventOf(JSON.stringify({ ...chunk, ...names, usage: null })), source: null }));
}

/** The texts of a chunk that can be cut anywhere. */
const CUTTABLE = ["content", "reasoning_content", "reasoning", "refusal"] as const;

/** A chunk with the first part of its text: the last event of an answer that ends inside it. Null: none of it is sent. */
export function shareOfChunk(chunk: JsonObject, share: number, names: ShownNames): Buffer | null {
  const [choice, ...others] = Array.isArray(chunk["choices"]) ? chunk["choices"].filter(isObject) : [];
  const delta = choice?.["delta"];
  if (choice === undefined || others.length > 0 || !isObject(delta)) return null;
  const texts = CUTTABLE.flatMap((name) => {
    const text = delta[name];
    const part = typeof text === "string" ? beginOf(text, Math.floor(text.length * share)) : "";
    return part === "" ? [] : [[name, part] as const];
  });
  if (texts.length === 0) return null;
  const { id: _id, model: _model, usage: _usage, x_groq: _groq, ...rest } = chunk;
  const shown = { index: choice["index"] ?? 0, delta: Object.fromEntries(texts), finish_reason: null };
  return eventOf(JSON.stringify({ ...names, ...rest, choices: [shown] }));
}

function nameEdits(json: Buffer, { members }: ObjectScan, names: ShownNames): Edit[] {
  const edits: Edit[] = [];
  const added: string[] = [];
  for (const name of ["id", "model"] as const) {
    const span = members.get(name);
    const text = JSON.stringify(names[name]);
    if (span === undefined) added.push(`"${name}":${text}`);
    else edits.push({ ...span, text });
  }
  if (added.length > 0) edits.push(insertMembers(json.indexOf("{"), added.join(","), members.size === 0));
  return edits;
}
