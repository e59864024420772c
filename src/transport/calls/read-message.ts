// Reads the message of an RPC call once the caller is known. Connect would read, decompress and decode it before any
// interceptor runs, for every caller. Here Connect gets an empty message instead, and the validating interceptor reads the real
// one through the same reader as REST. So both are authenticated and authorised by their headers alone, and a wrong message
// has the same error and the same log line.

import { fromBinary, fromJsonString, type DescMethod, type Message } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { Code, ConnectError, type ConnectRouter, type ContextValues } from "@connectrpc/connect";
import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import { invariant } from "../../kernel/invariant.ts";
import { DomainError, PayloadTooLarge } from "../../kernel/errors.ts";
import { BodyBytes } from "./body-bytes.ts";
import { setMessageReader } from "./call.ts";
import { decompress } from "./decompress.ts";
import { boundJsonElements } from "./element-bound.ts";
import { requestBoundsOf } from "./request-bounds.ts";
import { boundWireElements } from "./wire-elements.ts";

/** How the message of a request is written. */
type Format = {
  readonly binary: boolean;
  /** Whether the message is in an envelope, which has the flag of the compression. */
  readonly enveloped: boolean;
  /** The header that names the compression. */
  readonly encodingHeader: string;
};

const CONTENT_TYPE = /^application\/(connect\+|grpc-web\+?|grpc\+?)?(?:(json)(?:; ?charset=utf-?8)?|proto)?$/i;
const UTF8 = new TextDecoder();
const ENVELOPE_BYTES = 5;
const COMPRESSED = 1;
const EMPTY_MESSAGES = {
  plain: { binary: new Uint8Array(0), json: Buffer.from("{}") },
  enveloped: { binary: Buffer.from([0, 0, 0, 0, 0]), json: Buffer.from([0, 0, 0, 0, 2, 0x7b, 0x7d]) },
} as const;

/** Counts the pieces of a body as they are read, and may refuse the next by an error. */
export type BodyMeter = (
  body: AsyncIterable<Uint8Array>,
  call: {
    readonly values: ContextValues;
    /** The most bytes of the message. */
    readonly limit: number;
    /** The length that the request states; null: none. */
    readonly stated: number | null;
    /** Aborted when the request is answered or its client has left. */
    readonly signal: AbortSignal;
  },
) => AsyncIterable<Uint8Array>;

/** A meter that counts nothing. */
export const uncounted: BodyMeter = (body) => body;

