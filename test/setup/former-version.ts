// The version before the newest change of the schema, as a real commit of this repository: what an upgrade meets on the other node,
// and what a rollback starts again. It is checked out beside the present one and uses the packages of this checkout.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { schemaCode } from "../../src/database/migrations/migrations.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const CHANGES = "src/database/migrations/migrations.ts";
const MOST_BYTES = 256 * 1024 * 1024;

/** Another version of the service, in a folder of its own. */
export type FormerVersion = {
  readonly commit: string;
  /** The number of the newest change of the schema that it knows. */
  readonly schema: number;
  /** Its `src/main.js`. */
  readonly entry: string;
  remove(): Promise<void>;
};

/**
 * Checks out the newest commit whose schema is older than this code's; SALDO_UPGRADE_FROM names another one. Throws where the
 * history is missing, or where that version needs packages that are not installed.
 */
export async function checkOutFormerVersion(): Promise<FormerVersion> {
  const commit = process.env["SALDO_UPGRADE_FROM"] ?? findFormerCommit();
  const folder = await mkdtemp(join(tmpdir(), "saldo-former-"));
  const archive = execFileSync(
    "git",
    [...SAFE, "archive", "--format=tar", commit, "src", "gen", "proto", "openapi", "package.json"],
    {
      cwd: root,
      maxBuffer: MOST_BYTES,
    },
  );
  const { status, stderr } = spawnSync("tar", ["-x", "-C", folder], { input: archive });
  if (status !== 0) throw new Error(`Commit ${commit} could not be unpacked: ${stderr.toString()}`);
  await requirePackages(folder, commit);
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  return {
    commit,
    schema: newestChangeOf(commit),
    entry: join(folder, "src", "main.js"),
    remove: () => rm(folder, { recursive: true }),
  };
}

// The checkout may belong to another user, as in many containers.
const SAFE = ["-c", "safe.directory=*"];
const git = (...words: string[]): string =>
  execFileSync("git", [...SAFE, ...words], { cwd: root, encoding: "utf8", maxBuffer: MOST_BYTES }).trim();

/** Whether the history ends before the version before, as in a clone of the newest commits alone. */
export function isShallowClone(): boolean {
  return git("rev-parse", "--is-shallow-repository") === "true";
}

function findFormerCommit(): string {
  const ours = schemaCode.migrations.at(-1)?.number ?? 0;
  // A change that is not committed yet: the version before is the commit that is checked out.
  if (newestChangeOf("HEAD") < ours) return "HEAD";
  for (const commit of git("rev-list", "HEAD", "--", CHANGES).split("\n")) {
    const [parent] = git("rev-list", "--parents", "-1", commit).split(" ").slice(1);
    if (parent !== undefined && newestChangeOf(parent) < ours) return parent;
  }
  throw new Error(
    isShallowClone()
      ? "This clone is shallow, so the version before is not in it. Fetch the whole history: git fetch --unshallow."
      : `The history has no version whose schema is older than change ${ours}.`,
  );
}

/** The newest change that a commit knows; 0 where it has none by number. */
function newestChangeOf(commit: string): number {
  const { status, stdout } = spawnSync("git", [...SAFE, "show", `${commit}:${CHANGES}`], {
    cwd: root,
    encoding: "utf8",
  });
  const numbers = status === 0 ? Array.from(stdout.matchAll(/\{ number: (\d+),/g), ([, number]) => Number(number)) : [];
  return Math.max(0, ...numbers);
}

type Package = { readonly version?: string; readonly dependencies?: Readonly<Record<string, string>> };

/** Its packages are those of this checkout, where none of them has another major version. */
async function requirePackages(folder: string, commit: string): Promise<void> {
  const read = async (path: string): Promise<Package> => JSON.parse(await readFile(path, "utf8")) as Package;
  const { dependencies = {} } = await read(join(folder, "package.json"));
  const major = (version = ""): string => version.split(".")[0] ?? "";
  for (const [name, wanted] of Object.entries(dependencies)) {
    const { version } = await read(join(root, "node_modules", name, "package.json")).catch((): Package => ({}));
    if (major(version) === major(wanted)) continue;
    throw new Error(
      `Commit ${commit} needs ${name} ${wanted}, and ${version ?? "none"} is installed. Set SALDO_UPGRADE_FROM to a later commit.`,
    );
  }
}
