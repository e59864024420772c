// A caller is authenticated when a call begins, and a stream may last half an hour. So the credentials are checked again during
// the stream, before a message is sent: after a revoked or expired token, or an ended session, the stream ends. The answer for
// an API key is paid for when it begins, so it is sent whole.

import type { Interceptor, StreamResponse } from "@connectrpc/connect";
import type { Principal } from "../../identity/principal.ts";
import { authorise } from "./authorise.ts";
import { principalOf } from "./call.ts";

/** How long a stream goes on without a check; cached credentials are no older. */
const EVERY_MS = 5_000;

type Call = Parameters<ReturnType<Interceptor>>[0];

/** Makes the interceptor. `authenticated` authenticates the caller again. */
export function recheckCallers(authenticated: (req: Call) => Promise<Principal>): Interceptor {
  return (next) => async (req) => {
    const res = await next(req);
    const began = principalOf({ values: req.contextValues });
    if (!res.stream || began.kind === "api_key" || began.kind === "public") return res;
    const requireSame = async (): Promise<void> => {
      if (!isSame(began, await authenticated(req))) authorise(req.method, { kind: "public" });
    };
    return { ...res, message: rechecked(res.message, requireSame) };
  };
}

/** Whether the caller is who it was when the call began; of a person, with the same role in the same account. */
function isSame(began: Principal, now: Principal): boolean {
  if (began.kind !== "session" || now.kind !== "session") return began.kind === now.kind;
  return began.accountId === now.accountId && began.role === now.role;
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
