import type { DomainError, ErrorCode } from "../kernel/errors.ts";
import type { RateState } from "../kernel/rate.ts";
import type { VerifiedKey } from "../keys/verified-key.ts";

/** What a request asks for: an answer of a conversation, or the vectors of texts. */
export type Endpoint = "chat" | "embeddings";

/** One request as it was received. */
export type ChatCall = {
  /** A UUIDv7: `x-request-id`, the hold's and the usage record's id. */
  readonly requestId: string;
  readonly receivedAtMs: number;
  readonly key: VerifiedKey;
  /** Absent: chat. The sink of any other endpoint gets `answer` alone. */
  readonly endpoint?: Endpoint;
  /** The JSON body as the client sent it, bounded by its endpoint. The gateway may write over it. */
  readonly body: Buffer;
  /** The client's name for the request, from its header `Idempotency-Key`. Null or absent: it sent none. */
  readonly idempotencyKey?: string | null;
};

/** The facts of an answer before its first byte is sent. */
export type ChatAnswerHead = {
  /** Null: the answer is the kept one of an earlier request, which took the slot. */
  readonly rate: RateState | null;
  /** Whether the demo upstream answered. */
  readonly demo: boolean;
  /** The earlier request whose kept answer this is. Absent: it is the answer of this request. */
  readonly replayOf?: string;
};

/** An answer that is not streamed, with our names and the billed usage. */
export type WholeAnswer = {
  /** One JSON text. */
  readonly json: Buffer;
  /** What it cost, a decimal string in rupiah. */
  readonly costIdr: string;
};

/**
 * How the chunks of a stream are written. A transport whose protocol has the same format writes the bytes as they are; any other
 * reads the chunks.
 */
export interface ChunkFormat {
  /** The JSON text of each chunk in the bytes, in order. Comments and other bytes are left out. */
  chunksIn(bytes: Buffer): string[];
}

/** The end of a stream that is complete and billed. */
export type StreamEnding = {
  /** The last bytes, which waited for the settlement; often none. */
  readonly passed: Buffer;
  readonly format: ChunkFormat;
  /** JSON texts of the chunks that follow them: the end of choices that go no further, and the billed usage if it was asked for. */
  readonly closing: readonly string[];
};

/**
 * The receiver of an answer. It gets typed events and writes them in the protocol of its caller. It gets `answer` alone, or
 * `begin`, any number of `pass` and `keepAlive`, and one of `end` and `fail`. From `begin` on the gateway throws no error.
 */
export interface ChatSink {
  answer(head: ChatAnswerHead, answer: WholeAnswer): void;
  begin(head: ChatAnswerHead): void;
  /** Chunks as the upstream wrote them, with our names. False: the client is slow; wait for `onDrained`. */
  pass(bytes: Buffer, format: ChunkFormat): boolean;
  /** The upstream is silent. Proxies and clients close a connection that carries nothing for a minute or so. */
  keepAlive(): void;
  end(ending: StreamEnding): void;
  /** The answer broke off. */
  fail(error: DomainError): void;
  /** Calls back once more bytes are welcome. */
  onDrained(callback: () => void): void;
  /** Calls back when the client has left, at once if it already has. */
  onGone(callback: () => void): void;
  /** Whether the caller can be given this whole answer. It is asked before anything is charged. Absent: every answer. */
  accepts?(answer: Buffer): boolean;
}

/**
 * The outcome of a request without a thrown error: the whole answer, a client that left, or the error of this code inside the
 * stream. `insufficient_balance`: the balance ran out, and the stream was ended as a cap ends it.
 */
export type ChatOutcome = "answered" | "client_left" | ErrorCode;

export interface Gateway {
  /**
   * Answers one request and bills it before the answer is complete. After `sink.begin` a failure is given to `sink.fail`.
   * Errors, before it: ValidationError, InvalidApiKey, ModelNotFound, InsufficientBalance, RateLimited,
   * TooManyAtOnce, AccountFrozen, UpstreamBusy, AlreadyRunning, AlreadyAnswered, IdempotencyConflict, InternalError.
   */
  answerChat(call: ChatCall, sink: ChatSink): Promise<ChatOutcome>;
  /** Whether a model takes an effort: it thinks, and bills what it thinks. Upstreams of others refuse the parameter. Absent: none does. */
  takesEffort?(model: string): Promise<boolean>;
}
