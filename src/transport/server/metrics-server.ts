// Prometheus metrics on a port of their own, loopback by default: they tell more than callers should know.

import { createServer } from "node:http";
import type { Registry } from "prom-client";
import { endWithin, listenOn, type StoppableServer } from "../http/stoppable-server.ts";

/** Serves the registry at /metrics. */
export function createMetricsServer(registry: Pick<Registry, "metrics" | "contentType">): StoppableServer {
  const server = createServer((request, response) => {
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
  return {
    listen: (address) => listenOn(server, address),
    async close(limitMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      await endWithin(limitMs, closed, {
        abort: () => server.closeIdleConnections(),
        destroy: () => server.closeAllConnections(),
      });
    },
  };
}
