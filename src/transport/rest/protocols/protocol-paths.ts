// The paths of protocols beside chat. They decide on the form of errors and on the headers that credentials are read from.

import type { IncomingMessage } from "node:http";
import { type Credentials, withApiKey } from "../../calls/call.ts";

/** The protocols beside chat, by the form of their errors. */
export type ProtocolFormat = "messages" | "responses" | "gemini";

const PATHS: readonly [RegExp, ProtocolFormat][] = [
  [/^\/v1\/messages(?:[/?]|$)/, "messages"],
  [/^\/v1\/responses(?:[/?]|$)/, "responses"],
  [/^\/v1beta(?:[/?]|$)/, "gemini"],
  // Newer clients of Google write `v1`, where the other protocols are.
  [/^\/v1\/models\/[^?]*:(?:generateContent|streamGenerateContent|countTokens)(?:\?|$)/, "gemini"],
];

/** The headers beside Authorization in which clients of a protocol send their key. */
const KEY_HEADERS: Partial<Record<ProtocolFormat, string>> = { messages: "x-api-key", gemini: "x-goog-api-key" };

/** The protocol whose path this is, or begins like it. Null: it is of none of them. */
export function protocolFormatAt(url: string): ProtocolFormat | null {
  return PATHS.find(([path]) => path.test(url))?.[1] ?? null;
}

/** The credentials of a request, with those that the protocol of its path has in a header of its own. */
export function protocolCredentials(
  credentials: Credentials,
  { url = "", rawHeaders }: Pick<IncomingMessage, "url" | "rawHeaders">,
): Credentials {
  const format = protocolFormatAt(url);
  const header = format === null ? undefined : KEY_HEADERS[format];
  return header === undefined ? credentials : withApiKey(credentials, rawHeaders, header);
}
