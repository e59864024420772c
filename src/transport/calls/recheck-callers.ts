// A caller is authenticated when a call begins. A body may take a minute to arrive, and a stream may last half an hour. So the credentials
// are checked again behind a slow body, before anything is done, and during a stream, before a message is sent: after a revoked or expired
// token, an ended session or another role, the call is refused and the stream ends. The answer for an API key is paid for when it begins,
// so it is sent whole; its admission decides on the key again.

import type { Interceptor, StreamRequest, StreamResponse, UnaryRequest } from "@connectrpc/connect";
import type { Caller } from "#gen/saldo/options/v1/options_pb.ts";
import type { Principal } from "../../identity/principal.ts";
import { authorise } from "./authorise.ts";
import { principalOf, setPrincipal } from "./call.ts";

/** How long a stream goes on without a check; cached credentials are no older. */
const EVERY_MS = 5_000;

/** How old a decision on a caller may be when the body has arrived. */
const SLOW_BODY_MS = 100;

type Call = UnaryRequest | StreamRequest;

/** Decides again on the caller of a call whose body has arrived. Errors: those of `authorise`. */
export type RecheckBody = (req: Call) => Promise<void>;

/**
 * Makes the check behind a slow body. `authenticated` authenticates the caller again, and `callers` are those that the method takes. The
 * service then acts for the caller as it is now, in the account for which the call began.
 */
export function createBodyRecheck(
  authenticated: (req: Call) => Promise<Principal>,
  callers: (req: Call) => ReadonlySet<Caller>,
): RecheckBody {
  return async (req) => {
    const call = { values: req.contextValues };
    const began = principalOf(call);
    if (began.kind === "api_key" || began.kind === "public") return;
    const now = await authenticated(req);
    authorise(req.method, now, callers(req));
    if (!isOfSameAccount(began, now)) authorise(req.method, { kind: "public" });
    setPrincipal(call, now);
  };
}

/** Whether a body that took so long, in milliseconds since the caller was known, is a slow one. */
export function isSlowBody(ms: number): boolean {
  return ms >= SLOW_BODY_MS;
}

function isOfSameAccount(began: Principal, now: Principal): boolean {
  const accountOf = (principal: Principal) => ("accountId" in principal ? principal.accountId : null);
  return began.kind === now.kind && accountOf(began) === accountOf(now);
}

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
