// Which addresses of receivers may be called. The address behind a name is checked again at each call.

import { ValidationError } from "../kernel/errors.ts";
import { isLoopbackHost, kindOfHost } from "../outbound/public-address.ts";

/** The addresses that the operator of this service allows. */
export type CallbackPlaces = {
  /** Whether receivers of the sandbox may be on this machine, for trials. */
  readonly allowLoopback: boolean;
  /** The hosts that may be called; `*.` before a name means all names below it. Empty or left out: any of the public internet. */
  readonly hosts?: readonly string[];
};

/** In the sandbox no real money depends on a call. */
export type CallbackUrlRules = CallbackPlaces & { readonly environment: "sandbox" | "production" };

/** What is wrong with an address, by its rule. */
export const URL_PROBLEMS = {
  "url.form": "must be an address that begins with https://",
  "url.credentials": "must hold no user and no password",
  "url.fragment": "must have no fragment",
  "url.https": "must begin with https:// in production",
  "url.port": "must have port 80, 443, or one from 1024 on",
  "url.private": "must be an address of the public internet",
  "url.host": "must be on a host that the operator of this service has listed",
} as const;

/** Checks an address that shall be called. Errors: ValidationError, whose details name what is wrong. */
export function checkCallbackUrl(text: string, rules: CallbackUrlRules): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw problem("url.form");
  }
  if (url.username !== "" || url.password !== "") throw problem("url.credentials");
  if (url.hash !== "") throw problem("url.fragment");
  if (url.protocol === "http:" && rules.environment === "production") {
    throw problem("url.https");
  }
  if (!isCallablePort(url.port)) throw problem("url.port");
  const isOurs = mayCallLoopback(rules) && isLoopbackHost(url.hostname);
  if (kindOfHost(url.hostname) === "private" && !isOurs) {
    throw problem("url.private");
  }
  if (!isOurs && !isListed(url.hostname, rules.hosts ?? [])) {
    throw problem("url.host");
  }
  return url;
}

function isListed(host: string, patterns: readonly string[]): boolean {
  const isOn = (pattern: string): boolean =>
    pattern.startsWith("*.") ? host.endsWith(pattern.slice(1)) : host === pattern;
  return patterns.length === 0 || patterns.some(isOn);
}

/** Below 1024 listen mail servers, remote shells and the like, which must not be called by us for others. Empty: the default. */
function isCallablePort(port: string): boolean {
  return port === "" || port === "80" || port === "443" || Number(port) >= 1_024;
}

/** Whether this machine may be called in the environment. */
export function mayCallLoopback({ environment, allowLoopback }: CallbackUrlRules): boolean {
  return allowLoopback && environment === "sandbox";
}

function problem(rule: keyof typeof URL_PROBLEMS): ValidationError {
  return new ValidationError([{ field: "url", rule, message: URL_PROBLEMS[rule] }]);
}
