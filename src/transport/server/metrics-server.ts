// Prometheus metrics on a port of their own, loopback by default: they show more than callers should know.

import type { StoppableServer } from "../http/stoppable-server.ts";
import { type MeasuredMetric, OPEN_METRICS_TYPE, wantsOpenMetrics, writeOpenMetrics } from "./open-metrics.ts";
import type { TlsFiles } from "../http/tls-files.ts";
import { createPlainServer } from "./plain-server.ts";

/** What is served: the plain text with its media type, and the metrics themselves, which OpenMetrics is written from. */
export type MetricsSource = {
  readonly contentType: string;
  metrics(): Promise<string>;
  getMetricsAsJSON(): Promise<readonly MeasuredMetric[]>;
};

/** Serves metrics at /metrics, over TLS where there are files for it: OpenMetrics to a scraper that asks for it, or plain text. */
export function createMetricsServer(source: MetricsSource, tls: TlsFiles | null = null): StoppableServer {
  return createPlainServer(tls, (request, response) => {
    if (request.method !== "GET" || request.url !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    textFor(source, request.headers.accept).then(
      ({ type, text }) => response.writeHead(200, { "content-type": type, vary: "accept" }).end(text),
      // A collector that fails is shown to the scraper as a failed scrape.
      () => response.writeHead(500).end(),
    );
  });
}

async function textFor(source: MetricsSource, accept: string | undefined): Promise<{ type: string; text: string }> {
  if (!wantsOpenMetrics(accept)) return { type: source.contentType, text: await source.metrics() };
  return { type: OPEN_METRICS_TYPE, text: writeOpenMetrics(await source.getMetricsAsJSON()) };
}
