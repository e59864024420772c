// The facts of a call besides its message. A transport (h2c, Connect, REST) sets these values once, before any interceptor runs;
// services read them through the functions here.

import type { TracedCall, TracedPort, TraceSpan } from "../../kernel/tracing.ts";
import { createContextKey, createContextValues, type ContextValues, type HandlerContext } from "@connectrpc/connect";
import type { Message } from "@bufbuild/protobuf";
import type { Environment, Principal } from "../../identity/principal.ts";
import type { CallSource } from "./client-address.ts";

/** The Authorization header as received, empty where it may not be read. Null: there is none. */
export type Authorization = string | null;

/** The credentials of a call. Every part is null where it is missing, or is there more than once. */
export type Credentials = {
  readonly authorization: Authorization;
  /** The header for a key alone, on the paths that take one; empty where it may not be read. Absent: there is none. */
  readonly apiKey?: string;
  /** The Cookie header; also null where the request may come from another site. */
  readonly cookies: string | null;
  /** The account that the call names. */
  readonly account: string | null;
  /** The address of the caller. Null: not known. */
  readonly source: CallSource | null;
};

/** The header that names the account for a call of a service or an operator. */
export const ACCOUNT_HEADER = "x-saldo-account";

const NOBODY: Credentials = { authorization: null, cookies: null, account: null, source: null };

/** The largest message a call may send: one chat request with images. */
export const READ_MAX_BYTES = 32 * 1024 * 1024;

type CallFacts = {
  readonly requestId: string;
  readonly receivedAtMs: number;
  readonly credentials: Credentials;
  /** The environment that the path names; null where the caller's own counts, as on every RPC path. */
  readonly environment: Environment | null;
  /** Whether the call came to a REST path. Left out: it came over RPC. */
  readonly isRest?: boolean;
  /** The port that it came to. Left out: HTTP. */
  readonly port?: TracedPort;
  /** The header of that name, where the call has not its own headers. */
  readonly traceparent?: string;
};

const factsKey = createContextKey<CallFacts>(
  { requestId: "", receivedAtMs: 0, credentials: NOBODY, environment: null },
  { description: "the facts that the transport has about the call" },
);
const spanKey = createContextKey<TraceSpan | null>(null, { description: "the trace of the call" });
/** Reads the message of a call. Its body waits until the caller is known. */
export type MessageReader = () => Message | Promise<Message>;

const readerKey = createContextKey<MessageReader | null>(null, { description: "reads the message from the body" });
const principalKey = createContextKey<Principal>({ kind: "public" }, { description: "the caller" });

/** The values of a new call, made by the transport that received it. */
export function createCallValues(facts: CallFacts): ContextValues {
  return createContextValues().set(factsKey, facts);
}

/** The id of the request: a UUIDv7 made by us, the same in the header, the log line and the usage record. */
export function requestIdOf(call: Pick<HandlerContext, "values">): string {
  return call.values.get(factsKey).requestId;
}

/** When the request was received, in milliseconds of Unix time. */
export function receivedAtMsOf(call: Pick<HandlerContext, "values">): number {
  return call.values.get(factsKey).receivedAtMs;
}

/** The environment named by the path, or null where it names none. */
export function environmentOf(call: Pick<HandlerContext, "values">): Environment | null {
  return call.values.get(factsKey).environment;
}

/** Whether the call came to a REST path. */
export function isRestCall(call: Pick<HandlerContext, "values">): boolean {
  return call.values.get(factsKey).isRest ?? false;
}

/** What the trace of a call begins with. */
export function tracedCallOf(call: Pick<HandlerContext, "values" | "requestHeader">, method: string): TracedCall {
  const { requestId, port = "http", traceparent } = call.values.get(factsKey);
  return { method, requestId, port, traceparent: traceparent ?? call.requestHeader.get("traceparent") };
}

/** The trace of the call, or null where it has none. */
export function spanOf(call: Pick<HandlerContext, "values">): TraceSpan | null {
  return call.values.get(spanKey);
}

/** Sets the trace. Only the tracing interceptor calls it. */
export function setSpan(call: Pick<HandlerContext, "values">, span: TraceSpan): void {
  call.values.set(spanKey, span);
}

/** The credentials of the call. */
export function credentialsOf(call: Pick<HandlerContext, "values">): Credentials {
  return call.values.get(factsKey).credentials;
}

/** Sets the request id in the headers of every answer, also of a request that is refused before it was read. */
export function setRequestId(call: Pick<HandlerContext, "values" | "responseHeader">): void {
  call.responseHeader.set("x-request-id", requestIdOf(call));
}

/** Leaves the message unread until the caller is known, so that no stranger learns from a 400 whether a path exists. */
export function setMessageReader(call: Pick<HandlerContext, "values">, read: MessageReader): void {
  call.values.set(readerKey, read);
}

/** The reader of the message, or null where the protocol has read it already. */
export function messageReaderOf(call: Pick<HandlerContext, "values">): MessageReader | null {
  return call.values.get(readerKey);
}

/** The caller, once the call is authenticated; before that, the public. */
export function principalOf(call: Pick<HandlerContext, "values">): Principal {
  return call.values.get(principalKey);
}

/** Sets the caller. Only the authenticating interceptor calls it. */
export function setPrincipal(call: Pick<HandlerContext, "values">, principal: Principal): void {
  call.values.set(principalKey, principal);
}

/** The credentials of a request from outside a browser. Cookies are for browsers alone and are read on the HTTP port. */
export function readCredentials(rawHeaders: readonly string[], source: CallSource | null = null): Credentials {
  return {
    source,
    authorization: readAuthorization(rawHeaders),
    cookies: null,
    // An id is the same in capitals; all later code compares it as a text.
    account: readSingle(rawHeaders, ACCOUNT_HEADER).value?.toLowerCase() ?? null,
  };
}

/** The credentials with a header in which clients send a key alone, such as `x-api-key`. Of several none may be read. */
export function withApiKey(credentials: Credentials, rawHeaders: readonly string[], header: string): Credentials {
  const { value, count } = readSingle(rawHeaders, header);
  return count === 0 ? credentials : { ...credentials, apiKey: value ?? "" };
}

/**
 * The one Authorization header of a request. Of several none may be read: Node keeps the first, and a proxy in front may have
 * read another. They count as unknown credentials.
 */
export function readAuthorization(rawHeaders: readonly string[]): Authorization {
  const { value, count } = readSingle(rawHeaders, "authorization");
  return count > 1 ? "" : value;
}

/** A header that may be there once: its value, or null when it is missing or there several times. */
export function readSingle(rawHeaders: readonly string[], wanted: string): { value: string | null; count: number } {
  let value: string | null = null;
  let count = 0;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name === undefined || name.length !== wanted.length || name.toLowerCase() !== wanted) continue;
    value = rawHeaders[i + 1] ?? "";
    count += 1;
  }
  return { value: count > 1 ? null : value, count };
}
