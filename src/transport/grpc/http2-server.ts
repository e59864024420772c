// The HTTP/2 server under gRPC: cleartext, or with a certificate from files, which is read again when a file has changed.

import { readFileSync, statSync } from "node:fs";
import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type ServerOptions,
} from "node:http2";

/** A certificate and its key, as PEM files. */
export type TlsFiles = { readonly certFile: string; readonly keyFile: string };

type Handler = NonNullable<Parameters<typeof createServer>[1]>;

/** Of TLS 1.2 what keeps past connections secret when the key is lost. TLS 1.3 has nothing else. */
const FORWARD_SECRET = [
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
];
const TLS13 = ["TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"];
const PROTOCOL = { minVersion: "TLSv1.2", ciphers: [...TLS13, ...FORWARD_SECRET].join(":") } as const;

/** How soon a renewed certificate is used. */
const LOOK_AGAIN_MS = 10_000;

/** Makes the server. Errors: what kept a file of the certificate from being read. */
export function createHttp2Server(
  options: ServerOptions,
  tls: TlsFiles | null,
  handler: Handler,
  lookAgainMs = LOOK_AGAIN_MS,
): Http2Server | Http2SecureServer {
  if (tls === null) return createServer(options, handler);
  const server = createSecureServer({ ...options, ...read(tls), ...PROTOCOL }, handler as never);
  let seen = changedAt(tls);
  const timer = setInterval(() => {
    const now = changedAt(tls);
    if (now === seen) return;
    try {
      server.setSecureContext({ ...read(tls), ...PROTOCOL });
      seen = now;
    } catch {
      // The files are being replaced: the former certificate serves until both fit together.
    }
  }, lookAgainMs).unref();
  server.once("close", () => clearInterval(timer));
  return server;
}

function read({ certFile, keyFile }: TlsFiles): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(certFile), key: readFileSync(keyFile) };
}

function changedAt({ certFile, keyFile }: TlsFiles): string {
  return [certFile, keyFile].map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0).join(" ");
}
