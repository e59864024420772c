// The process: `serve` runs the service until it is told to stop, every other word is a command that ends. The log goes to
// standard error; standard output carries what was asked for.

import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { ConfigError, readConfig, type Config } from "./config.ts";
import { EXIT, helpText, runCommand } from "./commands/run.ts";

const output = {
  out: (text: string): void => void process.stdout.write(`${text}\n`),
  err: (text: string): void => void process.stderr.write(`${text}\n`),
};

process.exitCode = await main(process.argv.slice(2));
// All is done and closed. A handle that somebody forgot must not keep the process.
setTimeout(() => process.exit(), 1_000).unref();

async function main(words: readonly string[]): Promise<number> {
  if (words.length === 0 || words.includes("--help") || words[0] === "help") {
    output.out(helpText());
    return words.length === 0 ? EXIT.usage : EXIT.done;
  }
  try {
    const config = readConfig();
    return words[0] === "serve" ? await serve(config) : await runCommand(words, config, output);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    output.err(error.message);
    return EXIT.usage;
  }
}

/** Serves until SIGTERM or SIGINT, then drains and settles. A second signal does not wait. */
async function serve(config: Config): Promise<number> {
  // Request bodies lie outside V8's heap. Counted on their own they made it collect everything every thirty large requests.
  setFlagsFromString("--external-memory-accounted-in-global-limit");
  // The servers take a while to load, which no command should wait for.
  const { startApp } = await import("./app.ts");
  const stopRequested = new Promise<void>((resolve) => {
    let asked = false;
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.on(signal, () => {
        if (asked) process.exit(EXIT.failed);
        asked = true;
        resolve();
      });
    }
  });
  let app;
  try {
    app = await startApp(config, output);
  } catch (error) {
    output.err(error instanceof Error ? error.message : String(error));
    return EXIT.failed;
  }
  await stopRequested;
  try {
    await app.stop();
    return EXIT.done;
  } catch (error) {
    output.err(`The stop did not go well: ${error instanceof Error ? error.message : String(error)}`);
    return EXIT.failed;
  }
}
