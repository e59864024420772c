// One line for each call. It names who called what and how it ended; never prompts, secrets or query strings.

import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { Logger } from "pino";
import { DomainError, InternalError } from "../kernel/errors.ts";
import { principalOf, receivedAtMsOf, requestIdOf } from "./call.ts";

/** The part of a pino logger that is used here. */
export type CallLogger = Pick<Logger, "info" | "warn" | "error">;

/** Writes the line of a call that has ended. */
export function logCall(
  logger: CallLogger,
  entry: { method: string; call: Pick<HandlerContext, "values">; error?: unknown },
): void {
  const principal = principalOf(entry.call);
  logger.info(
    {
      requestId: requestIdOf(entry.call),
      method: entry.method,
      caller: principal.kind,
      ...("accountId" in principal ? { accountId: principal.accountId } : {}),
      ...("keyId" in principal ? { keyId: principal.keyId } : {}),
      ...("merchantId" in principal ? { merchantId: principal.merchantId } : {}),
      code: codeOf(entry.error),
      durationMs: Date.now() - receivedAtMsOf(entry.call),
    },
    "call",
  );
}

/** Writes the cause of a fault of ours, which its caller never sees. Says nothing of normal outcomes. */
export function logFault(logger: CallLogger, requestId: string, thrown: unknown): void {
  const isFault = thrown instanceof InternalError || !(thrown instanceof DomainError || thrown instanceof ConnectError);
  if (!isFault) return;
  logger.error({ requestId, err: thrown instanceof InternalError ? (thrown.cause ?? thrown) : thrown }, "fault");
}

function codeOf(error: unknown): string {
  if (error === undefined) return "ok";
  if (error instanceof DomainError) return error.code;
  if (error instanceof ConnectError) {
    return error.cause instanceof DomainError ? error.cause.code : (Code[error.code] ?? "unknown").toLowerCase();
  }
  return "internal_error";
}
