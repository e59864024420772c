// One line for each call: the caller, the method and the outcome; never prompts, secrets or query strings.

import { Code, ConnectError } from "@connectrpc/connect";
import type { Principal } from "../../identity/principal.ts";
import { InternalError } from "../../kernel/errors.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";
import { toDomainError } from "./errors.ts";

/** The part of the log that calls write to. */
export type CallLogger = Pick<EventLogger, "info" | "warn" | "error">;

/** A call that has ended. */
export type EndedCall = {
  /** `package.Service/Method`. */
  readonly method: string;
  readonly requestId: string;
  readonly receivedAtMs: number;
  readonly principal: Principal;
  /** The error; undefined: it succeeded. */
  readonly error?: unknown;
};

/** Writes the line of a call that has ended. */
export function logCall(logger: CallLogger, { method, requestId, receivedAtMs, principal, error }: EndedCall): void {
  const code = codeOf(error);
  const durationMs = Date.now() - receivedAtMs;
  // Undefined members are left out. The object has one shape for speed: the line is written for every request.
  const line = {
    event: "call.ended" as const,
    requestId,
    method,
    caller: principal.kind,
    accountId: "accountId" in principal ? principal.accountId : undefined,
    merchantId: "merchantId" in principal ? principal.merchantId : undefined,
    keyId: "keyId" in principal ? principal.keyId : undefined,
    tokenId: "tokenId" in principal ? principal.tokenId : undefined,
    personId: "sessionId" in principal ? principal.personId : undefined,
    code,
    durationMs,
  };
  logger.info(line, "call");
}

/** Logs the cause of an internal error, which its caller does not see. Normal outcomes are not logged here. */
export function logFault(logger: CallLogger, requestId: string, thrown: unknown): void {
  const error = toDomainError(thrown);
  if (error instanceof InternalError)
    logger.error({ event: "call.fault", requestId, err: error.cause ?? error }, "fault");
}

// Connect's error when the caller, or its connection, has ended the call.
const ENDED_BY_CALLER: ReadonlyMap<Code, string> = new Map([
  [Code.Canceled, "canceled"],
  [Code.DeadlineExceeded, "deadline_exceeded"],
]);

function codeOf(error: unknown): string {
  if (error === undefined) return "ok";
  const ended = error instanceof ConnectError ? ENDED_BY_CALLER.get(error.code) : undefined;
  return ended ?? toDomainError(error).recordedCode;
}
