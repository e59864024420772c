// The one way to the server: the contracts over Connect, binary, as GET where a method changes nothing. The session is a
// cookie that scripts cannot read; no key and no token is ever in the browser.

import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { confirmed, lackOf, setCodeReader } from "./confirm.ts";
import type { ErrorFacts } from "#gen/saldo/errors/v1/errors_pb.ts";

/** A call that takes longer is given up; streams have no limit. */
const CALL_WITHIN_MS = 20_000;
/** A little more than the server takes at most for the longest of them. */
const LONG_CALL_WITHIN_MS = 45_000;

const signedOutListeners = new Set<() => void>();

/** Calls back when the server says that nobody is signed in any more. Gives what ends it. */
export function onSignedOut(listener: () => void): () => void {
  signedOutListeners.add(listener);
  return () => signedOutListeners.delete(listener);
}

/** Says that nobody is signed in any more: for calls that go another way than the contracts. */
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
  interceptors: [noticeSignOut],
};

/** The transport of every query, mutation and stream. */
export const transport = confirming(createConnectTransport({ ...settings, useHttpGet: true }));

/** For questions of operators that are too long for an address, or go through whole books. */
export const patientTransport = confirming(
  createConnectTransport({ ...settings, defaultTimeoutMs: LONG_CALL_WITHIN_MS }),
);

/**
 * The same transport, which has the person confirm who it is where the server asks for that, and then repeats the call. Not an
 * interceptor: the time of a call would run while the person looks for the phone.
 */
function confirming(plain: Transport): Transport {
  return {
    stream: plain.stream.bind(plain),
    unary: (...call) => confirmed(() => plain.unary(...call)),
  };
}

/** The facts of an error: its code, the fields that were wrong, the id to ask us about. Null: it did not come from us. */
export function factsOf(error: unknown): ErrorFacts | null {
  return ConnectError.from(error).findDetails(ErrorFactsSchema)[0] ?? null;
}

setCodeReader((error) => (error instanceof ConnectError ? (factsOf(error)?.code ?? null) : null));

/** Whether the server refuses a call until the person has set up a second factor, or has confirmed who it is. */
export function isProofMissing(error: unknown): boolean {
  return lackOf(error) !== null;
}

/** Whether an error says that nobody is signed in. */
export function isSignedOut(error: unknown): boolean {
  return ConnectError.from(error).code === Code.Unauthenticated;
}

/** Whether an error says that a thing is not there, or is somebody else's. */
export function isNotFound(error: unknown): boolean {
  return ConnectError.from(error).code === Code.NotFound;
}

/**
 * The same for what an address names: an id that is no id is refused as one, and for whoever followed a link it is as if there
 * were none.
 */
export function isNotThere(error: unknown): boolean {
  return isNotFound(error) || ConnectError.from(error).code === Code.InvalidArgument;
}
