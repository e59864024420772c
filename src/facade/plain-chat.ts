// The way of a plain chat request around Fastify: a POST to the chat's own path with a JSON body of stated length, as every
// client library sends it. Whatever differs, however slightly, goes through Fastify and is answered, or refused, there; so this
// file decides nothing about what is allowed, it only knows what needs no deciding.

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import { uuidv7 } from "../kernel/ids.ts";
import { READ_MAX_BYTES } from "../rpc/call.ts";
import { type ChatPorts, answerChatRequest, chatMethod } from "./chat.ts";
import { routesOf } from "./http-rules.ts";
import { mountRoutes } from "./rest.ts";

/** Answers plain chat requests at the server's own listener and hands all others to Fastify. Call it before requests come. */
export function takePlainChats(app: FastifyInstance, ports: ChatPorts): void {
  const paths = new Set(mountRoutes(routesOf(chatMethod)).map(({ path }) => path));
  const server: Server = app.server;
  server.removeAllListeners("request");
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    if (isPlainChat(request, paths)) readThenAnswer(ports, request, response);
    else app.routing(request, response);
  });
}

function isPlainChat({ method, url, headers }: IncomingMessage, paths: ReadonlySet<string>): boolean {
  const length = Number(headers["content-length"]);
  return (
    method === "POST" &&
    paths.has(url ?? "") &&
    headers["content-type"] === "application/json" &&
    headers["content-encoding"] === undefined &&
    headers["transfer-encoding"] === undefined &&
    // Also false where no length is stated.
    length > 0 &&
    length <= READ_MAX_BYTES
  );
}

/** Node's parser holds the body to its stated length. A client that leaves before its end has asked for nothing. */
function readThenAnswer(ports: ChatPorts, request: IncomingMessage, response: ServerResponse): void {
  const requestId = uuidv7();
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("error", ignore);
  request.on("end", () => {
    const [first] = parts;
    const body = parts.length === 1 && first !== undefined ? first : Buffer.concat(parts);
    void answerChatRequest(ports, { requestId, body, raw: request }, response);
  });
}

function ignore(): void {}
