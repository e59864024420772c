// Programs without a terminal, with an end in time.

import { spawn } from "node:child_process";

export type Running = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly withinMs: number;
  /** Resolves when the program is to be interrupted, as by Ctrl+C. */
  readonly interrupted?: Promise<void>;
  /** Whether its output goes to the terminal instead of the caller. */
  readonly isShown?: boolean;
};

export type Ended = { readonly code: number | null; readonly output: string };

/** Runs a program. One that does not end in time is killed. */
export function execute([program = "", ...words]: readonly string[], running: Running): Promise<Ended> {
  const { cwd, env, withinMs, interrupted, isShown = false } = running;
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, {
      cwd,
      env: { ...env },
      timeout: withinMs,
      killSignal: "SIGKILL",
      stdio: isShown ? "inherit" : ["ignore", "pipe", "pipe"],
    });
    let output = "";
    const collect = (piece: Buffer): void => void (output += piece.toString());
    child.stdout?.on("data", collect);
    child.stderr?.on("data", collect);
    void interrupted?.then(() => child.kill("SIGINT"));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, output }));
  });
}

/** Runs a program that has to succeed. */
export async function expectDone(words: readonly string[], running: Running): Promise<string> {
  const { code, output } = await execute(words, running);
  if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}: ${output}`);
  return output;
}
