// The log: one JSON object a line on standard error, or readable lines where that is a terminal. Callers of it name what they
// log field by field; nothing secret is ever given to it, and a test looks for secrets in what comes out.

import process from "node:process";
import { isatty } from "node:tty";
import { pino } from "pino";
import { LogStream } from "./log-stream.ts";
import type { LogLevel } from "../config/config.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";

const STANDARD_ERROR = 2;
/** Lines are written together: a write per call costs more than the rest of the line. */
const BUFFERED = { minLength: 8_192, maxWriteBytes: 65_536 } as const;
/** What a pipe takes in one piece: lines of several processes on the same pipe stay whole. */
const SHARED_PIPE = { minLength: 3_072, maxWriteBytes: 4_096 } as const;
const TERMINAL = { minLength: 1, maxWriteBytes: 4_096, format: readableLine } as const;

/** A log, the function that writes its buffer, and the number of lost lines. */
export type ProcessLog = {
  readonly logger: EventLogger;
  readonly flush: () => void;
  readonly linesLost: () => number;
};

/** Makes the log of a process. A worker's lines name it. With `write`, each line goes to that function instead of standard error. */
export function createLog(
  level: LogLevel,
  { worker, write }: { worker?: number; write?: (line: string) => void } = {},
): ProcessLog {
  const options = {
    level,
    base: worker === undefined ? null : { worker },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  if (write !== undefined) return { logger: pino(options, { write }), flush: () => {}, linesLost: () => 0 };
  const how = isatty(STANDARD_ERROR) ? TERMINAL : worker === undefined ? BUFFERED : SHARED_PIPE;
  const stream = new LogStream({ fd: STANDARD_ERROR, ...how });
  // The lines that a process wrote before it died of a fault are the ones that an operator looks for.
  process.on("exit", () => stream.flushLast());
  return { logger: pino(options, stream), flush: () => stream.flushLast(), linesLost: () => stream.linesLost };
}

function readableLine(line: string): string {
  const { time, level, msg, ...facts } = JSON.parse(line) as Record<string, unknown>;
  const words = Object.entries(facts).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return `${String(time).slice(11, 19)} ${String(level)} ${String(msg)} ${words.join(" ")}\n`;
}
