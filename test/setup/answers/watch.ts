// Every answer of an HTTP server of ours in this process, compared with openapi/openapi.json. The server's own side is watched, so
// that it does not matter which client asks.

import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { DocumentedAnswers } from "./document.ts";

const require = createRequire(import.meta.url);

/** Paths of the contracts. Pages, RPC, sign-in and webhooks have none of these beginnings. */
const IN_CONTRACT = /^(\/sandbox)?\/v1(\/|$|\?)/;
/** A longer answer is one that a test of memory or of back-pressure has made up. */
const MAX_BYTES = 4_194_304;
/** Every answer of the port has it (src/transport/http/answer-headers.ts), and no upstream that a test plays. */
const OURS = "cross-origin-resource-policy";

let known: DocumentedAnswers | null = null;

/** Loaded with the first answer: most processes of the tests have none to compare. */
function documentedAnswers(): DocumentedAnswers {
  if (known !== null) return known;
  const loaded = require("./document.ts") as { DocumentedAnswers: new () => DocumentedAnswers };
  known = new loaded.DocumentedAnswers();
  return known;
}

/** Calls `report` with each contradiction, from now on. */
export function watchAnswers(report: (problem: string) => void): void {
  subscribe("http.server.request.start", (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    if (IN_CONTRACT.test(request.url ?? "")) keepAnswer(request, response, report);
  });
}

function keepAnswer(request: IncomingMessage, response: ServerResponse, report: (problem: string) => void): void {
  const pieces: Buffer[] = [];
  let length = 0;
  const keep = (chunk: unknown): void => {
    if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) return;
    length += chunk.length;
    // A copy: the memory of a piece is used again once it is written.
    if (length <= MAX_BYTES) pieces.push(Buffer.from(chunk as Uint8Array));
    else pieces.length = 0;
  };
  for (const name of ["write", "end"] as const) {
    const original = response[name];
    response[name] = function (this: ServerResponse, ...values: unknown[]) {
      keep(values[0]);
      return Reflect.apply(original, this, values);
    } as never;
  }
  response.once("close", () => {
    const headers = headersOf(response);
    if (!headers.has(OURS) || length > MAX_BYTES) return;
    const problem = problemOf(request, response, headers, Buffer.concat(pieces).toString("utf8"));
    if (problem !== null) report(`${request.method} ${request.url} ${response.statusCode}: ${problem}`);
  });
}

/** The headers as they were written: Node remembers no others that were given to writeHead. */
function headersOf(response: ServerResponse): Headers {
  const written: unknown = Reflect.get(response, "_header");
  const lines = typeof written === "string" ? written.split("\r\n").slice(1) : [];
  const pairs = lines
    .filter((line) => line.includes(":"))
    .map((line) => line.split(/:\s*(.*)/s, 2) as [string, string]);
  return new Headers(pairs);
}

function problemOf(
  { method = "", url = "" }: IncomingMessage,
  { statusCode, writableFinished }: ServerResponse,
  headers: Headers,
  text: string,
): string | null {
  if (method === "HEAD" || (method === "OPTIONS" && statusCode === 204)) return null;
  const mediaType = headers.get("content-type")?.split(";", 1)[0] ?? "";
  // Of an answer that was cut, only the events that were written to their end are compared.
  const bodies = mediaType === "text/event-stream" ? eventsOf(text) : writableFinished ? [text] : [];
  const isFile = !/json|^text\/event-stream$/.test(mediaType) && statusCode === 200;
  // A file is a text to its schema.
  const values = bodies.map((body) => (isFile ? body : parse(body)));
  if (values.includes(undefined)) return `no JSON in ${text.slice(0, 600)}`;
  const documented = documentedAnswers();
  const operation = documented.operationOf(method, url);
  if (operation !== null) return documented.problemOf(operation, statusCode, mediaType, values);
  return statusCode < 400 ? "no operation is documented" : documented.problemOfError(values);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The data of every event that was written to its end. */
function eventsOf(text: string): string[] {
  const events = text.split(/\r?\n\r?\n/).slice(0, -1);
  const data = events.map((event) =>
    event
      .split(/\r?\n/)
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).trimStart())
      .join("\n"),
  );
  return data.filter((each) => each !== "" && each !== "[DONE]");
}
