// `npm run real-agents [ids] [--in FOLDER]`: installs coding agents from npm in a folder that is kept outside of the repository,
// then lets each answer prompts through a Saldo of its own, on a network of loopback alone where the system can make one. Not part
// of the tests: it downloads gigabytes of other people's programs and runs them.

import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type RealAgent, realAgents } from "./real/agent-list.ts";
import { execute, expectDone } from "./real/execute.ts";
import { startOwnGateway } from "./real/own-gateway.ts";
import { startNativeModels } from "./real/native-models.ts";
import { Script } from "./real/script.ts";
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
  const programs = values.in ?? join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "saldo-real-agents");
  if (process.env[INSIDE] !== undefined) return tryAll(chosen, programs);
  const installed = await install(chosen, programs);
  const words = [process.execPath, fileURLToPath(import.meta.url), ...installed.map(({ id }) => id), "--in", programs];
  const env = { ...process.env, [INSIDE]: "1" };
  const alone = aloneWords();
  if (alone === null) process.stdout.write("No network of loopback alone here: the agents can reach others.\n");
  const running = { cwd: programs, env, withinMs: TRY_WITHIN_MS, isShown: true };
  if (installed.length === 0) return 1;
  const { code } = await execute([...(alone ?? []), ...words], running);
  return installed.length < chosen.length ? 1 : (code ?? 1);
}

/**
 * Installs what is not there in its version yet, and returns the agents that are there then. Each has a folder of its own, so
 * none removes what another needs.
 */
async function install(chosen: readonly RealAgent[], programs: string): Promise<RealAgent[]> {
  const installed: RealAgent[] = [];
  for (const agent of chosen) {
    const cwd = join(programs, agent.id);
    try {
      if (!(await isInstalled(agent.package, cwd))) await installOne(agent, cwd);
      installed.push(agent);
    } catch (error) {
      process.stdout.write(`${agent.id} cannot be installed: ${String(error)}\n`);
    }
  }
  return installed;
}

async function installOne(agent: RealAgent, cwd: string): Promise<void> {
  await mkdir(cwd, { recursive: true });
  await writeFile(join(cwd, "package.json"), '{ "private": true }\n');
  const words = ["npm", "install", "--no-audit", "--no-fund", "--no-save", agent.package];
  await expectDone(words, { cwd, env: process.env, withinMs: INSTALL_WITHIN_MS });
}

async function isInstalled(named: string, folder: string): Promise<boolean> {
  const at = named.lastIndexOf("@");
  const file = join(folder, "node_modules", named.slice(0, at), "package.json");
  try {
    return (JSON.parse(await readFile(file, "utf8")) as { version: string }).version === named.slice(at + 1);
  } catch {
    return false;
  }
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

async function tryAll(chosen: readonly RealAgent[], programs: string): Promise<number> {
  const scratch = await mkdtemp(join(tmpdir(), "saldo-real-agents-"));
  const script = new Script();
  const model = await startScriptedModel(script);
  const natives = await startNativeModels(script);
  const gateway = await startOwnGateway({ chat: model.url, ...natives.urls });
  const outcomes: Outcome[] = [];
  try {
    // One at a time: two would take the time of each other.
    for (const agent of chosen) outcomes.push(...(await tryAgent(agent, { gateway, script, programs, scratch })));
  } finally {
    await gateway.close();
    await model.close();
    await natives.close();
    await rm(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
  const failed = outcomes.filter(({ problem }) => problem !== null).length;
  const table = outcomes.map((outcome) =>
    line({ ...outcome, problem: outcome.problem === null ? null : "" }).trimEnd(),
  );
  process.stdout.write(`\n${table.join("\n")}\n${outcomes.length - failed} of ${outcomes.length} as they should be.\n`);
  return failed === 0 ? 0 : 1;
}
