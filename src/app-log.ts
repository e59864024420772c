// The log: one JSON object a line on standard error, or readable lines where that is a terminal. Callers of it name what they
// log field by field; nothing secret is ever given to it, and a test looks for secrets in what comes out.

import process from "node:process";
import { Writable } from "node:stream";
import { pino, type Logger } from "pino";
import type { LogLevel } from "./config.ts";

/** Lines are written together: a write per call costs more than the rest of the line. */
const BUFFER_BYTES = 8_192;
const FLUSH_MS = 100;
/** What a pipe takes in one piece: lines of several processes on the same pipe stay whole. */
const SHARED_PIPE = { minLength: 3_072, maxWrite: 4_096 } as const;

/** A log and how to bring out what is still in its buffer. */
export type ProcessLog = { readonly logger: Logger; readonly flush: () => void };

/** Makes the log of a process. A worker's lines name it. */
export function createLog(level: LogLevel, { worker }: { worker?: number } = {}): ProcessLog {
  const options = {
    level,
    base: worker === undefined ? null : { worker },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  if (process.stderr.isTTY) return { logger: pino(options, readableLines()), flush: () => {} };
  const destination = pino.destination({
    fd: 2,
    sync: true,
    ...(worker === undefined ? { minLength: BUFFER_BYTES } : SHARED_PIPE),
  });
  setInterval(() => destination.flush(), FLUSH_MS).unref();
  // What a process said before it died of a fault is what one looks for.
  process.on("exit", () => destination.flushSync());
  return { logger: pino(options, destination), flush: () => destination.flushSync() };
}

function readableLines(): Writable {
  return new Writable({
    write(line: Buffer, _encoding, done) {
      const { time, level, msg, ...facts } = JSON.parse(line.toString()) as Record<string, unknown>;
      const words = Object.entries(facts).map(
        ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
      );
      process.stderr.write(`${String(time).slice(11, 19)} ${String(level)} ${String(msg)} ${words.join(" ")}\n`);
      done();
    },
  });
}
