// gRPC over cleartext HTTP/2, for internal callers. Health and reflection stand beside our services.

import { createServer, type ServerHttp2Session } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { Health } from "#gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "#gen/grpc/reflection/v1/reflection_pb.ts";
import { uuidv7 } from "../kernel/ids.ts";
import { createCallValues, readCredentials, READ_MAX_BYTES, sayRequestId } from "./call.ts";
import { keepGrpcMessagesReadable } from "./grpc-message.ts";
import { createHealth } from "./health.ts";
import { createInterceptors, createOpenInterceptors, type CallPorts } from "./interceptors.ts";
import { createReflection } from "./reflection.ts";
import { registerServices, services, type Implementations } from "./services.ts";
import { endWithin, listenOn, type StoppableServer } from "./stoppable-server.ts";

const MAX_STREAMS_PER_CONNECTION = 1_000;

/** What the gRPC server is built from. */
export type GrpcServerOptions = {
  readonly implementations: Implementations;
  readonly ports: CallPorts;
  /** The probe behind /readyz. */
  readonly ready: () => Promise<boolean>;
};

/** Builds the gRPC server. */
export function createGrpcServer(options: GrpcServerOptions): StoppableServer {
  const stopping = new AbortController();
  const shutdown = new AbortController();
  const server = createServer(
    { settings: { maxConcurrentStreams: MAX_STREAMS_PER_CONNECTION } },
    connectNodeAdapter({
      connect: false,
      grpcWeb: false,
      readMaxBytes: READ_MAX_BYTES,
      shutdownSignal: shutdown.signal,
      requestGate: sayRequestId,
      contextValues: (request) =>
        createCallValues({
          requestId: uuidv7(),
          receivedAtMs: Date.now(),
          credentials: readCredentials(request.rawHeaders),
          environment: null,
        }),
      routes: (router) => {
        const reflected = [...Object.values(services), Health];
        const names = reflected.map((service) => service.typeName);
        const open = { interceptors: createOpenInterceptors(options.ports) };
        registerServices(router, options.implementations, createInterceptors(options.ports));
        router.service(Health, createHealth(names, options.ready, stopping.signal), open);
        router.service(ServerReflection, createReflection([...reflected, ServerReflection]), open);
        keepGrpcMessagesReadable(router);
      },
    }),
  );
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    // A broken connection is the client's affair: its calls end through their own streams.
    session.on("error", () => session.destroy());
  });
  return {
    listen: (address) => listenOn(server, address),
    async close(limitMs) {
      stopping.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      sessions.forEach((session) => session.close());
      await endWithin(limitMs, closed, {
        abort: () => shutdown.abort(new ConnectError("The server is stopping.", Code.Unavailable)),
        destroy: () => sessions.forEach((session) => session.destroy()),
      });
    },
  };
}
