// The HTTP/2 server under gRPC: cleartext, or with a certificate from files.

import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type ServerOptions,
} from "node:http2";
import { renewCertificate, type TlsFiles, tlsOptions } from "../http/tls-files.ts";

type Handler = NonNullable<Parameters<typeof createServer>[1]>;

/** Makes the server. Errors: those of reading the files of the certificate. */
export function createHttp2Server(
  options: ServerOptions,
  tls: TlsFiles | null,
  handler: Handler,
  lookAgainMs?: number,
): Http2Server | Http2SecureServer {
  if (tls === null) return createServer(options, handler);
  const server = createSecureServer({ ...options, ...tlsOptions(tls) }, handler as never);
  renewCertificate(server, tls, lookAgainMs);
  return server;
}
