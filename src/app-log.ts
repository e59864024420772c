// The log: one JSON object a line on standard error, or readable lines where that is a terminal. Nothing secret is ever
// given to it; the redaction is a second belt.

import process from "node:process";
import { Writable } from "node:stream";
import { pino, type Logger } from "pino";
import type { LogLevel } from "./config.ts";

const SECRET_FIELDS = ["authorization", "apiKey", "secret", "secretKey", "key", "password"];

/** Makes the logger of a process. */
export function createLogger(level: LogLevel): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: "[redacted]" },
  };
  return process.stderr.isTTY
    ? pino(options, readableLines())
    : pino(options, pino.destination({ fd: 2, sync: false }));
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
