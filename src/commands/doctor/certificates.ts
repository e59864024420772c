// The certificates of the ports: whether they can be read, belong to their keys, and how long they are valid.

import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { TlsFiles } from "../../app/config/config.ts";
import { DAY_MS } from "../../kernel/clock.ts";
import { type Check, failed, type Finding, ok, type CheckContext, warning } from "./check.ts";

/** Below so many days a new certificate should have come. */
const SOON_DAYS = 14;

/** A check for each port with a certificate. */
export function certificateChecks({ config: { httpTls, grpcTls, metricsTls } }: CheckContext): Check[] {
  const ports = { http: httpTls, grpc: grpcTls, metrics: metricsTls };
  return Object.entries(ports).flatMap(([port, files]) => {
    if (files === null) return [];
    const prefix = `SALDO_${port.toUpperCase()}_TLS`;
    const name = `${port} certificate`;
    const advice = `Set ${prefix}_CERT and ${prefix}_KEY to PEM files of a certificate and its key that this user can read.`;
    return [{ name, advice, look: async () => [await lookAt(name, files, prefix)] }];
  });
}

/** How a port of ours is asked over TLS: it must have this very certificate, signed by any authority. */
export type OwnTls = { readonly ca: Buffer; readonly allowPartialTrustChain: true; readonly servername: string };

/** The way to ask a port with these files. Errors: the certificate cannot be read. */
export async function ownTls({ certFile }: TlsFiles): Promise<OwnTls> {
  const ca = await readFile(certFile);
  const [, name = "localhost"] = /DNS:([^\s,]+)/.exec(new X509Certificate(ca).subjectAltName ?? "") ?? [];
  return { ca, allowPartialTrustChain: true, servername: name.replace("*", "any") };
}

async function lookAt(name: string, { certFile, keyFile }: TlsFiles, prefix: string): Promise<Finding> {
  const [certificate, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
  const read = new X509Certificate(certificate);
  if (!read.checkPrivateKey(createPrivateKey(key)))
    return failed(name, "the key is of another certificate", `Set ${prefix}_KEY to the key of ${prefix}_CERT.`);
  const days = Math.floor((read.validToDate.getTime() - Date.now()) / DAY_MS);
  if (read.validFromDate.getTime() > Date.now())
    return failed(
      name,
      `is valid from ${read.validFromDate.toISOString()} on`,
      "Look at this machine's clock, or take another certificate.",
    );
  if (days < 0)
    return failed(
      name,
      `has ended on ${read.validToDate.toISOString()}`,
      "Renew the certificate; it is read again by itself.",
    );
  if (days < SOON_DAYS)
    return warning(
      name,
      `ends in ${days === 1 ? "a day" : `${days} days`}`,
      "Renew the certificate; it is read again by itself.",
    );
  return ok(name, `is valid for ${days} days`);
}
