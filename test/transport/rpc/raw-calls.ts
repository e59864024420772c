// RPC calls as bytes, for what no client library would send: bodies that never end, bodies that are no message, bombs.

import { once } from "node:events";
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { connect, constants, type ClientHttp2Session, type OutgoingHttpHeaders } from "node:http2";
import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { trailerParse } from "@connectrpc/connect/protocol-grpc-web";
import { ErrorFactsSchema, type ErrorFacts } from "#gen/saldo/errors/v1/errors_pb.ts";

/** A message and how it is sent. */
export type Sending = {
  readonly method: DescMethod;
  readonly message: Uint8Array;
  readonly headers?: OutgoingHttpHeaders;
  /** How the message is compressed, named as the protocol names it. */
  readonly encoding?: string;
  readonly json?: boolean;
  /** The body is begun and never ended: an answer can then only come before its end. */
  readonly unfinished?: boolean;
};

/** An answer that may not wait for the end of a body comes within this time, or never. */
const UNFINISHED_MS = 8_000;

/** Sends one message by a protocol and gives its error; undefined: it succeeded. */
export type Protocol = (sending: Sending) => Promise<ConnectError | undefined>;

export const pathOf = (method: DescMethod): string => `/${method.parent.typeName}/${method.name}`;

export const factsOf = (error: ConnectError | undefined): ErrorFacts | undefined =>
  error?.findDetails(ErrorFactsSchema)[0];

/** Connect over HTTP/1.1. */
export function connectProtocol(baseUrl: string): Protocol {
  return async ({ method, message, headers, encoding, json = false, unfinished = false }) => {
    const sent = { "content-type": json ? "application/json" : "application/proto", ...headers };
    const { status, body } = await callHttp(`${baseUrl}${pathOf(method)}`, message, {
      headers: encoding === undefined ? sent : { ...sent, "content-encoding": encoding },
      unfinished,
    });
    return status === 200 ? undefined : errorFromJsonBytes(body, undefined, new ConnectError("no error in it"));
  };
}

/** gRPC-Web over HTTP/1.1. */
export function grpcWebProtocol(baseUrl: string): Protocol {
  return async ({ method, message, headers, encoding, json = false, unfinished = false }) => {
    const sent = { "content-type": json ? "application/grpc-web+json" : "application/grpc-web+proto", ...headers };
    const { body } = await callHttp(`${baseUrl}${pathOf(method)}`, enveloped(message, { encoding, unfinished }), {
      headers: encoding === undefined ? sent : { ...sent, "grpc-encoding": encoding },
      unfinished,
    });
    // The last envelope holds the trailers.
    let at = 0;
    while (at + 5 < body.length && (body[at] ?? 0) < 0x80) at += 5 + body.readUInt32BE(at + 1);
    return findTrailerError(trailerParse(body.subarray(at + 5)));
  };
}

/** gRPC over HTTP/2. */
export function grpcProtocol(session: () => ClientHttp2Session): Protocol {
  return async ({ method, message, headers, encoding, json = false, unfinished = false }) => {
    const sent = json ? { ...headers, "content-type": "application/grpc+json" } : { ...headers };
    const { trailers } = await callGrpc(session(), pathOf(method), enveloped(message, { encoding, unfinished }), {
      headers: encoding === undefined ? sent : { ...sent, "grpc-encoding": encoding },
      unfinished,
    });
    return findTrailerError(trailers);
  };
}

function enveloped(message: Uint8Array, how: { encoding: string | undefined; unfinished: boolean }): Buffer {
  return envelope(message, {
    compressed: how.encoding !== undefined,
    announced: message.length + (how.unfinished ? 1 : 0),
  });
}

/** A message in the envelope of gRPC, gRPC-Web and Connect's streams. */
export function envelope(
  message: Uint8Array,
  { compressed = false, announced = message.length }: { compressed?: boolean; announced?: number } = {},
): Buffer {
  const head = Buffer.alloc(5);
  head[0] = compressed ? 1 : 0;
  head.writeUInt32BE(announced, 1);
  return Buffer.concat([head, message]);
}

/** A call over HTTP/1.1. */
export async function callHttp(
  url: string,
  body: Uint8Array,
  how: { headers?: OutgoingHttpHeaders; unfinished?: boolean; method?: string } = {},
): Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }> {
  const { headers = {}, unfinished = false, method = "POST" } = how;
  const request = httpRequest(url, { method, headers, agent: false });
  const answered = once(request, "response") as Promise<[IncomingMessage]>;
  if (unfinished) {
    request.write(body);
    request.setTimeout(UNFINISHED_MS, () => void request.destroy(new Error("no answer before the body's end")));
  } else request.end(body);
  const [response] = await answered;
  const pieces: Buffer[] = await response.toArray();
  request.destroy();
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces) };
}

/** A call over HTTP/2, with what its stream ended with: its trailers, and the code of its reset. */
export function callGrpc(
  session: ClientHttp2Session,
  path: string,
  body: Uint8Array,
  { headers = {}, unfinished = false }: { headers?: OutgoingHttpHeaders; unfinished?: boolean } = {},
): Promise<{ trailers: Headers; body: Buffer; resetCode: number }> {
  const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<typeof callGrpc>>>();
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  const trailers = new Headers();
  const pieces: Buffer[] = [];
  const take = (seen: IncomingHttpHeaders): void => {
    for (const [name, value] of Object.entries(seen)) if (!name.startsWith(":")) trailers.set(name, String(value));
  };
  stream.on("response", take).on("trailers", take);
  stream.on("data", (piece: Buffer) => pieces.push(piece));
  stream.on("error", () => {
    // The code of the reset shows it.
  });
  stream.on("close", () =>
    resolve({ trailers, body: Buffer.concat(pieces), resetCode: stream.rstCode ?? constants.NGHTTP2_NO_ERROR }),
  );
  if (unfinished) {
    stream.write(body);
    stream.setTimeout(UNFINISHED_MS, () => stream.close(constants.NGHTTP2_CANCEL));
  } else stream.end(body);
  return promise;
}

/** Opens a session that does not mind how the server ends it. */
export function openSession(address: string): ClientHttp2Session {
  const session = connect(`http://${address}`);
  session.on("error", () => {
    // Its calls end with it.
  });
  return session;
}

/** The code as its protocol-independent name, for test titles and comparisons. */
export const codeOf = (error: ConnectError | undefined): string =>
  error === undefined ? "ok" : (Code[error.code] ?? "");
