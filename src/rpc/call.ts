// What is known of a call besides its message. A door (h2c, Connect, REST) fills these values once, before anything runs;
// services read them through the functions here.

import { createContextKey, createContextValues, type ContextValues, type HandlerContext } from "@connectrpc/connect";
import type { Message } from "@bufbuild/protobuf";
import type { Environment, Principal } from "../accounts/principal.ts";

/** The caller's credentials as they came in. Null: none that may be looked at. */
export type Authorization = string | null;

/** The largest message a call may send: one chat request with images. */
export const READ_MAX_BYTES = 32 * 1024 * 1024;

type CallFacts = {
  readonly requestId: string;
  readonly receivedAtMs: number;
  readonly authorization: Authorization;
  /** The environment the path names; null where the caller's own counts, as on every RPC path. */
  readonly environment: Environment | null;
};

const factsKey = createContextKey<CallFacts>(
  { requestId: "", receivedAtMs: 0, authorization: null, environment: null },
  { description: "what the door knows of the call" },
);
/** Reads the message of a call whose body waits until the caller is known. */
export type MessageReader = () => Message;

const readerKey = createContextKey<MessageReader | null>(null, { description: "reads the message from the body" });
const principalKey = createContextKey<Principal>({ kind: "public" }, { description: "who is calling" });

/** The values of a new call, made by the door that received it. */
export function createCallValues(facts: CallFacts): ContextValues {
  return createContextValues().set(factsKey, facts);
}

/** The id of the request: a UUIDv7 made by us, the same in the header, the log line and the usage record. */
export function requestIdOf(call: Pick<HandlerContext, "values">): string {
  return call.values.get(factsKey).requestId;
}

/** When the request came in, in milliseconds of Unix time. */
export function receivedAtMsOf(call: Pick<HandlerContext, "values">): number {
  return call.values.get(factsKey).receivedAtMs;
}

/** The environment named by the path, or null where it names none. */
export function environmentOf(call: Pick<HandlerContext, "values">): Environment | null {
  return call.values.get(factsKey).environment;
}

/** The Authorization header of the call. */
export function authorizationOf(call: Pick<HandlerContext, "values">): Authorization {
  return call.values.get(factsKey).authorization;
}

/** Says the request id in the headers of every answer, also of one that is refused before it was read. */
export function sayRequestId(call: Pick<HandlerContext, "values" | "responseHeader">): void {
  call.responseHeader.set("x-request-id", requestIdOf(call));
}

/** Leaves the message unread until the caller is known: nobody learns by a 400 that a path would have let him in. */
export function setMessageReader(call: Pick<HandlerContext, "values">, read: MessageReader): void {
  call.values.set(readerKey, read);
}

/** What reads the message, or null where the protocol has read it already. */
export function messageReaderOf(call: Pick<HandlerContext, "values">): MessageReader | null {
  return call.values.get(readerKey);
}

/** Who is calling, once the call is authenticated; before that, the public. */
export function principalOf(call: Pick<HandlerContext, "values">): Principal {
  return call.values.get(principalKey);
}

/** Names the caller. Only the authenticating interceptor calls it. */
export function setPrincipal(call: Pick<HandlerContext, "values">, principal: Principal): void {
  call.values.set(principalKey, principal);
}

/**
 * The one Authorization header of a request. Null when there are several: Node keeps the first, and a proxy in front may
 * have looked at another.
 */
export function readAuthorization(rawHeaders: readonly string[]): Authorization {
  let found: string | null = null;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name === undefined || name.length !== 13 || name.toLowerCase() !== "authorization") continue;
    if (found !== null) return null;
    found = rawHeaders[i + 1] ?? "";
  }
  return found;
}
