// The HTTP port of a process that may not serve yet: it lives, is not ready, and asks every caller to come back.

import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { ServiceBusy } from "../../kernel/errors.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { packageVersion } from "../../kernel/version.ts";
import { connectionsOf, endWithin, listenOn, type StoppableServer } from "../http/stoppable-server.ts";
import { renewCertificate, type TlsFiles, tlsOptions } from "../http/tls-files.ts";
import { PLAIN_PATHS } from "../rest/allowed-methods.ts";
import { answerError, ERROR_FORMAT_HEADER, errorFormatOf } from "../rest/error-answer.ts";

/** Makes it, over TLS where there are files for it. */
export function createWaitingServer(tls: TlsFiles | null): StoppableServer {
  const server = createListener(tls, (request, response) => {
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
  const connections = connectionsOf(server);
  return {
    listen: (address) => listenOn(server, address),
    async close(limitMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      await endWithin(limitMs, closed, {
        abort: () => server.closeIdleConnections(),
        destroy: () => connections.destroyAll(),
      });
    },
  };
}

const JSON_HEADERS = { "content-type": "application/json; charset=utf-8" };

function createListener(tls: TlsFiles | null, answer: RequestListener): Server {
  if (tls === null) return createServer(answer);
  const server = createSecureServer(tlsOptions(tls), answer);
  renewCertificate(server, tls);
  return server;
}
