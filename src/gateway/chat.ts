import type { ErrorCode } from "../kernel/errors.ts";
import type { RateState } from "../kernel/rate.ts";
import type { VerifiedKey } from "../keys/verified-key.ts";

/** One chat request as it came in. */
export type ChatCall = {
  /** A UUIDv7: `x-request-id`, the hold's and the usage record's id. */
  readonly requestId: string;
  readonly receivedAtMs: number;
  readonly key: VerifiedKey;
  /** The JSON body as the client sent it, at most 32 MiB. The gateway may write over it. */
  readonly body: Buffer;
  /** The client's name for the request, from its header `Idempotency-Key`. Null or absent: it sent none. */
  readonly idempotencyKey?: string | null;
};

/** What is known of an answer when its first byte is about to be sent. */
export type ChatAnswerHead = {
  readonly streamed: boolean;
  /** Null: the answer is the kept one of an earlier request, which took the slot. */
  readonly rate: RateState | null;
  /** What the answer cost, a decimal string in rupiah. Null for a stream, which says it in its last usage object. */
  readonly costIdr: string | null;
  /** Whether the demo upstream answered. */
  readonly demo: boolean;
  /** The earlier request whose kept answer this is. Absent: it is the answer of this request. */
  readonly replayOf?: string;
};

/** Where an answer goes: an HTTP response, or an RPC stream. Once `start` was called the gateway reports no error by throwing. */
export interface ChatSink {
  start(head: ChatAnswerHead): void;
  /** Bytes of the answer, JSON or server-sent events. False: the client is slow; wait for `drained`. */
  write(bytes: Buffer): boolean;
  /** Calls back once more bytes are welcome. */
  onDrained(callback: () => void): void;
  /** Calls back when the client has left, at once if it already has. */
  onGone(callback: () => void): void;
  /** Whether the caller can be given this whole answer. It is asked before anything is charged. Absent: every answer. */
  accepts?(answer: Buffer): boolean;
  end(): void;
}

/**
 * How a request ended that no error was thrown for: with its whole answer, without its client, or with the error of this code
 * inside the stream. `insufficient_balance`: the stream was ended for want of balance, as a cap ends it.
 */
export type ChatOutcome = "answered" | "client_left" | ErrorCode;

export interface Gateway {
  /**
   * Answers one chat request and bills it before the answer is complete. What goes wrong after `sink.start` is told inside
   * the stream. Errors, before it: ValidationError, InvalidApiKey, ModelNotFound, InsufficientBalance, RateLimited,
   * TooManyAtOnce, AccountFrozen, UpstreamBusy, AlreadyRunning, AlreadyAnswered, IdempotencyConflict, InternalError.
   */
  answerChat(call: ChatCall, sink: ChatSink): Promise<ChatOutcome>;
}
