// What code reports a trace to. `app/observability/traces.ts` implements it; where traces are off, or a request is not sampled, there
// is no span, and each call on it is one look at a null. Attributes are names, numbers and ids: never contents, keys or addresses.

import { DomainError } from "./errors.ts";

export type TraceAttributes = Readonly<Record<string, string | number | boolean>>;

/** A part of a trace, from its beginning to its end. */
export interface TraceSpan {
  /** Where it is, in W3C's form, for the next server. */
  readonly traceparent: string;
  /** Begins a part of this one. `client`: a call of another server. */
  begin(name: string, kind: "internal" | "client", attributes?: TraceAttributes): TraceSpan;
  set(attributes: TraceAttributes): void;
  /** It is over now; attributes may follow until `end`. */
  stop(errorType?: string): void;
  /** Passes it on. `errorType`: why it failed. */
  end(errorType?: string): void;
}

/** A call that came to a port. */
export type TracedCall = {
  /** `package.Service/Method`. */
  readonly method: string;
  readonly requestId: string;
  readonly port: TracedPort;
  /** The caller's header of that name, unread; null or absent: there is none. */
  readonly traceparent?: string | null;
};

export const TRACED_PORTS = ["http", "grpc"] as const;
export type TracedPort = (typeof TRACED_PORTS)[number];

/** Decides which calls have a trace. */
export interface Tracing {
  /** Null: the call is not sampled. */
  receive(call: TracedCall): TraceSpan | null;
  /** The trace of a round of background work. Null: it is not sampled. */
  job(name: string): TraceSpan | null;
}

/** Runs work as a part of a span. Without one it is only called: nothing waits a turn longer. Errors: those of the work. */
export function traced<T>(span: TraceSpan | null | undefined, name: string, work: () => Promise<T>): Promise<T> {
  return span === null || span === undefined ? work() : endWith(span.begin(name, "internal"), work);
}

/** Runs work and ends its span. Errors: those of the work. */
export async function endWith<T>(span: TraceSpan, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    span.end();
    return result;
  } catch (error) {
    span.end(errorTypeOf(error));
    throw error;
  }
}

/** The code of an error, as records and log lines have it. */
export function errorTypeOf(error: unknown): string {
  return error instanceof DomainError ? error.recordedCode : "internal_error";
}
