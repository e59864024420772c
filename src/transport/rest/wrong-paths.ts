// What to use instead of a path that does not exist. Clients put it together from a base URL and a path of their own, so most
// wrong ones are a right one with something missing, repeated or in front.

import { NotFound } from "../../kernel/errors.ts";

/** A path that does not exist, with what to use instead. Its client may be any library. */
export class WrongPath extends NotFound {}

const NO_PATH = "There is no such path.";
const SEE_OPENAPI = `${NO_PATH} /openapi.json has every path.`;
const BASE_URLS = "A base URL ends in /v1 for OpenAI's clients, and before /v1 for Anthropic's.";
const VERSION = "/v1";

const GEMINI = /^\/v1(alpha|beta)\d*(\/|$)/;
const GEMINI_PATHS =
  "Of Gemini's API there are generateContent, streamGenerateContent and countTokens at /v1beta/models/{id}. Its base URL ends before /v1beta.";

/** Paths of protocols that are served in part, with what to use instead. */
const ABSENT: readonly (readonly [RegExp, string])[] = [
  [/\/responses\/compact$/, "Nothing is compacted here. Ask a model for a summary at /v1/responses."],
  [/\/responses\/[^/]+(\/(cancel|input_items))?$/, "Responses are not stored. Send the whole conversation in `input`."],
  [/(?<!\/chat)\/completions?$/, `Use /v1/chat/completions. ${BASE_URLS}`],
];

/** The error of a path that does not exist. */
export function wrongPath(url: string, served: Iterable<string>): NotFound {
  const message = wrongPathMessage(url, served);
  return message === NO_PATH || message === SEE_OPENAPI ? new NotFound(message) : new WrongPath(message);
}

/** The message for a path that does not exist. `served` are paths without variables, such as `/v1/models`. */
export function wrongPathMessage(url: string, served: Iterable<string>): string {
  const path = plainPath(url);
  const tails = [...served].filter((each) => each.startsWith(`${VERSION}/`)).map((each) => each.slice(VERSION.length));
  const longestFirst = tails.toSorted((one, other) => other.length - one.length);
  if (GEMINI.test(path)) return `${NO_PATH} ${GEMINI_PATHS}`;
  const right = longestFirst.find((tail) => singular(path).endsWith(singular(tail)));
  if (right !== undefined) return `${NO_PATH} Use ${VERSION}${right}. ${BASE_URLS}`;
  const absent = ABSENT.find(([pattern]) => pattern.test(path));
  if (absent !== undefined) return `${NO_PATH} ${absent[1]}`;
  if (/\/models\/./.test(path)) return `${NO_PATH} Use /v1/models/{id}. ${BASE_URLS}`;
  return path.startsWith(`${VERSION}/`) ? SEE_OPENAPI : NO_PATH;
}

/** The path without its query, repeated slashes and the last slash. */
function plainPath(url: string): string {
  const [path = ""] = url.split("?", 1);
  return path.replaceAll(/\/+/g, "/").replace(/\/$/, "");
}

/** `/chat/completion` is meant as `/chat/completions`. */
function singular(path: string): string {
  return path.replaceAll(/s(?=\/|$)/g, "");
}
