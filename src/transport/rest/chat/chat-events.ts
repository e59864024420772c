// Our own events in a chat stream: comments that keep it open, its end, and errors.

import { chatStreamError } from "../../../gateway/conversation/chat/stream-error.ts";
import type { DomainError } from "../../../kernel/errors.ts";

/** A comment: it is no part of the answer, and clients skip it. */
export const KEEP_ALIVE = Buffer.from(": keep-alive\n\n");

/** The mark behind the last chunk of a complete answer. */
export const END_MARK = Buffer.from(eventOf("[DONE]"));

/** An error inside a stream. */
export function errorEvent(error: DomainError): Buffer {
  return Buffer.from(eventOf(JSON.stringify(chatStreamError(error))));
}

/** `data` holds no line break: neither JSON text of ours nor that of a chunk does. */
function eventOf(data: string): string {
  return `data: ${data}\n\n`;
}
