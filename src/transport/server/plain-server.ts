// A small server without routes, for the ports that are not for callers: metrics, and the HTTP port of a process that waits.

import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { connectionsOf, endWithin, listenOn, type StoppableServer } from "../http/stoppable-server.ts";
import { renewCertificate, type TlsFiles, tlsOptions } from "../http/tls-files.ts";

/** Makes it, over TLS where there are files for it. */
export function createPlainServer(tls: TlsFiles | null, answer: RequestListener): StoppableServer {
  const server = createListener(tls, answer);
  const connections = connectionsOf(server);
  return {
    listen: (address) => listenOn(server, address),
    async close(limitMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      await endWithin(limitMs, closed, {
        abort: () => server.closeIdleConnections(),
        destroy: () => connections.destroyAll(),
      });
    },
  };
}

function createListener(tls: TlsFiles | null, answer: RequestListener): Server {
  if (tls === null) return createServer(answer);
  const server = createSecureServer(tlsOptions(tls), answer);
  renewCertificate(server, tls);
  return server;
}