/** Makes every handler registered so far read its message late. Methods with a stream of requests stay as they are. */
export function readMessagesLate(router: ConnectRouter, meter: BodyMeter): void {
  router.handlers.forEach((handler, index) => {
    const { method } = handler;
    if (method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming") return;
    const late = (request: UniversalServerRequest) => handler(withoutMessage(method, request, meter));
    router.handlers[index] = Object.assign(late, handler);
  });
}

/** The request with an empty message, and a reader of the real one in its values. */
function withoutMessage(method: DescMethod, request: UniversalServerRequest, meter: BodyMeter): UniversalServerRequest {
  const { contextValues: values, header } = request;
  invariant(values !== undefined, "a call has values from the transport that received it");
  if (request.method === "GET") {
    const { url, read } = splitQuery(method, request.url);
    setMessageReader({ values }, read);
    return { ...request, url };
  }
  const format = formatOf(header);
  const { body } = request;
  // Connect refuses such a type. It gets nothing to read.
  if (format === null || !isByteStream(body)) return { ...request, body: once(EMPTY_MESSAGES.plain.binary) };
  const encoding = takeHeader(header, format.encodingHeader) ?? "identity";
  // The envelope has the length already, so that of the body adds nothing.
  const declared = format.enveloped ? 0 : Number(takeHeader(header, "content-length") ?? 0);
  setMessageReader({ values }, async () => {
    const stated = Number.isNaN(declared) ? null : declared;
    const counted = meter(body, { values, limit: requestBoundsOf(method).maxBytes, stated, signal: request.signal });
    const bytes = await readBody(method, counted, { format, declared });
    const message = format.enveloped ? openEnvelope(bytes) : { compressed: encoding !== "identity", bytes };
    return decode(method, message, { binary: format.binary, encoding });
  });
  const empty = EMPTY_MESSAGES[format.enveloped ? "enveloped" : "plain"][format.binary ? "binary" : "json"];
  return { ...request, body: once(empty) };
}

/** The message of a Connect GET is in its query. */
function splitQuery(method: DescMethod, address: string): { url: string; read: () => Promise<Message> } {
  const url = new URL(address);
  const query = url.searchParams;
  const text = query.get("message") ?? "";
  const isBase64 = query.get("base64") === "1";
  const encoding = query.get("compression") ?? "identity";
  const binary = query.get("encoding") === "proto";
  query.delete("base64");
  query.delete("compression");
  query.set("message", binary ? "" : "{}");
  return {
    url: url.toString(),
    async read() {
      const bytes = isBase64 ? decoded(() => base64Decode(text)) : Buffer.from(text);
      return decode(method, { compressed: encoding !== "identity", bytes }, { binary, encoding });
    },
  };
}

/** Reads a header that we handle, and removes it from the request for Connect. */
function takeHeader(header: Headers, name: string): string | null {
  const value = header.get(name);
  if (value !== null) header.delete(name);
  return value;
}

function formatOf(header: Headers): Format | null {
  const match = CONTENT_TYPE.exec(header.get("content-type") ?? "");
  if (match === null) return null;
  const protocol = match[1]?.toLowerCase();
  const binary = match[2] === undefined;
  if (protocol === undefined) return { binary, enveloped: false, encodingHeader: "content-encoding" };
  const encodingHeader = protocol === "connect+" ? "connect-content-encoding" : "grpc-encoding";
  return { binary, enveloped: true, encodingHeader };
}

/** Errors: PayloadTooLarge; ConnectError (canceled) when the request ends before its body does. */
async function readBody(
  method: DescMethod,
  body: AsyncIterable<Uint8Array>,
  { format, declared }: { format: Format; declared: number },
): Promise<Uint8Array> {
  const { maxBytes } = requestBoundsOf(method);
  const frame = format.enveloped ? ENVELOPE_BYTES : 0;
  if (declared > maxBytes + frame) throw new PayloadTooLarge(maxBytes);
  const read = new BodyBytes(maxBytes, frame);
  // Not by `for await`, which on an early end would destroy the request, and with it the connection that the answer needs.
  const pieces = body[Symbol.asyncIterator]();
  for (let next = await nextOf(pieces); next.done !== true; next = await nextOf(pieces)) {
    read.add(next.value);
    if (format.enveloped && announcedLength(read.bytes) > maxBytes) throw new PayloadTooLarge(maxBytes);
  }
  return read.bytes;
}

/** A body that cannot be read to its end is the caller's error, and no internal one. */
async function nextOf(pieces: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
  try {
    return await pieces.next();
  } catch (cause) {
    if (cause instanceof DomainError) throw cause;
    throw new ConnectError("The request ended before its body did.", Code.Canceled, undefined, undefined, cause);
  }
}

function announcedLength(bytes: Uint8Array): number {
  return bytes.length < ENVELOPE_BYTES ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
}

function openEnvelope(bytes: Uint8Array): { compressed: boolean; bytes: Uint8Array } {
  const [flags = 0] = bytes;
  if (bytes.length === 0) throw new ConnectError("protocol error: missing input message", Code.Unimplemented);
  const end = ENVELOPE_BYTES + announcedLength(bytes);
  if (bytes.length < end) throw new ConnectError("protocol error: incomplete envelope", Code.InvalidArgument);
  if (bytes.length > end) throw new ConnectError("protocol error: received extra input message", Code.Unimplemented);
  if (flags > COMPRESSED) throw new ConnectError("protocol error: unknown envelope flags", Code.InvalidArgument);
  return { compressed: flags === COMPRESSED, bytes: bytes.subarray(ENVELOPE_BYTES) };
}

async function decode(
  method: DescMethod,
  { compressed, bytes }: { compressed: boolean; bytes: Uint8Array },
  { binary, encoding }: { binary: boolean; encoding: string },
): Promise<Message> {
  const message = compressed ? await decompress(bytes, encoding, requestBoundsOf(method)) : bytes;
  if (binary) {
    boundWireElements(method.input, message);
    return decoded(() => fromBinary(method.input, message, { readUnknownFields: false }));
  }
  boundJsonElements(message);
  return decoded(() => fromJsonString(method.input, UTF8.decode(message), { ignoreUnknownFields: true }));
}

function decoded<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw ConnectError.from(error, Code.InvalidArgument);
  }
}

function isByteStream(body: UniversalServerRequest["body"]): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
