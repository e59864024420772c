// Whether a browser's request comes from our own pages. A browser sends cookies with every request, also with one that another
// site caused. They count only where the browser itself names our page as the origin. Content types do the rest: no method
// takes one that a form of another site could send.

import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { readCredentials, readSingle, type Credentials } from "../calls/call.ts";

/** Whether a request comes from a page of ours. */
export type SameOrigin = (request: IncomingMessage) => boolean;

/**
 * Makes the check. `publicUrl` is our public address; null: it is the request's own Host. Then only IP addresses count, this
 * machine's own name, and `boundHost`, the name the server listens at. A stranger can point any other name here, and the browser
 * would take pages under it for ours.
 */
export function createSameOriginCheck(
  publicUrl: string | null,
  boundHost: string,
  { isEncrypted = false } = {},
): SameOrigin {
  const scheme = isEncrypted ? "https" : "http";
  const publicOrigin = publicUrl === null ? null : new URL(publicUrl).origin;
  return (request) => {
    const origin = readSingle(request.rawHeaders, "origin");
    const site = readSingle(request.rawHeaders, "sec-fetch-site");
    if (origin.count > 1 || site.count > 1) return false;
    if (site.value !== null && site.value !== "same-origin") return false;
    const host = readSingle(request.rawHeaders, "host").value?.toLowerCase() ?? null;
    if (publicOrigin === null && (host === null || !isOwnHost(host, boundHost))) return false;
    // Browsers omit the Origin for reads from their own site, and send the other header for them.
    if (origin.value === null)
      return site.value === "same-origin" && (request.method === "GET" || request.method === "HEAD");
    if (publicOrigin !== null) return origin.value === publicOrigin;
    return origin.value === `${scheme}://${host}`;
  };
}

function isOwnHost(host: string, boundHost: string): boolean {
  const name = host.replace(/:\d+$/, "");
  return name === "localhost" || name === boundHost.toLowerCase() || isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0;
}

/** The credentials of a request on the port that browsers use. */
export function readWebCredentials(request: IncomingMessage, isSameOrigin: SameOrigin): Credentials {
  const credentials = readCredentials(request.rawHeaders, request);
  const cookies = readSingle(request.rawHeaders, "cookie").value;
  return cookies === null || !isSameOrigin(request) ? credentials : { ...credentials, cookies };
}
