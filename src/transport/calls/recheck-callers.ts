// Who calls is found out when a call begins, and a stream may last half an hour. So the credentials of whoever reads one are looked at again
// while it lasts, before a message goes out: a token that was revoked or has expired, and a session that was ended, read no
// further. A key's answer is paid for when it begins, and is given whole.

import type { Interceptor, StreamResponse } from "@connectrpc/connect";
import type { Principal } from "../../identity/principal.ts";
import { authorise } from "./authorise.ts";
import { principalOf } from "./call.ts";

/** How long a stream goes on without a look; what is remembered of credentials is no older. */
const EVERY_MS = 5_000;

type Call = Parameters<ReturnType<Interceptor>>[0];

/** Makes the interceptor. `authenticated` finds out anew who calls. */
export function recheckCallers(authenticated: (req: Call) => Promise<Principal>): Interceptor {
  return (next) => async (req) => {
    const res = await next(req);
    const { kind } = principalOf({ values: req.contextValues });
    if (!res.stream || kind === "api_key" || kind === "public") return res;
    const requireSame = async (): Promise<void> => {
      const { kind: now } = await authenticated(req);
      if (now !== kind) authorise(req.method, { kind: "public" });
    };
    return { ...res, message: rechecked(res.message, requireSame) };
  };
}

async function* rechecked(messages: StreamResponse["message"], requireSame: () => Promise<void>) {
  let lookedAt = performance.now();
  for await (const message of messages) {
    if (performance.now() - lookedAt >= EVERY_MS) {
      await requireSame();
      lookedAt = performance.now();
    }
    yield message;
  }
}
