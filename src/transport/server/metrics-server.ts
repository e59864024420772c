// Prometheus metrics on a port of their own, loopback by default: they show more than callers should know.

import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Registry } from "prom-client";
import { connectionsOf, endWithin, listenOn, type StoppableServer } from "../http/stoppable-server.ts";
import { renewCertificate, type TlsFiles, tlsOptions } from "../http/tls-files.ts";

/** Serves the registry at /metrics, over TLS where there are files for it. */
export function createMetricsServer(
  registry: Pick<Registry, "metrics" | "contentType">,
  tls: TlsFiles | null = null,
): StoppableServer {
  const server = createListener(tls, (request, response) => {
    if (request.method !== "GET" || request.url !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { "content-type": registry.contentType }).end(text),
      // A collector that fails is shown to the scraper as a failed scrape.
      () => response.writeHead(500).end(),
    );
  });
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
