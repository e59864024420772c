// Our own events in a chat stream: comments that keep it open, its end, and errors.

import { AnswerCut } from "../../../gateway/answer/answer-cut.ts";
import { type DomainError, InsufficientBalance, UpstreamBusy, ValidationError } from "../../../kernel/errors.ts";
import { formatMoney } from "../../../kernel/money.ts";

/** A comment: it is no part of the answer, and clients skip it. */
export const KEEP_ALIVE = Buffer.from(": keep-alive\n\n");

/** The last chunks of a complete answer, and the mark after them. */
export function endEvents(chunks: readonly string[]): Buffer {
  return Buffer.from([...chunks, "[DONE]"].map(eventOf).join(""));
}

/** An error inside a stream. It always has the object form of OpenAI, in contrast to errors by status. */
export function errorEvent(error: DomainError): Buffer {
  const { message } = error;
  // Clients act on a reason, such as a context that is too long.
  const code = (error instanceof ValidationError ? error.reason : null) ?? error.code;
  return Buffer.from(eventOf(JSON.stringify({ error: { message, type: typeOf(error), code, ...factsOf(error) } })));
}

/** `data` holds no line break: neither JSON text of ours nor that of a chunk does. */
function eventOf(data: string): string {
  return `data: ${data}\n\n`;
}

function typeOf(error: DomainError): string {
  if (error instanceof InsufficientBalance) return "insufficient_quota";
  return error instanceof ValidationError ? "invalid_request_error" : "server_error";
}

/** The facts that clients act on. */
function factsOf(error: DomainError): Record<string, unknown> {
  if (error instanceof ValidationError) return { details: error.details };
  if (error instanceof InsufficientBalance) {
    const { available, needed, owed } = error;
    const facts = { available: formatMoney(available), needed: formatMoney(needed) };
    return owed === null ? facts : { ...facts, owed_idr: formatMoney(owed) };
  }
  if (error instanceof AnswerCut) return { cost_idr: error.costIdr };
  return error instanceof UpstreamBusy ? { retry_after: error.retryAfterSeconds } : {};
}
