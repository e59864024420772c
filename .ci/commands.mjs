// Running other programs, for the checks.
import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const root = fileURLToPath(new URL("..", import.meta.url));

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

// Colours are for terminals, and this output is read later.
const { FORCE_COLOR: _colours, ...inherited } = process.env;
const plainEnvironment = { ...inherited, NO_COLOR: "1" };

/** Runs a program, in the root of the repository unless another folder is given; it may fail. */
export function run(program, args, { env = {}, cwd = root } = {}) {
  const result = spawnSync(program, args, {
    cwd,
    encoding: "utf8",
    env: { ...plainEnvironment, ...env },
    maxBuffer: MAX_OUTPUT_BYTES,
    shell: process.platform === "win32",
  });
  const output = `${result.stdout ?? ""}${result.stderr ?? ""}${result.error === undefined ? "" : result.error.message}`;
  return { ok: result.status === 0, output, stdout: result.stdout ?? "" };
}

/** Runs git, also in a clone of another owner, as in many containers. */
export function git(args, options) {
  return run("git", ["-c", "safe.directory=*", ...args], options);
}

/** The files that git tracks or would add, from the root. */
export function trackedFiles() {
  const { ok, stdout, output } = git(["ls-files", "--cached", "--others", "--exclude-standard", "-z"]);
  if (!ok) throw new Error(`git cannot list the files: ${output}`);
  return [...new Set(stdout.split("\0"))].filter((path) => path !== "");
}
