// The HTTP port of a process that may not serve yet: it lives, is not ready, and asks every caller to come back.

import { ServiceBusy } from "../../kernel/errors.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { packageVersion } from "../../kernel/version.ts";
import type { StoppableServer } from "../http/stoppable-server.ts";
import type { TlsFiles } from "../http/tls-files.ts";
import { PLAIN_PATHS } from "../rest/allowed-methods.ts";
import { answerError, ERROR_FORMAT_HEADER, errorFormatOf } from "../rest/error-answer.ts";
import { createPlainServer } from "./plain-server.ts";

const JSON_HEADERS = { "content-type": "application/json; charset=utf-8" };

/** Makes it, over TLS where there are files for it. */
export function createWaitingServer(tls: TlsFiles | null): StoppableServer {
  return createPlainServer(tls, (request, response) => {
    const { url } = request;
    if (url === PLAIN_PATHS.lives) {
      response.writeHead(200, JSON_HEADERS).end(JSON.stringify({ status: "ok", version: packageVersion() }));
    } else if (url === PLAIN_PATHS.ready) {
      response.writeHead(503, JSON_HEADERS).end(JSON.stringify({ status: "not ready" }));
    } else {
      const format = errorFormatOf({ url, inEnvelope: false, asked: request.headers[ERROR_FORMAT_HEADER] });
      const { status, headers, body } = answerError(new ServiceBusy(), format, uuidv7());
      // A body that is not read must not keep the connection.
      response.writeHead(status, { ...headers, connection: "close" }).end(body);
    }
  });
}
