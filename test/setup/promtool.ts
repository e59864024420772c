// Prometheus' own tester, `promtool`: the one of the PATH, or the one of Debian's package `prometheus`. The package is unpacked and
// not installed, so nothing of it starts and no rights are needed; only the lists of packages are brought up to date as root.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const CACHE = fileURLToPath(new URL("../../node_modules/.cache/saldo-promtool", import.meta.url));
const UNPACKED = join(CACHE, "promtool");
const DOWNLOAD_MS = 120_000;

/** A promtool, or why there is none. */
export type Promtool = { readonly path: string } | { readonly missing: string };

/** Finds promtool, or fetches it once. */
export function findPromtool(): Promtool {
  if (spawnSync("promtool", ["--version"]).status === 0) return { path: "promtool" };
  if (existsSync(UNPACKED)) return { path: UNPACKED };
  if (spawnSync("dpkg-deb", ["--version"]).status !== 0)
    return { missing: "promtool is not on the PATH, and this machine has no packages of Debian" };
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, "unpack-"));
  try {
    return download(folder);
  } catch (error) {
    return { missing: `Debian's package prometheus was not fetched: ${String(error)}` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The program; null where it is missing. Errors: it is missing on CI, where nothing that tests an alert may be passed over. */
export function programOf(found: Promtool, isCi = process.env["CI"] === "true"): string | null {
  if ("path" in found) return found.path;
  if (isCi) throw new Error(`The alert rules were not tested: ${found.missing}`);
  return null;
}

function download(folder: string): Promtool {
  const run = (program: string, ...words: string[]): unknown =>
    execFileSync(program, words, { cwd: folder, stdio: "pipe", timeout: DOWNLOAD_MS });
  try {
    run("apt-get", "-qq", "download", "prometheus");
  } catch (error) {
    if (process.getuid?.() !== 0) throw error;
    run("apt-get", "-qq", "update");
    run("apt-get", "-qq", "download", "prometheus");
  }
  const [name = ""] = readdirSync(folder).filter((each) => each.endsWith(".deb"));
  run("dpkg-deb", "--extract", name, ".");
  // Two that come here at once write the same file.
  renameSync(join(folder, "usr/bin/promtool"), UNPACKED);
  return { path: UNPACKED };
}
