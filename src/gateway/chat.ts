import type { TraceSpan } from "../kernel/tracing.ts";
import type { DomainError, RecordedCode } from "../kernel/errors.ts";
import type { RateState } from "../kernel/rate.ts";
import type { VerifiedKey } from "../keys/verified-key.ts";
import type { ClientRequest } from "./conversation/client-request.ts";
import type { ShownFormat } from "./formats/shown-format.ts";
import type { JsonObject } from "./request/field-rules.ts";

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
  /** What the body holds, where it was written here. Absent: the client wrote it. */
  readonly json?: JsonObject;
  /** The request in its client's own protocol; `body` is its chat form. Absent: the client's protocol is chat. */
  readonly client?: ClientRequest;
  /** The client's headers that belong to its protocol, by their names in small letters. Absent: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The client's name for the request, from its header `Idempotency-Key`. Null or absent: it sent none. */
  readonly idempotencyKey?: string | null;
  /** Its trace. Null or absent: it has none. */
  readonly span?: TraceSpan | null;
};

/** The facts of an answer before its first byte is sent. */
export type ChatAnswerHead = {
  /** Null: the answer is the kept one of an earlier request, which took the slot. */
  readonly rate: RateState | null;
  /** Whether the demo upstream answered. */
  readonly demo: boolean;
  /** The id of the upstream that answers. */
  readonly origin: string;
  /** The earlier request whose kept answer this is. Absent: it is the answer of this request. */
  readonly replayOf?: string;
};

/** An answer that is not streamed, with our names and the billed usage. */
export type WholeAnswer = {
  /** One JSON text. */
  readonly json: Buffer;
  /** How it is written. */
  readonly format: ShownFormat;
  /** What it cost, a decimal string in rupiah. */
  readonly costIdr: string;
};

/** The end of a stream that is complete and billed. */
export type StreamEnding = {
  /** The last events: those that waited for the settlement, the end of answers that go no further, the billed usage. */
  readonly passed: Buffer;
  readonly format: ShownFormat;
};

/**
 * The receiver of an answer. It gets typed events and writes them in the protocol of its caller. It gets `answer` alone, or
 * `begin`, any number of `pass` and `keepAlive`, and one of `end` and `fail`. From `begin` on the gateway throws no error.
 */
export interface ChatSink {
  answer(head: ChatAnswerHead, answer: WholeAnswer): void;
  begin(head: ChatAnswerHead): void;
  /** The first part follows, from another upstream than `begin` named: that one failed after comments. Absent: it makes no difference. */
  answeredBy?(origin: string): void;
  /**
   * Events as the upstream wrote them, with our names. A sink whose client has the format's protocol writes them as they are, any
   * other reads them. False: the client is slow; wait for `onDrained`.
   */
  pass(bytes: Buffer, format: ShownFormat): boolean;
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
  accepts?(answer: Buffer, format: ShownFormat): boolean;
}

/**
 * The outcome of a request without a thrown error: the whole answer, a client that left, or the error of this code inside the
 * stream. `insufficient_balance`, `key_budget_exceeded`, `member_budget_exceeded`: the money ran out, and the stream was ended as a cap ends it.
 */
export type ChatOutcome = "answered" | "client_left" | RecordedCode;

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
