// `npm run real-agents [ids] [--in FOLDER]`: installs coding agents from npm in a scratch folder, then lets each answer prompts
// through a Saldo of its own, on a network of loopback alone where the system can make one. Not part of the tests: it downloads
// gigabytes of other people's programs and runs them.

import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type RealAgent, realAgents } from "./real/agent-list.ts";
import { execute, expectDone } from "./real/execute.ts";
import { startOwnGateway } from "./real/own-gateway.ts";
import { startScriptedModel } from "./real/scripted-model.ts";
import { line, type Outcome, tryAgent } from "./real/try-agent.ts";

const INSTALL_WITHIN_MS = 3_600_000;
const TRY_WITHIN_MS = 7_200_000;
/** Set inside the network of loopback alone. */
const INSIDE = "SALDO_REAL_AGENTS_INSIDE";

process.exitCode = await main();

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { in: { type: "string" } } });
  const chosen = realAgents.filter(({ id }) => positionals.length === 0 || positionals.includes(id));
  if (process.env[INSIDE] !== undefined) return tryAll(chosen, values.in ?? process.cwd());
  const scratch = values.in ?? (await mkdtemp(join(tmpdir(), "saldo-real-agents-")));
  try {
    await install(chosen, scratch);
    const words = [process.execPath, fileURLToPath(import.meta.url), ...chosen.map(({ id }) => id), "--in", scratch];
    const env = { ...process.env, [INSIDE]: "1" };
    const alone = aloneWords();
    if (alone === null) process.stdout.write("No network of loopback alone here: the agents can reach others.\n");
    const running = { cwd: scratch, env, withinMs: TRY_WITHIN_MS, isShown: true };
    return (await execute([...(alone ?? []), ...words], running)).code ?? 1;
  } finally {
    if (values.in === undefined) await rm(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

async function install(chosen: readonly RealAgent[], scratch: string): Promise<void> {
  await mkdir(scratch, { recursive: true });
  await writeFile(join(scratch, "package.json"), '{ "private": true }\n');
  const names = chosen.map((agent) => agent.package);
  const words = ["npm", "install", "--no-audit", "--no-fund", "--no-save", ...names];
  await expectDone(words, { cwd: scratch, env: process.env, withinMs: INSTALL_WITHIN_MS });
}

/** The words that start a program with no network but loopback; null where the system does not allow it. */
function aloneWords(): string[] | null {
  const up = 'ip link set lo up && exec "$@"';
  for (const unshare of [
    ["unshare", "-n"],
    ["unshare", "-rn"],
  ]) {
    const [program = "", ...flags] = unshare;
    try {
      execFileSync(program, [...flags, "sh", "-c", "ip link set lo up"], { stdio: "ignore" });
      return [...unshare, "sh", "-c", up, "sh"];
    } catch {
      // The next way may be allowed.
    }
  }
  return null;
}

async function tryAll(chosen: readonly RealAgent[], scratch: string): Promise<number> {
  const model = await startScriptedModel();
  const gateway = await startOwnGateway(model.url);
  const outcomes: Outcome[] = [];
  try {
    // One at a time: two would take the time of each other.
    for (const agent of chosen) outcomes.push(...(await tryAgent(agent, { gateway, model, scratch })));
  } finally {
    await gateway.close();
    await model.close();
  }
  const failed = outcomes.filter(({ problem }) => problem !== null).length;
  const table = outcomes.map((outcome) =>
    line({ ...outcome, problem: outcome.problem === null ? null : "" }).trimEnd(),
  );
  process.stdout.write(`\n${table.join("\n")}\n${outcomes.length - failed} of ${outcomes.length} as they should be.\n`);
  return failed === 0 ? 0 : 1;
}
