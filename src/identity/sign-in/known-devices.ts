// Devices that a person has signed in from. Guessing passwords uses up the tries of an address. A known device of its owner has
// tries of its own, so that guesses lock no owner out. The cookie names its address, by a keyed hash, and nothing else.

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { CookiePlan } from "../session-cookie.ts";
import { readCookie } from "../session-cookie.ts";

const MAX_AGE_SECONDS = 180 * 24 * 3_600;
const FORM = /^([0-9A-Za-z_-]{22})\.([0-9A-Za-z_-]{43})$/;

/** The Set-Cookie header that makes this device one of the person's. */
export function deviceCookie(plan: CookiePlan, secret: string, email: string): string {
  const nonce = randomBytes(16).toString("base64url");
  const value = `${nonce}.${sign(secret, email, nonce).toString("base64url")}`;
  const secure = plan.isSecure ? "; Secure" : "";
  return `${plan.deviceName}=${value}; Max-Age=${MAX_AGE_SECONDS}; Path=/; HttpOnly; SameSite=Strict${secure}`;
}

/** The device of a request, if the person of that address has signed in from it. */
export function knownDevice(
  cookies: string,
  { plan, secret, email }: { plan: CookiePlan; secret: string; email: string },
) {
  const [, nonce = "", signature = ""] = FORM.exec(readCookie(cookies, plan.deviceName) ?? "") ?? [];
  if (nonce === "") return null;
  return timingSafeEqual(sign(secret, email, nonce), Buffer.from(signature, "base64url")) ? nonce : null;
}

function sign(secret: string, email: string, nonce: string): Buffer {
  return createHmac("sha256", secret).update(`device\n${email}\n${nonce}`).digest();
}
