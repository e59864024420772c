import { execFileSync } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readdir, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { findPostgresBinaries, packagedFolder } from "../../src/database/postgres-binaries.ts";
import { chooseServerAccount } from "../../src/database/server-account.ts";

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
    const said = execFileSync(postgres, ["--version"], { ...account.identity, cwd: "/", encoding: "utf8" });
    expect(said).toMatch(/^postgres \(PostgreSQL\) 18/);
  } finally {
    await rm(dirname(dirname(postgres)), { recursive: true, force: true });
    await rm(closed, { recursive: true, force: true });
  }
});
