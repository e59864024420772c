// `npm run real-agents`: installs coding agents from npm in a scratch folder, points them at a running demo gateway with
// saldo-agents, and lets each answer a prompt. Not part of the tests: it downloads a few hundred megabytes of other
// people's programs and runs them. The key comes in SALDO_API_KEY, the gateway in SALDO_BASE_URL.

import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

type RealAgent = {
  readonly id: string;
  readonly package: string;
  readonly words: readonly string[];
  /** Ends what it leaves running. */
  readonly after?: readonly string[];
};

const agents: readonly RealAgent[] = [
  { id: "opencode", package: "opencode-ai@1.18.33", words: ["opencode", "run", "Hello"] },
  { id: "kilo", package: "@kilocode/cli@7.7.7", words: ["kilo", "run", "Hello"] },
  { id: "qwen", package: "@qwen-code/qwen-code@0.24.4", words: ["qwen", "-p", "Hello"] },
  { id: "cline", package: "cline@3.0.65", words: ["cline", "Say hello to me"], after: ["cline", "hub", "stop"] },
  { id: "continue", package: "@continuedev/cli@1.5.47", words: ["cn", "-p", "Hello"] },
  { id: "droid", package: "droid@0.215.0", words: ["droid", "exec", "Hello"] },
  { id: "kimi", package: "@moonshot-ai/kimi-code@2.1.0", words: ["kimi", "-p", "Hello"] },
  { id: "pi", package: "@mariozechner/pi-coding-agent@0.73.1", words: ["pi", "-p", "Hello"] },
  { id: "claude", package: "@anthropic-ai/claude-code@2.1.330", words: ["claude", "-p", "Hello"] },
  { id: "codex", package: "@openai/codex@0.169.0", words: ["codex", "exec", "--skip-git-repo-check", "Hello"] },
];

const MODEL = "demo/small";
/** What the demo model says, whatever it is asked. */
const ANSWER = "This is the demo model small.";
const INSTALL_WITHIN_MS = 600_000;
const ANSWER_WITHIN_MS = 120_000;
const PROGRAM = fileURLToPath(new URL("../../src/agents/main.ts", import.meta.url));

const { SALDO_API_KEY: key = "", SALDO_BASE_URL: baseUrl = "http://127.0.0.1:3000", PATH: path = "" } = process.env;

process.exitCode = await main();

async function main(): Promise<number> {
  const scratch = await mkdtemp(join(tmpdir(), "saldo-real-agents-"));
  const home = join(scratch, "home");
  const folder = join(scratch, "project");
  try {
    for (const each of [home, folder]) await mkdir(each);
    await writeFile(join(scratch, "package.json"), '{ "private": true }\n');
    const names = agents.map((agent) => agent.package);
    await expectDone(["npm", "install", "--no-audit", "--no-fund", ...names], {
      cwd: scratch,
      withinMs: INSTALL_WITHIN_MS,
    });
    // The agents run on this Node, which may not be the one on the PATH.
    const tools = [join(scratch, "node_modules/.bin"), dirname(process.execPath), path].join(delimiter);
    // Nothing of the caller's but the folders of programs: the key reaches the agents by their files alone.
    const env = { PATH: tools, HOME: home, CI: "1" };
    const gateway = ["--base-url", baseUrl, "-k", key];
    const ids = agents.map(({ id }) => id).join(",");
    const apply = ["apply", "-m", MODEL, "--agents", ids, "-y", ...gateway];
    await expectDone([process.execPath, PROGRAM, ...apply], { cwd: folder, env, withinMs: ANSWER_WITHIN_MS });
    let failed = 0;
    for (const agent of agents) {
      const before = await balance();
      const running = { cwd: folder, env, withinMs: ANSWER_WITHIN_MS };
      const { code, output } = await execute(agent.words, running);
      if (agent.after !== undefined) await expectDone(agent.after, running);
      const isAnswered = code === 0 && output.includes(ANSWER);
      const isBilled = (await balance()) < before;
      if (!isAnswered || !isBilled) failed += 1;
      const told = isAnswered
        ? isBilled
          ? "answered and billed"
          : "answered, NOT BILLED"
        : `FAILED with ${code}\n${output}`;
      say(`${agent.package.padEnd(40)} ${told}`);
    }
    await expectDone([process.execPath, PROGRAM, "reset", "-y"], { cwd: folder, env, withinMs: ANSWER_WITHIN_MS });
    return failed === 0 ? 0 : 1;
  } finally {
    await rm(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

async function balance(): Promise<number> {
  const response = await fetch(`${baseUrl}/v1/balance`, { headers: { authorization: `Bearer ${key}` } });
  if (response.status !== 200)
    throw new Error(`the gateway answered ${response.status}: is SALDO_API_KEY its demo key?`);
  const { available } = (await response.json()) as { available: string };
  return Number(available);
}

type Running = { readonly cwd: string; readonly env?: Record<string, string>; readonly withinMs: number };

async function expectDone(words: readonly string[], running: Running): Promise<void> {
  const { code, output } = await execute(words, running);
  if (code !== 0) throw new Error(`${words[0]} ended with ${code}: ${output}`);
}

/** Runs a program without a terminal. One that does not end in time is killed. */
function execute([program = "", ...words]: readonly string[], { cwd, env, withinMs }: Running) {
  return new Promise<{ code: number | null; output: string }>((resolve, reject) => {
    const child = spawn(program, words, {
      cwd,
      env: env ?? process.env,
      timeout: withinMs,
      killSignal: "SIGKILL",
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    const collect = (piece: Buffer): void => void (output += piece.toString());
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, output }));
  });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
