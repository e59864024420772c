// The process: `serve` runs the service until a signal stops it, every other word is a command that ends. The log goes to
// standard error; standard output carries what was asked for.

import { flushCompileCache } from "node:module";
import process from "node:process";
import { ConfigError, takeConfig, type Config } from "../config/config.ts";
import { safetyProblems } from "../config/safety.ts";
import { answerAtOnce, EXIT, reportFailure, runCommand } from "../../commands/run.ts";

const output = {
  out: (text: string): void => void process.stdout.write(`${text}\n`),
  err: (text: string): void => void process.stderr.write(`${text}\n`),
};

/** Runs the command of the words; returns the exit code. */
export async function runProcess(words: readonly string[]): Promise<number> {
  const answered = answerAtOnce(words, output);
  if (answered !== null) return answered;
  try {
    const config = takeConfig();
    if (words[0] !== "serve") return await runCommand(words, config, output);
    const problems = safetyProblems(config);
    if (problems.length > 0) throw new ConfigError(problems.join("\n"));
    return await serve(config);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return reportFailure(error, words, output);
  }
}

/**
 * npm passes a signal on that its whole group has received, so one stop arrives as two signals. The second must not end the process
 * at once: the embedded PostgreSQL would stay.
 */
const SAME_STOP_MS = 2_000;

/** Serves until SIGTERM, SIGINT or a fault that nothing caught, then drains and settles. A second signal, later, does not wait. */
async function serve(config: Config): Promise<number> {
  // The servers take a while to load, which no command should wait for.
  const [{ startNode }, { ignoreLostOutput, watchFaults }] = await Promise.all([
    import("./node.ts"),
    import("./last-resort.ts"),
  ]);
  ignoreLostOutput();
  const faults = watchFaults(config);
  const stopping = new AbortController();
  const stopRequested = new Promise<void>((resolve) => {
    let askedAt: number | null = null;
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.on(signal, () => {
        if (askedAt !== null && performance.now() - askedAt < SAME_STOP_MS) return;
        if (askedAt !== null) process.exit(EXIT.failed);
        askedAt = performance.now();
        stopping.abort();
        resolve();
      });
    }
  });
  let node;
  try {
    node = await startNode(config, { ...output, onLog: faults.logTo }, undefined, stopping.signal);
  } catch (error) {
    if (stopping.signal.aborted && isAbort(error)) return EXIT.done;
    output.err(error instanceof Error ? error.message : String(error));
    return EXIT.failed;
  }
  // Now, and not only at an exit that may never come in order.
  flushCompileCache();
  const hasFault = await Promise.race([stopRequested.then(() => false), faults.first.then(() => true)]);
  try {
    await node.stop();
    return hasFault ? EXIT.failed : EXIT.done;
  } catch (error) {
    output.err(`The stop did not go well: ${error instanceof Error ? error.message : String(error)}`);
    return EXIT.failed;
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}
