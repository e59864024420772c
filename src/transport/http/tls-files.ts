// TLS with a certificate and its key from files, for all our ports. Changed files are read again, so a renewed certificate needs
// no restart.

import { readFileSync, statSync } from "node:fs";
import type { Server as TlsServer, TlsOptions } from "node:tls";

/** A certificate and its key, as PEM files. */
export type TlsFiles = { readonly certFile: string; readonly keyFile: string };

/** The ciphers of TLS 1.2 with forward secrecy. TLS 1.3 has no others. */
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

/** The limit of a TLS handshake; Node would wait two minutes. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** How soon a renewed certificate is used. */
const LOOK_AGAIN_MS = 10_000;

/** The options of a TLS server. Errors: those of reading the files. */
export function tlsOptions(files: TlsFiles): TlsOptions {
  return { ...read(files), ...PROTOCOL, handshakeTimeout: HANDSHAKE_TIMEOUT_MS };
}

/** Makes a server with the options of these files use a renewed certificate, until it is closed. */
export function renewCertificate(server: TlsServer, files: TlsFiles, lookAgainMs = LOOK_AGAIN_MS): void {
  // The first check reads the files in any case: they may have changed since the server was made.
  let seen: string | null = null;
  const timer = setInterval(() => {
    try {
      const now = changedAt(files);
      if (now === seen) return;
      server.setSecureContext({ ...read(files), ...PROTOCOL });
      seen = now;
    } catch {
      // The files are being replaced, or cannot be read: the former certificate is used until both match.
    }
  }, lookAgainMs).unref();
  server.once("close", () => clearInterval(timer));
}

function read({ certFile, keyFile }: TlsFiles): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(certFile), key: readFileSync(keyFile) };
}

function changedAt({ certFile, keyFile }: TlsFiles): string {
  return [certFile, keyFile].map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0).join(" ");
}
