// The port to the servers that answer requests. An adapter reports the answer or the failure, and whether a failed call
// can have cost something. It decides nothing about money, retries or clients.

import type { OutputCapField, UpstreamKind } from "../../catalog/catalog-model.ts";
import type { Endpoint } from "../chat.ts";
import type { ValidationReason } from "../../kernel/errors.ts";

/** One call, as the upstream gets it. */
export type UpstreamRequest = {
  readonly requestId: string;
  /** 1 for the first call of a request, 2 for its retry. */
  readonly attempt: number;
  /** The model's name at the upstream, as in the body. */
  readonly model: string;
  readonly body: Buffer;
  readonly stream: boolean;
  /** Headers of the client's that belong to its protocol: names and values in turn. Absent: none. */
  readonly headers?: readonly string[];
  /** Where the call is in its trace, which the upstream gets as a header. Absent: it has no trace. */
  readonly traceparent?: string;
  /** What the body asks for. Absent: chat. */
  readonly endpoint?: Endpoint;
  /** How long the head of the answer may take, and each silence behind it. Absent: the upstream's own limits. */
  readonly firstByteTimeoutMs?: number;
  readonly idleTimeoutMs?: number;
};

export type UpstreamFailure = {
  /**
   * `unbilled`: the call cannot have cost anything and may be made again. `perhaps_billed`: it may have. `refused`: the
   * upstream finds the request itself wrong.
   */
  readonly kind: "unbilled" | "perhaps_billed" | "refused";
  /** For our log: what happened. */
  readonly reason: string;
  /** For the client of a refused request: scrubbed and bounded. */
  readonly message?: string;
  /** Why a request was refused, where a client can act on it. */
  readonly refusedFor?: ValidationReason;
  /** How long the upstream asks us to wait. */
  readonly retryAfterSeconds?: number;
  /** Whether the upstream was given up because it was silent. Absent: false. */
  readonly timedOut?: boolean;
  readonly cause?: unknown;
  /** Whether the call was ended by us, and the upstream did nothing wrong. Absent: false. */
  readonly isOurs?: boolean;
};

/** The events of a call, in this order: at most one answer, its bytes, and exactly one end or failure. None after abort. */
export interface UpstreamListener {
  /** A success was announced. `isEventStream`: server-sent events follow, else one JSON text. */
  onAnswer(answer: { readonly isEventStream: boolean; readonly upstreamRequestId: string | null }): void;
  onData(bytes: Buffer): void;
  onEnd(): void;
  onFailure(failure: UpstreamFailure): void;
}

/** A call under way. */
export interface UpstreamCall {
  /** Whether the request may have left us, so that the upstream may charge for it. */
  readonly sent: boolean;
  pause(): void;
  resume(): void;
  /** No more of the answer is needed: a call that does not end soon is aborted. One that ends soon keeps its connection open. */
  letGo(): void;
  abort(): void;
}

/** A server that answers chat requests, and requests for vectors where it has models for them. */
export interface ChatUpstream {
  readonly id: string;
  readonly kind: UpstreamKind;
  readonly outputCapField: OutputCapField;
  /** Whether requests name the service tier that has a price. A provider's project may have set a dearer one for those that name none. */
  readonly takesServiceTier: boolean;
  /** Whether its address is Anthropic's own. Other servers with its protocol know less of it. */
  readonly isAnthropic: boolean;
  /** Calls the upstream. The listener is not called before this has returned. */
  call(request: UpstreamRequest, listener: UpstreamListener): UpstreamCall;
  /** From now on no connection serves a second request. Absent: there are no connections. */
  stopReuse?(): void;
  /** Waits for running calls to end, then closes the connections. */
  close(): Promise<void>;
  /** Aborts the calls that still run. */
  destroy(): Promise<void>;
}
