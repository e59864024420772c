// Starts and stops the processes of a benchmark. Only processes started here are ever ended, by their own pid.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** A helper process that listens on a port of its own choice. */
export type Listener = { readonly origin: URL; readonly pid: number; readonly stop: () => Promise<void> };

const START_MS = 20_000;
const STOP_MS = 20_000;

/** Starts a script of this folder and waits until it reports its port. */
export async function startListener(script: string, args: readonly string[] = []): Promise<Listener> {
  const child = spawn(process.execPath, [new URL(script, import.meta.url).pathname, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, NODE_ENV: "production" },
  });
  const pid = startedPid(child);
  const lines = createInterface({ input: child.stdout });
  const [line] = await Promise.race([
    once(lines, "line", { signal: AbortSignal.timeout(START_MS) }),
    once(child, "exit").then(() => [`${script} ended at once`]),
  ]);
  const port = /^listening on (\d+)$/.exec(String(line))?.[1];
  if (port === undefined) throw new Error(`${script}: ${String(line)}`);
  return {
    origin: new URL(`http://127.0.0.1:${port}`),
    pid,
    stop: async () => void (await stopChild(child)),
  };
}

/** The pid of a child, which it has at once or never. */
export function startedPid(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error(`${child.spawnfile} could not be started`);
  return child.pid;
}

/** Asks a child to end and returns its exit code; null when it had to be killed or was ended by a signal. */
export async function stopChild(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const deadline = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await exited;
  clearTimeout(deadline);
  return child.exitCode;
}
