// Thoughts that a request has from an upstream of another protocol: their signature names it, which no signature of Anthropic's does.
// One that it cannot read would be refused, so such a thought is taken out of the client's bytes. All other bytes stay.

import { isObject } from "../../request/field-rules.ts";
import type { Span } from "../../request/json-scan.ts";
import { memberIn, objectsIn, type ScannedObject } from "../../request/object-list.ts";
import type { Edit } from "../../request/splice.ts";
import { readOpaqueText } from "../opaque-text.ts";

/** Whether any thought of the messages is from another protocol. */
export function hasForeignThoughts(messages: unknown): boolean {
  return signaturesIn(messages).some((signature) => readOpaqueText(signature) !== null);
}

/** Whether any thought of the messages is Anthropic's own. */
export function hasOwnThoughts(messages: unknown): boolean {
  return signaturesIn(messages).some((signature) => signature !== "" && readOpaqueText(signature) === null);
}

function signaturesIn(messages: unknown): string[] {
  const contents = Array.isArray(messages) ? messages.filter(isObject).map(({ content }) => content) : [];
  const blocks = contents.flatMap((content) => (Array.isArray(content) ? content.filter(isObject) : []));
  return blocks.flatMap(({ type, signature }) =>
    type === THOUGHT && typeof signature === "string" ? [signature] : [],
  );
}

const THOUGHT = "thinking";

/** The messages without them, and without those that hold nothing else. `messages`: where the list lies. */
export function withoutForeignThoughts(body: Buffer, messages: Span): Edit {
  const kept = objectsIn(body, messages).flatMap((message) => withoutForeign(body, message) ?? []);
  return { start: messages.start, end: messages.end, text: `[${kept.join(",")}]` };
}

/** The message as a text. Null: nothing of it is left. */
function withoutForeign(body: Buffer, message: ScannedObject): string | null {
  const whole = textAt(body, message);
  const list = memberIn(message, "content");
  if (list === undefined || body[list.start] !== OPEN_BRACKET) return whole;
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
    const member = memberIn(block, name);
    return member === undefined ? null : JSON.parse(textAt(body, member));
  });
  return type === THOUGHT && typeof signature === "string" && readOpaqueText(signature) !== null;
}

const OPEN_BRACKET = 0x5b;
function textAt(body: Buffer, { start, end }: Span): string {
  return body.toString("utf8", start, end);
}
