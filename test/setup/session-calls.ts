// Calls the contracts as a page does: with the cookie of a browser's session, from our own site.

import type { Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import type { SaldoHere } from "./saldo-here.ts";

/** Makes calls with the cookies of a session. */
export function callsWith({ httpUrl }: Pick<SaldoHere, "httpUrl">, cookie: string): Transport {
  return createConnectTransport({
    baseUrl: httpUrl,
    httpVersion: "1.1",
    interceptors: [
      (next) => (request) => {
        request.header.set("cookie", cookie);
        request.header.set("origin", httpUrl);
        return next(request);
      },
    ],
  });
}
