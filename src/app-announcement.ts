// What a start says on standard output: where things are and, in a demo, a line to paste.

import type { Demo } from "./app-demo.ts";
import type { Config } from "./config.ts";

type Facts = {
  readonly config: Pick<Config, "host" | "publicUrl">;
  readonly ports: { readonly httpPort: number; readonly grpcPort: number; readonly metricsPort: number };
  readonly demo: Demo | null;
  readonly output: { out(text: string): void };
};

/** Says where the servers are and how to try them. */
export function announce({ config, ports, demo, output }: Facts): void {
  const baseUrl = config.publicUrl ?? `http://${config.host}:${ports.httpPort}`;
  const lines = [
    "Saldo is serving",
    `  REST, Connect   ${baseUrl}/v1`,
    `  gRPC            ${config.host}:${ports.grpcPort}`,
    `  OpenAPI         ${baseUrl}/openapi.json`,
    `  metrics         http://${config.host}:${ports.metricsPort}/metrics`,
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
  output.out(lines.join("\n"));
}
