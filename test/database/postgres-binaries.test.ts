import { execFileSync } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { findPostgresBinaries, packagedFolder } from "../../src/database/embedded/postgres-binaries.ts";
import { chooseServerAccount } from "../../src/database/embedded/server-account.ts";

test("programs in a closed folder, installed without their library links, are run from a copy", async () => {
  const closed = await mkdtemp(join(tmpdir(), "saldo-closed-"));
  const version = `0.0.0-test-${process.pid}`;
  await mkdir(join(closed, "package"));
  await writeFile(join(closed, "package", "package.json"), JSON.stringify({ version }));
  const native = join(closed, "package", "native");
  await cp(packagedFolder(), native, { recursive: true, verbatimSymlinks: true });
  for (const entry of await readdir(join(native, "lib"), { withFileTypes: true })) {
    if (entry.isSymbolicLink()) await unlink(join(entry.parentPath, entry.name));
  }
  await chmod(closed, 0o700);
  const account = await chooseServerAccount(join(closed, "no-cluster"));
  const { postgres } = await findPostgresBinaries(account, native);
  try {
    expect(postgres.startsWith(closed)).toBe(false);
    const output = execFileSync(postgres, ["--version"], { ...account.identity, cwd: "/", encoding: "utf8" });
    expect(output).toMatch(/^postgres \(PostgreSQL\) 18/);
  } finally {
    await rm(dirname(dirname(postgres)), { recursive: true, force: true });
    await rm(closed, { recursive: true, force: true });
  }
});

test("a copy that a link in the temporary folder leads to is not run", async () => {
  const closed = await mkdtemp(join(tmpdir(), "saldo-linked-"));
  const version = `0.0.0-link-${process.pid}`;
  await mkdir(join(closed, "package"));
  await writeFile(join(closed, "package", "package.json"), JSON.stringify({ version }));
  // A folder of ours that looks like a copy, and a link to it of another user.
  const target = join(tmpdir(), `saldo-postgres-${version}-${process.getuid?.() ?? 0}`);
  const bin = join(closed, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "postgres"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  await chmod(closed, 0o755);
  await symlink(closed, target);
  const account = await chooseServerAccount(join(closed, "no-cluster"));
  try {
    await expect(findPostgresBinaries(account, join(closed, "package", "native"))).rejects.toThrow();
  } finally {
    await rm(target, { force: true });
    await rm(closed, { recursive: true, force: true });
  }
});
