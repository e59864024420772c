import type { ClientProtocol } from "./protocol.ts";

/** A header by its name in small letters. Absent, null or in several lines: it is left out. */
type HeaderOf = (name: string) => string | string[] | null | undefined;

/** The headers of a request that belong to its protocol. */
export function protocolHeaders(
  { headerNames = [] }: ClientProtocol,
  headerOf: HeaderOf,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const name of headerNames) {
    const value = headerOf(name);
    if (typeof value === "string") headers[name] = value;
  }
  return headers;
}
