// The part of the composition that watches the standby: how often it looks, what it logs, and which work pauses without one.

import type { EventLogger } from "../../kernel/event-logger.ts";
import type { Database } from "../../database/database.ts";
import { StandbyWatch } from "../../database/standby-watch.ts";
import type { Tick } from "../../workers/tick.ts";
import type { Config } from "../config/config.ts";

/** A required standby is looked for often: until its loss is seen, the server alone keeps answers back. */
const LOOK_MS = { required: 500, optional: 10_000 } as const;

export type StandbyParts = {
  readonly watch: StandbyWatch;
  readonly tick: Tick;
  /** The same work, but not while a required standby is missing. */
  readonly whileConfirmed: (tick: Tick) => Tick;
};

/** How often it is looked how far the standby for reads is behind. */
const READS_MS = 1_000;

/** The work of a process that reads from a standby. */
export function readTicks({ reads }: Pick<Database, "reads">): Tick[] {
  return reads.hasStandby ? [{ name: "watch the standby for reads", everyMs: READS_MS, run: () => reads.look() }] : [];
}

/** Makes the watch. */
export function watchStandby({
  config,
  database,
  logger,
}: {
  readonly config: Pick<Config, "requireSyncStandby">;
  readonly database: Pick<Database, "requests">;
  readonly logger: Pick<EventLogger, "info" | "error">;
}): StandbyParts {
  const watch = new StandbyWatch({
    pool: database.requests.pool,
    isRequired: config.requireSyncStandby,
    onChange(isMissing) {
      if (isMissing)
        logger.error({ event: "database.standby.missing" }, "no standby confirms commits, so nothing is served");
      else logger.info({ event: "database.standby.attached" }, "a standby confirms commits again");
    },
  });
  const everyMs = config.requireSyncStandby ? LOOK_MS.required : LOOK_MS.optional;
  return {
    watch,
    tick: { name: "watch the standby", everyMs, run: () => watch.look() },
    whileConfirmed: (tick) => ({
      ...tick,
      run: async (signal) => {
        if (!watch.isMissing) await tick.run(signal);
      },
    }),
  };
}
