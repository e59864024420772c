// Runs before every npm script, on whatever Node the machine has (20 or newer): installs what the lock file names when it
// is not there yet, or when the lock file is newer. Its output goes to standard error: some scripts print one JSON object.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const lock = `${root}/package-lock.json`;
// npm writes this file last, so an interrupted install is seen as none.
const installed = `${root}/node_modules/.package-lock.json`;

/** Runs npm in the root of the repository and ends this process when it fails. */
function npm(...args) {
  const { status } = spawnSync("npm", [...args, "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", process.stderr, process.stderr],
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exit(status ?? 1);
}

if (!existsSync(installed) || statSync(lock).mtimeMs > statSync(installed).mtimeMs) {
  // No package runs code of its own when it is installed, but for those that package.json allows by name.
  npm("ci", "--no-audit", "--no-fund", "--ignore-scripts");
  const { allowScripts } = JSON.parse(readFileSync(`${root}/package.json`, "utf8"));
  const allowed = Object.keys(allowScripts).filter(
    (name) => allowScripts[name] && existsSync(`${root}/node_modules/${name}`),
  );
  if (allowed.length > 0) npm("rebuild", ...allowed);
}
