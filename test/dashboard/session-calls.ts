// Calls the contracts as a page does: with the cookie of a browser's session, from our own site.

import type { Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import type { Dashboard, Visit } from "./open-dashboard.ts";

/** Makes clients with the session of a visit. */
export async function callsOf({ saldo }: Dashboard, { context }: Visit): Promise<Transport> {
  const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  return createConnectTransport({
    baseUrl: saldo.httpUrl,
    httpVersion: "1.1",
    interceptors: [
      (next) => (request) => {
        request.header.set("cookie", cookie);
        request.header.set("origin", saldo.httpUrl);
        return next(request);
      },
    ],
  });
}
