// Checks of what is committed: nothing that is true on one machine only.
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root, trackedFiles } from "./commands.mjs";

/** Whether the lock file names no host: which registry is used is the machine's business. */
export function checkLockFile() {
  const lines = readFileSync(join(root, "package-lock.json"), "utf8").split("\n");
  const hosts = lines.flatMap((line, index) =>
    /"resolved":\s*"[a-z+]+:\/\//i.test(line) ? [`package-lock.json:${index + 1} ${line.trim()}`] : [],
  );
  return { problems: hosts };
}

// Home folders of people and of CI machines. The names are split here, so that this file does not find itself.
const HOMES = ["home", "Users", "root", "work", "mnt", "builds"].join("|");
const MACHINE_PATH = new RegExp(`(?<![\\w.@:/}\\])-])/(?:${HOMES})/[\\w.-]+|\\b[A-Z]:\\\\\\\\?Users\\\\`);

/** Whether no file names a folder of a developer's machine. */
export function checkMachinePaths() {
  const problems = trackedFiles()
    .filter((path) => path !== "package-lock.json" && isPlainFile(join(root, path)))
    .flatMap((path) => {
      const text = readFileSync(join(root, path), "utf8");
      if (text.includes("\u0000")) return [];
      return text
        .split("\n")
        .flatMap((line, index) => (hasMachinePath(line) ? [`${path}:${index + 1} ${line.trim().slice(0, 160)}`] : []));
    });
  return { problems };
}

/** Links, and files that are deleted but not yet so in git, have no text of ours. */
function isPlainFile(path) {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function hasMachinePath(line) {
  return line.includes(root) || MACHINE_PATH.test(line);
}
