// `npm run packaging-test`: builds the image, and runs image, manifests and unit for real. It installs what it needs from Debian's
// packages first, so it runs as root on a machine of its own, such as one of CI. Words behind `--` are passed to vitest.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Debian's package of each program that is used. */
const PROGRAMS: Readonly<Record<string, string>> = {
  "aardvark-dns": "aardvark-dns",
  bpftool: "bpftool",
  buildah: "buildah",
  catatonit: "catatonit",
  curl: "curl",
  iptables: "iptables",
  kubectl: "kubernetes-client",
  mmdebstrap: "mmdebstrap",
  netavark: "netavark",
  podman: "podman",
  runc: "runc",
  setpriv: "util-linux",
  "systemd-analyze": "systemd",
};
const FOLDERS = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/sbin", "/usr/lib/podman"];

function run(program: string, ...words: readonly string[]): number {
  return spawnSync(program, words, { cwd: root, stdio: "inherit" }).status ?? 1;
}

const isHere = (program: string): boolean => FOLDERS.some((folder) => existsSync(join(folder, program)));

/** Installs what is missing. Gives whether all is there. */
function install(): boolean {
  const missing = Object.entries(PROGRAMS).flatMap(([program, name]) => (isHere(program) ? [] : [name]));
  if (missing.length === 0) return true;
  process.env["DEBIAN_FRONTEND"] = "noninteractive";
  return (
    run("apt-get", "-qq", "update") === 0 &&
    run("apt-get", "-qq", "install", "--yes", "--no-install-recommends", ...missing) === 0
  );
}

if (process.getuid?.() !== 0 || !isHere("apt-get")) {
  process.stderr.write("npm run packaging-test needs root on a machine with Debian's packages.\n");
  process.exitCode = 2;
} else if (!install()) {
  process.stderr.write("Debian's packages were not installed.\n");
  process.exitCode = 1;
} else {
  process.exitCode = run("vitest", "run", "--config", "test/packaging/vitest.config.ts", ...process.argv.slice(2));
}
