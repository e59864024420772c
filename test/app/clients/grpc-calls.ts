// @grpc/grpc-js against the generated descriptors, as an internal service without Connect would use it.

import { type DescMessage, type DescMethod, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { type Any, AnySchema, anyUnpack } from "@bufbuild/protobuf/wkt";
import {
  type CallOptions,
  type Client,
  type ClientReadableStream,
  Metadata,
  type MethodDefinition,
  type ServiceError,
} from "@grpc/grpc-js";
import { type ErrorFacts, ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";

type MethodOf<I extends DescMessage, O extends DescMessage> = DescMethod & { readonly input: I; readonly output: O };

/** A method of the contracts in the form grpc-js calls. */
export function definitionOf<I extends DescMessage, O extends DescMessage>(
  method: MethodOf<I, O>,
): MethodDefinition<MessageShape<I>, MessageShape<O>> {
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    requestStream: method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming",
    responseStream: method.methodKind === "server_streaming" || method.methodKind === "bidi_streaming",
    requestSerialize: (message) => Buffer.from(toBinary(method.input, message)),
    requestDeserialize: (bytes) => fromBinary(method.input, bytes),
    responseSerialize: (message) => Buffer.from(toBinary(method.output, message)),
    responseDeserialize: (bytes) => fromBinary(method.output, bytes),
  };
}

/** The metadata of a caller with a key; empty without one. */
export function metadataOf(key: string | null): Metadata {
  const metadata = new Metadata();
  if (key !== null) metadata.set("authorization", `Bearer ${key}`);
  return metadata;
}

/** Calls a unary method. Rejects with grpc-js's ServiceError. */
export function callUnary<I extends DescMessage, O extends DescMessage>(
  client: Client,
  method: MethodOf<I, O>,
  call: { request: MessageInitShape<I>; key: string | null; options?: CallOptions },
): Promise<MessageShape<O>> {
  const { path, requestSerialize, responseDeserialize } = definitionOf(method);
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      create(method.input, call.request),
      metadataOf(call.key),
      call.options ?? {},
      (error, answer) => {
        if (error !== null) reject(error);
        else if (answer === undefined) reject(new Error("neither an answer nor an error"));
        else resolve(answer);
      },
    );
  });
}

/** Calls a method that streams its answer. */
export function callStream<I extends DescMessage, O extends DescMessage>(
  client: Client,
  method: MethodOf<I, O>,
  call: { request: MessageInitShape<I>; key: string | null; options?: CallOptions },
): ClientReadableStream<MessageShape<O>> {
  const { path, requestSerialize, responseDeserialize } = definitionOf(method);
  const request = create(method.input, call.request);
  return client.makeServerStreamRequest(
    path,
    requestSerialize,
    responseDeserialize,
    request,
    metadataOf(call.key),
    call.options ?? {},
  );
}

/** The error of a call. */
export async function refusalOf(call: Promise<unknown>): Promise<ServiceError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Error && "metadata" in error) return error as ServiceError;
    throw error;
  }
  throw new Error("the call was answered");
}

/** The facts of an error, from the standard status details (google.rpc.Status). */
export function factsOf(error: ServiceError): ErrorFacts | undefined {
  const [bytes] = error.metadata.get("grpc-status-details-bin");
  if (!Buffer.isBuffer(bytes)) return undefined;
  return detailsOf(bytes)
    .map((detail) => anyUnpack(detail, ErrorFactsSchema))
    .find((facts) => facts !== undefined);
}

/** `details` is field 3 of google.rpc.Status. */
function detailsOf(status: Uint8Array): Any[] {
  const reader = new BinaryReader(status);
  const details: Any[] = [];
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 3) details.push(fromBinary(AnySchema, reader.bytes()));
    else reader.skip(wireType, field);
  }
  return details;
}
