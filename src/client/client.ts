// What internal services import as `saldo/client`: typed clients of every service of the contracts, over Connect or grpc-js,
// of the caller in each call.

import {
  create,
  type DescMessage,
  type DescMethod,
  type DescService,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { type Client, createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import {
  type CallOptions,
  type ClientReadableStream,
  Client as GrpcClient,
  credentials,
  Metadata,
} from "@grpc/grpc-js";

export { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
export { ReceiptService } from "#gen/saldo/billing/v1/receipt_service_pb.ts";
export { StatementService } from "#gen/saldo/billing/v1/statement_service_pb.ts";
export { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
export { type ErrorFacts, ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
export { EmbeddingsService } from "#gen/saldo/gateway/v1/embeddings_service_pb.ts";
export { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
export { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";

/** The caller. */
export type CallerOptions = {
  /** A service token, `st_…`, or a gateway key, `gw_…`. */
  readonly token: string;
  /** The account the calls are for. A token of one account, and a key, need none. */
  readonly accountId?: string;
};

/** A client over Connect, on the HTTP port. `baseUrl` is such as `http://127.0.0.1:3000`. */
export function connectClient<Service extends DescService>(
  service: Service,
  { baseUrl, ...caller }: CallerOptions & { readonly baseUrl: string },
): Client<Service> {
  const identify: Interceptor = (next) => (request) => {
    for (const [name, value] of headersOf(caller)) request.header.set(name, value);
    return next(request);
  };
  return createClient(service, createConnectTransport({ baseUrl, httpVersion: "1.1", interceptors: [identify] }));
}

/** The methods of a service as grpc-js calls them: a promise of the answer, or a stream of them. */
export type GrpcJsClient<Service extends DescService> = {
  readonly [Name in keyof Service["method"]]: Service["method"][Name] extends {
    methodKind: infer Kind;
    input: infer Input extends DescMessage;
    output: infer Output extends DescMessage;
  }
    ? Kind extends "unary"
      ? (request: MessageInitShape<Input>, options?: CallOptions) => Promise<MessageShape<Output>>
      : (request: MessageInitShape<Input>, options?: CallOptions) => ClientReadableStream<MessageShape<Output>>
    : never;
} & {
  /** Closes the connection. */
  close(): void;
};

/** How a client reaches the gRPC port. */
export type GrpcOptions = {
  /** Such as `127.0.0.1:3001`. */
  readonly address: string;
  /** Where the port has a certificate. `ca`: the authority that signed it, in PEM; absent: one that every machine trusts. */
  readonly tls?: { readonly ca?: Buffer };
};

/** A client of grpc-js on the gRPC port. */
export function grpcJsClient<Service extends DescService>(
  service: Service,
  { address, tls, ...caller }: CallerOptions & GrpcOptions,
): GrpcJsClient<Service> {
  const channel = tls === undefined ? credentials.createInsecure() : credentials.createSsl(tls.ca);
  const client = new GrpcClient(address, channel);
  const calls = service.methods.map((method): [string, unknown] => [method.localName, callOf(client, method, caller)]);
  return Object.assign(Object.fromEntries(calls), { close: () => client.close() }) as GrpcJsClient<Service>;
}

function callOf(client: GrpcClient, method: DescMethod, caller: CallerOptions) {
  const path = `/${method.parent.typeName}/${method.name}`;
  const write = (message: MessageShape<DescMessage>) => Buffer.from(toBinary(method.input, message));
  const read = (bytes: Buffer) => fromBinary(method.output, bytes);
  const metadata = (): Metadata => metadataOf(caller);
  if (method.methodKind !== "unary") {
    return (request: MessageInitShape<DescMessage>, options: CallOptions = {}) =>
      client.makeServerStreamRequest(path, write, read, create(method.input, request), metadata(), options);
  }
  return (request: MessageInitShape<DescMessage>, options: CallOptions = {}) =>
    new Promise<MessageShape<DescMessage>>((resolve, reject) => {
      client.makeUnaryRequest(
        path,
        write,
        read,
        create(method.input, request),
        metadata(),
        options,
        (error, answer) => {
          if (error !== null) reject(error);
          else if (answer === undefined) reject(new Error("The call ended with neither an answer nor an error."));
          else resolve(answer);
        },
      );
    });
}

function metadataOf(caller: CallerOptions): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of headersOf(caller)) metadata.set(name, value);
  return metadata;
}

function headersOf({ token, accountId }: CallerOptions): [string, string][] {
  const named: [string, string][] = accountId === undefined ? [] : [["x-saldo-account", accountId]];
  return [["authorization", `Bearer ${token}`], ...named];
}
