// The service as its users run it: a process of its own, started by the same entry, on free ports and a database or data
// directory of the test. Stopped by its own pid.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { noteProblem } from "./answers/problems.ts";
import { announcedIn } from "./announced.ts";
import type { CommandOutcome } from "./saldo-command.ts";
import { environmentOf, SERVING_SETTINGS } from "./test-environment.ts";

const ENTRY = fileURLToPath(new URL("../../src/main.js", import.meta.url));
/** Its answers are compared with openapi/openapi.json. */
const WATCHED = ["--import", new URL("answers/of-process.ts", import.meta.url).href];
/** Where the entry keeps compiled modules (src/main.js): what is preloaded is loaded before the entry sets it. */
const COMPILED = { NODE_COMPILE_CACHE: fileURLToPath(new URL("../../node_modules/.cache/compiled", import.meta.url)) };
/** A bound, not a promise: machines that test are busy. */
const READY_WITHIN_MS = 90_000;

/** What a start in production needs beside a database. */
export const PRODUCTION = {
  NODE_ENV: "production",
  SALDO_AUTH_SECRET: "a secret of a test that is long enough for what it signs",
  SALDO_SECRETS_KEY: "a key of a test that is long enough for what it encrypts",
} as const;

export type LogLine = Readonly<Record<string, unknown>>;

type Ports = { readonly httpPort: number; readonly grpcPort: number; readonly metricsPort: number };

export class SaldoProcess {
  readonly #child: ChildProcess;
  readonly log: LogLine[] = [];
  readonly printed: string[] = [];
  #ports: Ports = { httpPort: 0, grpcPort: 0, metricsPort: 0 };

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Starts `saldo serve`, with flags of Node if there are any, and waits until it serves. */
  static start(settings: Readonly<Record<string, string>>, flags: readonly string[] = []): Promise<SaldoProcess> {
    return SaldoProcess.startProgram([...WATCHED, ...flags, ENTRY], settings);
  }

  /** The same of another version, whose entry is the last of these words. Its answers need not be those of the present contracts. */
  static async startProgram(
    program: readonly string[],
    settings: Readonly<Record<string, string>>,
  ): Promise<SaldoProcess> {
    const child = spawn(process.execPath, [...program, "serve"], {
      env: environmentOf({ ...COMPILED, ...SERVING_SETTINGS, ...settings }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const saldo = new SaldoProcess(child);
    await saldo.#untilServing();
    return saldo;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get httpUrl(): string {
    return `http://127.0.0.1:${this.#ports.httpPort}`;
  }

  get grpcAddress(): string {
    return `127.0.0.1:${this.#ports.grpcPort}`;
  }

  get metricsUrl(): string {
    return `http://127.0.0.1:${this.#ports.metricsPort}`;
  }

  /** The first text of this form that the start announced, such as the demo key. */
  announced(form: RegExp): string {
    return announcedIn(this.printed, form);
  }

  /** Pauses the process, continues it or asks it to stop, without waiting. */
  signal(signal: "SIGSTOP" | "SIGCONT" | "SIGTERM"): void {
    this.#child.kill(signal);
  }

  /** Resolves once the process has ended. */
  async untilEnd(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, "exit");
  }

  /** Sends a signal and waits for the end. Gives the exit code, null after a signal that kills. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return this.#child.exitCode;
    const exit = once(this.#child, "exit");
    this.#child.kill(signal);
    const [code] = (await exit) as [number | null];
    return code;
  }

  async #untilServing(): Promise<void> {
    const { stdout, stderr } = this.#child;
    if (stdout === null || stderr === null) throw new Error("a test process has pipes");
    createInterface(stdout).on("line", (line) => this.printed.push(line));
    await new Promise<void>((resolve, reject) => {
      const said: string[] = [];
      const giveUp = setTimeout(() => {
        // No other code has a handle on it to end it.
        this.#child.kill("SIGKILL");
        reject(new Error(`not serving after ${READY_WITHIN_MS} ms`));
      }, READY_WITHIN_MS);
      this.#child.once("exit", (code) => reject(new Error(`ended with ${code} before it served:\n${said.join("\n")}`)));
      createInterface(stderr).on("line", (line) => {
        said.push(line);
        if (!line.startsWith("{")) return;
        const entry = JSON.parse(line) as LogLine;
        if (typeof entry["undocumented"] === "string") return noteProblem(entry["undocumented"]);
        this.log.push(entry);
        if (entry["msg"] !== "serving") return;
        this.#ports = entry as LogLine & Ports;
        clearTimeout(giveUp);
        // The announcement is written right behind this line, on the other pipe.
        setImmediate(resolve);
      });
    });
  }
}

/** Runs the program with these words in a process of its own, to its end: for a start that fails, and for the entry itself. */
export function runSaldoProcess(
  words: readonly string[],
  settings: Readonly<Record<string, string>>,
): Promise<CommandOutcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, [ENTRY, ...words], { env: environmentOf(settings) }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : error === null ? 0 : -1, stdout, stderr });
    });
  });
}
