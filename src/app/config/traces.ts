// Where traces go, and how many calls have one.

import { TRACED_PORTS, type TracedPort } from "../../kernel/tracing.ts";
import { ConfigError } from "./environment.ts";
import type { SettingReaders } from "./setting-readers.ts";

export type TraceSettings = {
  /** The collector's address for OTLP over HTTP; `console`: standard output. */
  readonly endpoint: string;
  /** Headers that the collector wants. */
  readonly headers: Readonly<Record<string, string>>;
  /** The share of calls that have a trace, from 0 to 1. */
  readonly share: number;
  /** The ports whose callers decide for theirs. */
  readonly trusts: ReadonlySet<TracedPort>;
};

/** Null: there are no traces. Errors: ConfigError. */
export function readTraces(read: SettingReaders): TraceSettings | null {
  const { text, choices, providerUrl, wrong } = read;
  const percent = text("SALDO_TRACES_PERCENT") ?? "1";
  if (!/^\d{1,3}(?:\.\d{1,4})?$/.test(percent) || Number(percent) > 100)
    throw wrong("SALDO_TRACES_PERCENT", percent, "a number from 0 to 100, with four decimals at most");
  const trusts = choices("SALDO_TRACES_TRUST", TRACED_PORTS);
  const headers = headersOf(text("SALDO_TRACES_HEADERS"));
  const isConsole = text("SALDO_TRACES_ENDPOINT") === "console";
  const endpoint = isConsole ? "console" : providerUrl("SALDO_TRACES_ENDPOINT", "");
  return endpoint === "" ? null : { endpoint, headers, share: Number(percent) / 100, trusts };
}

function headersOf(text: string | null): Record<string, string> {
  const pairs = (text ?? "").split(",").filter((each) => each.trim() !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, value] = /^\s*([A-Za-z0-9-]+)=([\x21-\x7E](?:[\x20-\x7E]*[\x21-\x7E])?)\s*$/.exec(pair) ?? [];
      // The values are secret, so they are not shown.
      if (name === undefined || value === undefined)
        throw new ConfigError("SALDO_TRACES_HEADERS must be name=value, several separated by commas");
      return [name.toLowerCase(), value];
    }),
  );
}
