// Each call of a person, a merchant's key pair or a service token takes one slot of the caller's window. The slot is taken after
// the authorisation and before the message is validated, because validation costs as much for a wrong message. API keys have
// windows with rules of their own in interceptors.ts.

import type { Interceptor } from "@connectrpc/connect";
import type { Principal } from "../../identity/principal.ts";
import type { TakeCallerSlot, WindowedCaller } from "../../keys/caller-windows.ts";
import { principalOf } from "./call.ts";

/** Makes the interceptor. Errors: those of TakeCallerSlot. */
export function limitCallers(takeCallerSlot: TakeCallerSlot): Interceptor {
  return (next) => async (req) => {
    const caller = windowedCaller(principalOf({ values: req.contextValues }));
    if (caller !== null) await takeCallerSlot(caller);
    return next(req);
  };
}

/** The owner of a window. All sessions of a person share one window, also those as an operator. */
function windowedCaller(principal: Principal): WindowedCaller | null {
  switch (principal.kind) {
    case "session":
    case "operator":
      return { kind: "person", callerId: principal.personId };
    case "merchant":
      return { kind: "merchant", callerId: principal.pairId };
    case "service":
      return { kind: "service", callerId: principal.tokenId };
    case "api_key":
    case "public":
      break;
  }
  return null;
}
