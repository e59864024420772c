// Types that openapi-typescript makes of the document, and a small client that is compiled with them. The generator needs the
// compiler's interface of TypeScript 5, so that it is installed in a package of its own beside the compiler of this repository.

import { execFile } from "node:child_process";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";

const run = promisify(execFile);
const require = createRequire(new URL("../../.ci/client-types/package.json", import.meta.url));
const document = new URL("../../openapi/openapi.json", import.meta.url).pathname;
const generator = join(require.resolve("openapi-typescript/package.json"), "../bin/cli.js");
const compiler = join(require.resolve("typescript/package.json"), "../bin/tsc");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "saldo-client-"));
  await copyFile(new URL("client.ts", import.meta.url), join(folder, "client.ts"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it("a client that is generated from openapi.json compiles, and refuses what the service would refuse", async () => {
  await run(process.execPath, [generator, document, "-o", join(folder, "schema.ts")]);
  const flags = "--noEmit --strict --noUncheckedIndexedAccess --target es2024 --module nodenext".split(" ");
  const types = ["--lib", "es2024,dom,dom.iterable", "--allowImportingTsExtensions"];
  const { stdout } = await run(process.execPath, [compiler, ...flags, ...types, join(folder, "client.ts")]).catch(
    (failure: { stdout: string }) => failure,
  );
  expect(stdout).toBe("");
});
