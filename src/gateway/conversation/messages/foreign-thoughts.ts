// Thoughts that a request has from an upstream of another protocol: their signature names it, which no signature of Anthropic's does.
// One that it cannot read would be refused, so such a thought is taken out of the client's bytes. All other bytes stay.

import { isObject } from "../../request/field-rules.ts";
import { type ObjectScan, scanObject, type Span } from "../../request/json-scan.ts";
import type { Edit } from "../../request/splice.ts";
import { readOpaqueText } from "../opaque-text.ts";

/** Whether any thought of the messages is from another protocol. */
export function hasForeignThoughts(messages: unknown): boolean {
  if (!Array.isArray(messages)) return false;
  return messages.some(
    (message) =>
      isObject(message) &&
      Array.isArray(message["content"]) &&
      message["content"].some((block) => isObject(block) && isTagged(block["type"], block["signature"])),
  );
}

/** The messages without them, and without those that hold nothing else. `messages`: where the list lies. */
export function withoutForeignThoughts(body: Buffer, messages: Span): Edit {
  const kept = objectsIn(body, messages).flatMap((message) => withoutForeign(body, message) ?? []);
  return { start: messages.start, end: messages.end, text: `[${kept.join(",")}]` };
}

/** An object of a list, and where its members lie, counted from its own start. */
type ScannedObject = Span & Pick<ObjectScan, "members">;

/** The message as a text. Null: nothing of it is left. */
function withoutForeign(body: Buffer, message: ScannedObject): string | null {
  const whole = textAt(body, message);
  const content = message.members.get("content");
  if (content === undefined) return whole;
  const list = { start: message.start + content.start, end: message.start + content.end };
  if (body[list.start] !== OPEN_BRACKET) return whole;
  const blocks = objectsIn(body, list);
  const own = blocks.filter((block) => !isForeign(body, block));
  if (own.length === blocks.length) return whole;
  if (own.length === 0) return null;
  const before = body.toString("utf8", message.start, list.start);
  const behind = body.toString("utf8", list.end, message.end);
  return `${before}[${own.map((block) => textAt(body, block)).join(",")}]${behind}`;
}

function isForeign(body: Buffer, block: ScannedObject): boolean {
  const [type, signature] = ["type", "signature"].map((name): unknown => {
    const member = block.members.get(name);
    if (member === undefined) return null;
    return JSON.parse(body.toString("utf8", block.start + member.start, block.start + member.end));
  });
  return isTagged(type, signature);
}

function isTagged(type: unknown, signature: unknown): boolean {
  return type === "thinking" && typeof signature === "string" && readOpaqueText(signature) !== null;
}

const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;

/** The objects of a list, in a body that was parsed before. */
function objectsIn(body: Buffer, list: Span): ScannedObject[] {
  const found: ScannedObject[] = [];
  for (let at = body.indexOf(OPEN_BRACE, list.start); at >= 0 && at < list.end; at = body.indexOf(OPEN_BRACE, at)) {
    const { members, end } = scanObject(body.subarray(at, list.end));
    found.push({ start: at, end: at + end, members });
    at += end;
  }
  return found;
}

function textAt(body: Buffer, { start, end }: Span): string {
  return body.toString("utf8", start, end);
}
