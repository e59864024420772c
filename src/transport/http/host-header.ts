// Which host a request is for. Requests that do not say so clearly are refused before anything looks at them: what
// stands behind builds addresses from it, and a proxy in front may have looked at another of two.

import type { IncomingMessage } from "node:http";
import { ValidationError } from "../../kernel/errors.ts";

const HOST = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,255})(:[0-9]{1,5})?$/i;
/** An address in absolute form, as clients send it to a proxy. */
const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/is;

/** Most requests name the host of the one before. */
let lastGoodHost: string | null = null;

/**
 * Finds what is wrong with the host of a request; null: nothing. An address in absolute form that names the same host is written
 * anew as its path, so that everything behind reads one form.
 */
export function hostProblemOf(request: IncomingMessage): ValidationError | null {
  const host = request.headers.host;
  if (host === undefined) {
    // HTTP/1.0 has no such header.
    return request.httpVersionMinor === 0 && request.httpVersionMajor === 1
      ? relative(request, null)
      : problem(MISSING);
  }
  if (host !== lastGoodHost) {
    if (!isHost(host)) return problem(MALFORMED);
    lastGoodHost = host;
  }
  if (countOfHosts(request.rawHeaders) > 1) return problem(SEVERAL);
  return relative(request, host);
}

const SLASH = 47;
const MISSING = "is missing";
const MALFORMED = "must be a name or an address, and a port at most";
const SEVERAL = "must be sent once";
const OTHER = "must be the host of the request's address";

function relative(request: IncomingMessage, host: string | null): ValidationError | null {
  const url = request.url ?? "";
  if (url.charCodeAt(0) === SLASH) return null;
  const [, authority = "", rest = ""] = ABSOLUTE.exec(url) ?? [];
  // `*` and what is no address at all are for the router to refuse.
  if (authority === "") return null;
  if (authority.toLowerCase() !== host?.toLowerCase()) return problem(OTHER);
  request.url = rest.startsWith("/") ? rest : `/${rest}`;
  return null;
}

function isHost(host: string): boolean {
  return HOST.test(host) && URL.canParse(`http://${host}`);
}

/** Node keeps the first of several and drops the others without a word. */
function countOfHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name !== undefined && name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}

function problem(message: string): ValidationError {
  return new ValidationError([{ field: "Host", rule: "http", message }]);
}
