// gRPC over HTTP/2, for internal callers: our services, health and reflection.

import { constants } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { Health } from "#gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "#gen/grpc/reflection/v1/reflection_pb.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { createCallValues, readCredentials, setRequestId } from "../calls/call.ts";
import { CallStarts } from "./call-starts.ts";
import { keepGrpcMessagesReadable } from "./grpc-message.ts";
import { createHealth } from "./health.ts";
import { BoundedSessions, HTTP2_BOUNDS, http2Options, type Http2Bounds } from "./http2-bounds.ts";
import type { RefusedAtPort } from "./port-refusals.ts";
import { createHttp2Server } from "./http2-server.ts";
import { createInterceptors, createOpenInterceptors, type CallPorts } from "../calls/interceptors.ts";
import { createReflection, ServerReflectionAlpha } from "./reflection.ts";
import { type BodyMeter, uncounted } from "../calls/read-message.ts";
import { registerServices, services, type Implementations } from "../calls/services.ts";
import { connectionsOf, endWithin, listenOn, type StoppableServer } from "../http/stoppable-server.ts";
import type { TlsFiles } from "../http/tls-files.ts";

const PROTOCOLS = { connect: false, grpc: true, grpcWeb: false };
/** The most bytes of a message without credentials: a question about health or a contract. */
const OPEN_MAX_BYTES = 4 * 1024;

/** The parts of the gRPC server. */
export type GrpcServerOptions = {
  readonly implementations: Implementations;
  readonly ports: CallPorts;
  /** The probe behind /readyz. */
  readonly ready: () => Promise<boolean>;
  /** Null or absent: cleartext. */
  readonly tls?: TlsFiles | null;
  /** Whether reflection is served. Absent: it is. */
  readonly reflection?: boolean;
  /** The bounds of connections. Absent: those of a serving process. */
  readonly bounds?: Http2Bounds;
  /** Counts the bodies of calls. Absent: they are not counted. */
  readonly meter?: BodyMeter;
  /** Called for each refusal before there is a call. */
  readonly onRefused?: (reason: RefusedAtPort) => void;
};

/** Builds the gRPC server. */
export function createGrpcServer(options: GrpcServerOptions): StoppableServer {
  const stopping = new AbortController();
  const shutdown = new AbortController();
  const answer = createAdapter(options, { stopping: stopping.signal, shutdown: shutdown.signal });
  const starts = new CallStarts();
  const { bounds = HTTP2_BOUNDS, onRefused = () => {}, tls = null } = options;
  const server = createHttp2Server(http2Options(bounds), tls, (request, response) => {
    if (!sessions.admit(request.stream)) return;
    starts.start(() => {
      if (request.stream.destroyed) return;
      try {
        answer(request, response);
      } catch {
        // Connect makes a URL of the authority and of the path, before it handles errors, and not every text can be one.
        onRefused("authority");
        request.stream.close(constants.NGHTTP2_PROTOCOL_ERROR);
      }
    });
  });
  const sessions = new BoundedSessions(server, bounds, onRefused);
  const connections = connectionsOf(server);
  return {
    listen: (address) => listenOn(server, address),
    async close(limitMs) {
      stopping.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      sessions.all.forEach((session) => session.close());
      await endWithin(limitMs, closed, {
        abort: () => shutdown.abort(new ConnectError("The server is stopping.", Code.Unavailable)),
        destroy() {
          sessions.all.forEach((session) => session.destroy());
          connections.destroyAll();
        },
      });
    },
  };
}

/** Answers a request of any registered method. It throws where the authority or the path of the request cannot be read. */
function createAdapter(
  { implementations, ports, ready, reflection = true, meter = uncounted }: GrpcServerOptions,
  { stopping, shutdown }: { stopping: AbortSignal; shutdown: AbortSignal },
): ReturnType<typeof connectNodeAdapter> {
  return connectNodeAdapter({
    ...PROTOCOLS,
    shutdownSignal: shutdown,
    requestGate: setRequestId,
    contextValues: (request) =>
      createCallValues({
        requestId: uuidv7(),
        receivedAtMs: Date.now(),
        credentials: readCredentials(request.rawHeaders, { rawHeaders: [], socket: request.socket }),
        environment: null,
        port: "grpc",
      }),
    routes: (router) => {
      const reflected = [...Object.values(services), Health];
      const names = reflected.map((service) => service.typeName);
      const open = {
        ...PROTOCOLS,
        interceptors: createOpenInterceptors(ports),
        readMaxBytes: OPEN_MAX_BYTES,
        acceptCompression: [],
        binaryOptions: { readUnknownFields: false },
      };
      const interceptors = createInterceptors(ports);
      registerServices(router, implementations, { interceptors, protocols: PROTOCOLS, meter });
      router.service(Health, createHealth(names, ready, stopping), open);
      if (reflection) {
        const answers = createReflection([...reflected, ServerReflection]);
        router.service(ServerReflection, answers, open);
        router.service(ServerReflectionAlpha, answers, open);
      }
      keepGrpcMessagesReadable(router);
    },
  });
}
