// A caller is authenticated when the headers of a call have arrived, and the body may take a minute. Behind a slow body the caller is
// decided on again, before anything is done: after a revoked or expired token, an ended session or another role, the call is refused.
// The admission of an API key decides on it again in any case.

import type { StreamRequest, UnaryRequest } from "@connectrpc/connect";
import type { Caller } from "#gen/saldo/options/v1/options_pb.ts";
import type { Principal } from "../../identity/principal.ts";
import { authorise } from "./authorise.ts";
import { principalOf, setPrincipal } from "./call.ts";

/** How long a body may be waited for without another decision on the caller. */
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

/** Whether a body that was waited for so long, in milliseconds, is a slow one. */
export function isSlowBody(ms: number): boolean {
  return ms >= SLOW_BODY_MS;
}

function isOfSameAccount(began: Principal, now: Principal): boolean {
  return began.kind === now.kind && accountOf(began) === accountOf(now);
}

function accountOf(principal: Principal): string | null {
  return "accountId" in principal ? principal.accountId : null;
}
