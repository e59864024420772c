// The events that the gateway writes itself: the end of an answer, the billed usage, and errors.

import { type DomainError, InsufficientBalance, UpstreamBusy, ValidationError } from "../../kernel/errors.ts";
import { formatMoney, idr } from "../../kernel/money.ts";
import type { BilledUsage } from "../metering/bill.ts";
import { billedChunk, usageJson } from "../answer/billed-answer.ts";
import type { JsonObject } from "../request/field-rules.ts";
import type { ShownNames } from "./frames.ts";
import { eventOf } from "./sse.ts";

/** The last event of every answer that is complete. */
export const DONE = eventOf("[DONE]");

/** The answer broke off after a part of it had reached the client. The message says what was billed for that part. */
export class AnswerCut extends UpstreamBusy {
  readonly costIdr: string;
  constructor({ message, costIdr }: { readonly message: string; readonly costIdr: string }) {
    super();
    this.message = message;
    this.costIdr = costIdr;
  }
}

/** `by`: the side at which it broke off. */
export function answerCut({ by, charge }: { readonly by: "upstream" | "service"; readonly charge: bigint }): AnswerCut {
  const costIdr = formatMoney(idr(charge));
  const what = by === "upstream" ? "cut off by the upstream" : "cut off, because the service is busy";
  const billed = charge === 0n ? "Nothing was billed." : `Rp ${costIdr} were billed for what was delivered.`;
  return new AnswerCut({ message: `The answer was ${what}. ${billed}`, costIdr });
}

/** The chunks that end an answer as a cap on its output does, one for each choice that was not finished. */
export function lengthEvents(names: ShownNames, lastChunk: JsonObject, unfinished: readonly number[]): Buffer {
  return Buffer.concat(
    unfinished.map((index) =>
      ownChunk(names, lastChunk, [{ index, delta: {}, logprobs: null, finish_reason: "length" }], "null"),
    ),
  );
}

/** The chunk with the billed usage: the upstream's own, where it sent one. */
export function usageEvent(
  names: ShownNames,
  { lastChunk, usageChunk }: { readonly lastChunk: JsonObject; readonly usageChunk: string | null },
  billed: BilledUsage,
): Buffer {
  if (usageChunk !== null) return eventOf(billedChunk(usageChunk, billed));
  return ownChunk(names, lastChunk, [], usageJson(billed));
}

function ownChunk(
  { id, model }: ShownNames,
  { created }: JsonObject,
  choices: readonly unknown[],
  usage: string,
): Buffer {
  const chunk = {
    id,
    object: "chat.completion.chunk",
    created: typeof created === "number" ? created : 0,
    model,
    choices,
  };
  return eventOf(`${JSON.stringify(chunk).slice(0, -1)},"usage":${usage}}`);
}

/** An error inside a stream. It always has the object form of OpenAI, whichever form the path has for errors by status. */
export function errorEvent(error: DomainError): Buffer {
  const { message } = error;
  // A reason, such as a context that is too long, is what clients act on.
  const code = (error instanceof ValidationError ? error.reason : null) ?? error.code;
  return eventOf(JSON.stringify({ error: { message, type: typeOf(error), code, ...factsOf(error) } }));
}

function typeOf(error: DomainError): string {
  if (error instanceof InsufficientBalance) return "insufficient_quota";
  return error instanceof ValidationError ? "invalid_request_error" : "server_error";
}

/** What clients act on, and RPC callers get typed. */
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
