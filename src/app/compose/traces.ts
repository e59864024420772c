// The part of the composition that turns traces on. The SDK is loaded here, and only where they are.

import type { Traces } from "../observability/traces.ts";
import { endWith } from "../../kernel/tracing.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";
import type { Tick } from "../../workers/tick.ts";
import type { Config } from "../config/config.ts";

export type Traced = {
  /** The log, whose lines of a call have its trace. */
  readonly logger: EventLogger;
  /** Null: there are no traces. */
  readonly tracing: Traces | null;
  /** Background work, each round of it in a trace if it is sampled. */
  readonly tracedTick: (tick: Tick) => Tick;
};

/** Opens traces where the settings have them. */
export async function traceFrom({
  config,
  logger,
}: {
  readonly config: Pick<Config, "traces">;
  readonly logger: EventLogger;
}): Promise<Traced> {
  if (config.traces === null) return { logger, tracing: null, tracedTick: (tick) => tick };
  const { openTraces, withTraceIds } = await import("../observability/traces.ts");
  const tracing = openTraces(config.traces, { logger });
  return {
    logger: withTraceIds(logger, tracing.traceIdOf),
    tracing,
    tracedTick: (tick) => ({
      ...tick,
      run(signal) {
        const span = tracing.job(tick.name);
        return span === null ? tick.run(signal) : endWith(span, () => tick.run(signal));
      },
    }),
  };
}
