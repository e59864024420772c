// The cookie that names the session. Over https its name begins with __Host-, by which browsers make sure that only this
// host, over https, has set it. Over plain http, as on the loopback of a demo, they would not keep such a cookie.

/** How the cookies of this service are called and kept, by the address people reach it at. */
export type CookiePlan = {
  readonly isSecure: boolean;
  readonly sessionName: string;
  readonly deviceName: string;
  readonly signUpName: string;
};

/** The plan for an address. */
export function cookiePlanOf(baseUrl: string): CookiePlan {
  const isSecure = baseUrl.startsWith("https:");
  const prefix = isSecure ? "__Host-" : "";
  const [sessionName, deviceName] = [`${prefix}saldo_session`, `${prefix}saldo_device`];
  return { isSecure, sessionName, deviceName, signUpName: `${prefix}saldo_sign_up` };
}

/** The value of a cookie in a Cookie header. Null: it is not there, or there twice, and then one of them is not ours. */
export function readCookie(header: string, name: string): string | null {
  let found: string | null = null;
  for (const part of header.split(";")) {
    const at = part.indexOf("=");
    if (at < 0 || part.slice(0, at).trim() !== name) continue;
    if (found !== null) return null;
    found = part.slice(at + 1).trim();
  }
  return found === null ? null : decode(found);
}

/** A Cookie header without the cookie of that name. */
export function withoutCookie(header: string, name: string): string {
  return header
    .split(";")
    .filter((part) => part.slice(0, Math.max(0, part.indexOf("="))).trim() !== name)
    .join(";");
}

function decode(value: string): string | null {
  try {
    return decodeURIComponent(value);
  } catch {
    return null; // not written by us
  }
}
