// The outermost interceptor where traces are on: a call is in its trace from its headers to its last message.

import type { Interceptor } from "@connectrpc/connect";
import { errorTypeOf, type Tracing } from "../../kernel/tracing.ts";
import { setSpan, tracedCallOf } from "./call.ts";
import { toDomainError } from "./errors.ts";
import { watch } from "./watch-call.ts";

/** Traces calls. Where there are no traces there is no interceptor either. */
export function traceCalls(tracing: Tracing | undefined): Interceptor[] {
  if (tracing === undefined) return [];
  return [
    (next) => async (req) => {
      const call = { values: req.contextValues, requestHeader: req.header };
      const span = tracing.receive(tracedCallOf(call, `${req.service.typeName}/${req.method.name}`));
      if (span === null) return next(req);
      setSpan(call, span);
      return watch(next, req, {
        ended: () => span.end(),
        failed(thrown) {
          span.end(errorTypeOf(toDomainError(thrown)));
          return thrown;
        },
      });
    },
  ];
}
