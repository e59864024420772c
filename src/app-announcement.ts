// What a start says on standard output: where things are and, in a demo, a line to paste.

import type { Demo } from "./app-demo.ts";
import type { Config } from "./config.ts";

type Facts = {
  readonly baseUrl: string;
  readonly host: string;
  readonly ports: { readonly httpPort: number; readonly grpcPort: number; readonly metricsPort: number };
  readonly demo: Demo | null;
  /** Makes the first operator; null where there are people. */
  readonly setUpLink: string | null;
  readonly output: { out(text: string): void };
};

/** Where callers reach the HTTP port, without a slash at the end. */
export function baseUrlOf({ publicUrl, host }: Pick<Config, "host" | "publicUrl">, httpPort: number): string {
  if (publicUrl !== null) return publicUrl;
  // A server that listens everywhere is reached by its own people here.
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${httpPort}`;
}

/** Says where the servers are and how to try them. */
export function announce({ baseUrl, host, ports, demo, setUpLink, output }: Facts): void {
  const lines = [
    "Saldo is serving",
    `  dashboard       ${baseUrl}/`,
    `  REST, Connect   ${baseUrl}/v1`,
    `  gRPC            ${host}:${ports.grpcPort}`,
    `  OpenAPI         ${baseUrl}/openapi.json`,
    `  metrics         http://${host}:${ports.metricsPort}/metrics`,
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
    lines.push(
      "",
      "Nobody has signed up yet. Within 30 minutes this link makes an operator, once:",
      "",
      `  ${setUpLink}`,
    );
  }
  output.out(lines.join("\n"));
}
