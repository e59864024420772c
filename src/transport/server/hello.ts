// Claude Code asks `HEAD /api/hello` when it starts, without a key. It is free and asks no database, so the network of its sender
// bounds it, as it bounds unknown credentials.

import type { FastifyInstance } from "fastify";
import { wideNetworkOf } from "../../identity/client-network.ts";
import { TooManyRequests } from "../../kernel/errors.ts";
import { MinuteWindows } from "../../kernel/minute-windows.ts";
import { addressOf } from "../calls/client-address.ts";
import { PLAIN_PATHS } from "../rest/allowed-methods.ts";

/** How often a network may ask in a minute. */
export const HELLOS_IN_A_MINUTE = 300;

/** Adds the path. Errors: TooManyRequests. */
export function registerHello(app: FastifyInstance, trustedProxies: number): void {
  const windows = new MinuteWindows(HELLOS_IN_A_MINUTE);
  app.get(PLAIN_PATHS.hello, (request, reply) => {
    const waitSeconds = windows.take(wideNetworkOf(addressOf(request.raw, trustedProxies)));
    if (waitSeconds > 0) throw new TooManyRequests(waitSeconds);
    return reply.code(204).send();
  });
}
