// What a serving process does about a fault that nothing caught. Its state can no longer be trusted with new work, but the requests
// that run have waiting customers and holds. So the process logs the fault, takes no new requests, waits for running ones
// for a bounded time, and exits non-zero: its supervisor starts another. Everything that must be true is in the database.

import process from "node:process";
import type { Config } from "../config/config.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";

/** What a process needs after its drain to settle what was running and to close. */
const SETTLE_AND_CLOSE_MS = 10_000;
const FAILED = 1;

export type Faults = {
  /** Resolves at the first fault. */
  readonly first: Promise<void>;
  /** Names the log. A fault before that ends the process at once, as there is nothing to drain. */
  readonly logTo: (logger: Pick<EventLogger, "fatal">) => void;
};

/** Watches for faults that nothing caught. At the first one the process must stop; after a bounded time it is ended. */
export function watchFaults({ drainMs }: Pick<Config, "drainMs">): Faults {
  const first = Promise.withResolvers<void>();
  let log: Pick<EventLogger, "fatal"> | null = null;
  // A rejection that nothing handles comes here as well.
  process.on("uncaughtException", (err, origin) => {
    if (log === null) {
      process.stderr.write(`${err instanceof Error ? (err.stack ?? err.message) : String(err)}\n`);
      process.exit(FAILED);
    }
    log.fatal({ event: "process.fault", origin, err }, "uncaught fault; the process drains and exits");
    setTimeout(() => process.exit(FAILED), drainMs + SETTLE_AND_CLOSE_MS).unref();
    first.resolve();
  });
  return {
    first: first.promise,
    logTo: (logger) => {
      log = logger;
    },
  };
}

/** Lets a process go on whose standard output or error has no reader any more, or is on a full disk. */
export function ignoreLostOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
}
