// Connect refuses wrong headers of its protocol, such as a timeout that is no number, before any interceptor runs. Its answer
// gets the same facts and log line here as every other error.

import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { errorFromJsonBytes, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { principalOf, receivedAtMsOf, requestIdOf } from "./call.ts";
import { toConnectError } from "./errors.ts";
import { logCall, type CallLogger } from "./log.ts";

/** Completes the refusals of every handler registered so far. Call it once, after the last service. */
export function addFactsToDecodeErrors(router: ConnectRouter, logger: CallLogger): void {
  router.handlers.forEach((handler, index) => {
    const method = `${handler.service.typeName}/${handler.method.name}`;
    const telling = async (...[request]: Parameters<typeof handler>): Promise<UniversalServerResponse> => {
      const res = await handler(request);
      const values = request.contextValues;
      if (values === undefined || !isUnaryError(res)) return res;
      const bytes = await readAll(res.body);
      const error = errorFromJsonBytes(bytes, undefined, new ConnectError("the error cannot be read", Code.Internal));
      // Errors from behind the interceptors already have their details.
      if (error.details.length > 0) return withBody(res, bytes);
      const call = { values };
      const requestId = requestIdOf(call);
      const answered = toConnectError(error, requestId);
      logCall(logger, {
        method,
        requestId,
        receivedAtMs: receivedAtMsOf(call),
        principal: principalOf(call),
        error: answered,
      });
      return withBody(res, errorToJsonBytes(answered, undefined));
    };
    router.handlers[index] = Object.assign(telling, handler);
  });
}

type ErrorResponse = UniversalServerResponse & { readonly body: AsyncIterable<Uint8Array> };

function isUnaryError(res: UniversalServerResponse): res is ErrorResponse {
  return (
    res.status >= 400 &&
    res.body !== undefined &&
    res.header?.get("content-type") === "application/json" &&
    !res.header.has("content-encoding")
  );
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  return Buffer.concat(await Array.fromAsync(body));
}

function withBody(res: ErrorResponse, bytes: Uint8Array): UniversalServerResponse {
  res.header?.set("content-length", String(bytes.byteLength));
  return { ...res, body: once(bytes) };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
