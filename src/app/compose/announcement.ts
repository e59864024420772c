// The text of a start on standard output: the addresses and, in a demo, a line to paste.

import type { Demo } from "../demo/demo.ts";
import type { Config } from "../config/config.ts";

type Facts = {
  readonly baseUrl: string;
  readonly grpcHost: string;
  readonly metricsHost: string;
  readonly metricsTls: Config["metricsTls"];
  readonly ports: { readonly httpPort: number; readonly grpcPort: number; readonly metricsPort: number };
  readonly demo: Demo | null;
  /** Makes the first operator; null where there is one. */
  readonly setUpLink: string | null;
  /** The file with the link where the output is no terminal, so that no journal keeps the link. */
  readonly setUpFile: string | null;
  readonly output: { out(text: string): void };
};

/** Where callers reach the HTTP port, without a slash at the end. */
export function baseUrlOf(
  { publicUrl, host, httpTls }: Pick<Config, "host" | "publicUrl" | "httpTls">,
  httpPort: number,
): string {
  if (publicUrl !== null) return publicUrl;
  // A server that listens everywhere is reached by its own people here.
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `${schemeOf(httpTls)}://${reachable.includes(":") ? `[${reachable}]` : reachable}:${httpPort}`;
}

function schemeOf(tls: Config["httpTls"]): string {
  return tls === null ? "http" : "https";
}

/** Writes the addresses of the servers and how to try them. */
export function announce(facts: Facts): void {
  const { baseUrl, grpcHost, metricsHost, metricsTls, ports, demo, setUpLink, setUpFile, output } = facts;
  const lines = [
    "Saldo is serving",
    `  dashboard       ${baseUrl}/`,
    `  REST, Connect   ${baseUrl}/v1`,
    `  gRPC            ${grpcHost}:${ports.grpcPort}`,
    `  OpenAPI         ${baseUrl}/openapi.json`,
    `  metrics         ${schemeOf(metricsTls)}://${metricsHost}:${ports.metricsPort}/metrics`,
  ];
  if (demo !== null) {
    lines.push(
      `  demo key        ${demo.key}`,
      `  demo account    ${demo.accountId}`,
      `  sandbox pair    ${demo.merchantApiKey}:${demo.merchantSecretKey}`,
      "",
      "Try it:",
      "",
      `  curl ${baseUrl}/v1/chat/completions -H "Authorization: Bearer ${demo.key}" -H "Content-Type: application/json" -d '{"model":"demo/small","messages":[{"role":"user","content":"Hello!"}]}'`,
      `  curl ${baseUrl}/sandbox/v1/merchant-transfers/calculate -u "${demo.merchantApiKey}:${demo.merchantSecretKey}" -H "Content-Type: application/json" -d '{"currencyCode":"TRX","amount":10}'`,
    );
  }
  if (setUpLink !== null) {
    const about = setUpFile === null ? "this link makes one, once:" : "the link in this file makes one, once:";
    lines.push("", `There is no operator yet. Within 30 minutes ${about}`, "", `  ${setUpFile ?? setUpLink}`);
  }
  output.out(lines.join("\n"));
}
