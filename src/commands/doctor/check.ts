// A check of the doctor: it looks at one thing for real, within a time limit, and changes nothing.

import type { Config } from "../../app/config/config.ts";

export type State = "ok" | "warning" | "failed";

export type Finding = {
  /** What was looked at, such as `http port`. */
  readonly check: string;
  readonly state: State;
  readonly finding: string;
  /** What to do. Null: nothing. */
  readonly advice: string | null;
};

export type Check = {
  readonly name: string;
  /** Whether it begins when the database has been looked at. Its time is counted from then on, as far as can be. */
  readonly waitsForDatabase?: boolean;
  /** What to do when it fails without a finding of its own, or does not end. */
  readonly advice: string;
  readonly look: () => Promise<readonly Finding[]>;
};

export type CheckContext = {
  readonly config: Config;
  /** How long one check may take. */
  readonly withinMs: number;
};

const SLACK_MS = 1_000;

export function ok(check: string, finding: string): Finding {
  return { check, state: "ok", finding, advice: null };
}

export function warning(check: string, finding: string, advice: string): Finding {
  return { check, state: "warning", finding, advice };
}

export function failed(check: string, finding: string, advice: string | null): Finding {
  return { check, state: "failed", finding, advice };
}

/** Runs a check. One that takes longer than the limit, or that throws, has failed. */
export async function runCheck(
  { name, advice, look, waitsForDatabase = false }: Check,
  patienceMs: number,
): Promise<readonly Finding[]> {
  // Those that wait begin by the end of the database's check, and report their own limit themselves.
  const withinMs = waitsForDatabase ? 2 * patienceMs + SLACK_MS : patienceMs;
  const { promise: late, resolve } = Promise.withResolvers<readonly Finding[]>();
  const timer = setTimeout(() => resolve([failed(name, `did not end within ${withinMs / 1_000} s`, advice)]), withinMs);
  try {
    return await Promise.race([look(), late]);
  } catch (error) {
    return [failed(name, reasonOf(error), advice)];
  } finally {
    clearTimeout(timer);
  }
}

/** What went wrong, on one line. Node gives the reasons of a host with several addresses in a list of their own. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  const cause = error.message === "" || error.message === "fetch failed" ? error.cause : undefined;
  const text = cause === undefined ? error.message || codeOf(error) || error.name : reasonOf(cause);
  return text.replaceAll(/\s+/g, " ").trim();
}

/** The system's or the server's code of an error. */
export function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
