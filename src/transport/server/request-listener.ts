// The one listener of the HTTP port gets every request first. It refuses an unclear host, sets the shared headers of every answer,
// and passes plain chat requests to their own handler and all others to Fastify.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import { ValidationError, type DomainError } from "../../kernel/errors.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { type AnswerHeaders, setAnswerHeaders } from "../http/answer-headers.ts";
import { holdContinue } from "../http/body-intake.ts";
import { answerError, ERROR_FORMAT_HEADER, errorFormatOf } from "../rest/error-answer.ts";
import { hostProblemOf } from "../http/host-header.ts";
import { isMerchantPath } from "./error-handler.ts";
import { leaveBodyUnread } from "../http/unread-body.ts";

export type Listening = {
  readonly headers: AnswerHeaders;
  /** Handles a request without Fastify; false: it leaves the request to Fastify. */
  readonly takePlainChat: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Whether a path reads its body itself, not through the intake. */
  readonly readsItself: (url: string) => boolean;
};

/** Sets the listener of an application. Call it before the first request. */
export function listenForRequests(app: FastifyInstance, { headers, takePlainChat, readsItself }: Listening): void {
  const { server } = app;
  server.removeAllListeners("request");
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    // A request after one whose answer ends the connection cannot be answered.
    if (request.socket.writableEnded) return;
    const problem = hostProblemOf(request);
    if (problem !== null) refuse(request, response, { problem, headers });
    else if (!takePlainChat(request, response)) {
      setAnswerHeaders(response, headers.of(request));
      if (readsItself(request.url ?? "")) leaveUnreadOnAnswer(request, response);
      app.routing(request, response);
    }
  });
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    if (readsItself(request.url ?? "")) response.writeContinue();
    else holdContinue(request, response);
    server.emit("request", request, response);
  });
  // Node would answer these itself, without a body.
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    const details = [{ field: "Expect", rule: "http", message: "may be 100-continue only" }];
    refuse(request, response, { problem: new ValidationError(details), headers });
  });
}

/** Connect writes its answers itself, without the hooks of Fastify. */
function leaveUnreadOnAnswer(request: IncomingMessage, response: ServerResponse): void {
  const writeHead: ServerResponse["writeHead"] = response.writeHead.bind(response);
  response.writeHead = new Proxy(writeHead, {
    apply(bound, _self, head) {
      leaveBodyUnread(request, response);
      return Reflect.apply(bound, response, head);
    },
  });
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { problem, headers }: { problem: DomainError; headers: AnswerHeaders },
): void {
  const { url = "", headers: asked } = request;
  const format = errorFormatOf({ url, inEnvelope: isMerchantPath(url), asked: asked[ERROR_FORMAT_HEADER] });
  const answer = answerError(problem, format, uuidv7());
  leaveBodyUnread(request, response);
  const length = Buffer.byteLength(answer.body);
  response.writeHead(answer.status, { ...headers.of(request), ...answer.headers, "content-length": length });
  response.end(answer.body);
}
