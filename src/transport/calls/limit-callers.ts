// One slot of its caller's window for each call of a person, a merchant pair or a service token. It is taken once the caller is known
// and allowed to call, and before the message is looked at: what is wrong with a message costs as much to find out. Keys have
// windows of their own rules in interceptors.ts.

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

/** Who has a window here. A person has one window however many sessions, and as an operator the same. */
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
