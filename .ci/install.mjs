// Runs before every npm script, on whatever Node the machine has (20 or newer): installs what the lock file names when it
// is not there yet, or when the lock file is newer. Its output goes to standard error: some scripts print one JSON object.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const lock = `${root}/package-lock.json`;
// npm writes this file last, so an interrupted install is seen as none.
const installed = `${root}/node_modules/.package-lock.json`;

if (!existsSync(installed) || statSync(lock).mtimeMs > statSync(installed).mtimeMs) {
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", process.stderr, process.stderr],
    shell: process.platform === "win32",
  });
  process.exit(status ?? 1);
}
