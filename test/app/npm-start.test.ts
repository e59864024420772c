// `npm start` under a supervisor that knows the process of npm alone: a signal to it reaches the service.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeDataDir, removeDataDir, until } from "../setup/own-server.ts";
import { environmentOf, SERVING_SETTINGS } from "../setup/test-environment.ts";
import { isAlive } from "../../src/database/embedded/postmaster.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

let folder: string;
const services: number[] = [];
beforeAll(async () => {
  folder = await makeDataDir();
});
afterAll(async () => {
  for (const pid of services.filter(isAlive)) process.kill(pid, "SIGKILL");
  await removeDataDir(folder);
});

/** Runs an npm script until the service of it serves. Gives npm, and the process id of the service. */
async function startByNpm(...words: readonly string[]): Promise<{ npm: ChildProcess; service: number }> {
  const npm = spawn("npm", [...words], {
    cwd: ROOT,
    env: environmentOf({ ...SERVING_SETTINGS, SALDO_DATA_DIR: folder }),
    stdio: ["ignore", "ignore", "pipe"],
  });
  for await (const line of createInterface(npm.stderr)) {
    if (!line.includes('"process.serving"')) continue;
    const { pid } = JSON.parse(line) as { pid: number };
    services.push(pid);
    npm.stderr.resume();
    return { npm, service: pid };
  }
  throw new Error(`npm ${words.join(" ")} ended with ${String(npm.exitCode)} before it served`);
}

it.each([[["start"]], [["run", "saldo", "--", "serve"]]])("ends the service with SIGTERM to npm %j", async (words) => {
  const { npm, service } = await startByNpm(...words);
  const ended = once(npm, "exit");
  npm.kill("SIGTERM");
  await until(() => !isAlive(service));
  expect(await ended).toEqual([0, null]);
});
