// The transport to the server: the contracts over Connect, binary, as GET where a method changes nothing. The session
// is a cookie that scripts cannot read; no key and no token is ever in the browser.

import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { nameAccount } from "./acting-for.ts";
import { confirmed, lackOf, setCodeReader } from "./confirm.ts";
import type { ErrorFacts } from "#gen/saldo/errors/v1/errors_pb.ts";

/** A call that takes longer is cancelled; streams have no limit. */
const CALL_WITHIN_MS = 20_000;
/** A little more than the server allows for the longest calls. */
const LONG_CALL_WITHIN_MS = 45_000;

const signedOutListeners = new Set<() => void>();

/** Runs a callback when the server answers that the session has ended. Returns a function that removes it. */
export function onSignedOut(listener: () => void): () => void {
  signedOutListeners.add(listener);
  return () => signedOutListeners.delete(listener);
}

/** Reports that the session has ended: for calls that do not use the contracts. */
export function tellSignedOut(): void {
  for (const listener of signedOutListeners) listener();
}

const noticeSignOut: Interceptor = (next) => async (request) => {
  try {
    return await next(request);
  } catch (error) {
    if (isSignedOut(error)) tellSignedOut();
    throw error;
  }
};

const settings = {
  baseUrl: window.location.origin,
  useBinaryFormat: true,
  defaultTimeoutMs: CALL_WITHIN_MS,
  interceptors: [noticeSignOut, nameAccount],
};

/** The transport of every query, mutation and stream. */
export const transport = confirming(createConnectTransport({ ...settings, useHttpGet: true }));

/** For what is public: without cookies, so that no session is looked up. */
export const publicTransport = createConnectTransport({
  ...settings,
  useHttpGet: true,
  fetch: (input, init) => fetch(input, { ...init, credentials: "omit" }),
});

/** For operators' queries that are too long for a URL, or that read whole books. */
export const patientTransport = confirming(
  createConnectTransport({ ...settings, defaultTimeoutMs: LONG_CALL_WITHIN_MS }),
);

/**
 * The same transport, which asks the person to confirm where the server requires it, and then repeats the call. It is
 * not an interceptor: the call's time limit would run while the person looks for their phone.
 */
function confirming(plain: Transport): Transport {
  return {
    stream: plain.stream.bind(plain),
    unary: (...call) => confirmed(() => plain.unary(...call)),
  };
}

/**
 * The facts of an error: its code, the wrong fields, the request id for support. Null: the error is not from our
 * server.
 */
export function factsOf(error: unknown): ErrorFacts | null {
  return ConnectError.from(error).findDetails(ErrorFactsSchema)[0] ?? null;
}

setCodeReader((error) => (error instanceof ConnectError ? (factsOf(error)?.code ?? null) : null));

/** Whether the server refuses a call until the person has set up a second factor or has confirmed. */
export function isProofMissing(error: unknown): boolean {
  return lackOf(error) !== null;
}

/** Whether an error means that the session has ended or that there is none. */
export function isSignedOut(error: unknown): boolean {
  return ConnectError.from(error).code === Code.Unauthenticated;
}

/** Whether an error means that a row does not exist or belongs to another account. */
export function isNotFound(error: unknown): boolean {
  return ConnectError.from(error).code === Code.NotFound;
}

/**
 * The same for a row that an address names: a malformed id is refused as an argument, and a reader who followed a link
 * sees it as a row that does not exist.
 */
export function isNotThere(error: unknown): boolean {
  return isNotFound(error) || ConnectError.from(error).code === Code.InvalidArgument;
}
