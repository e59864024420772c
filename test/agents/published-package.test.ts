// The package for a registry: packed by npm as it is published, and installed from that file where there is nothing else.

import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { agents } from "../../src/agents/agents.ts";
import { packageVersion } from "../../src/kernel/version.ts";
import { type FakeGateway, KEY, MODEL, newHome, startGateway } from "./support.ts";

const execute = promisify(execFile);
const PACK = fileURLToPath(new URL("../../.ci/pack-agents.mjs", import.meta.url));
const VERSION = packageVersion();

let gateway: FakeGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

it("is packed by npm with its guide and licence, and installed from that file it works", async () => {
  await using home = await newHome();
  const [folder, other] = [join(home.path, "package"), join(home.path, "other")];
  await execute(process.execPath, [PACK, folder]);
  const env = { PATH: process.env["PATH"], HOME: home.path };
  const { stdout } = await execute("npm", ["pack", folder, "--json", "--pack-destination", home.path], { env });
  const [packed] = JSON.parse(stdout) as { filename: string; files: { path: string }[]; entryCount: number }[];
  expect(packed?.filename).toBe(`saldo-agents-${VERSION}.tgz`);
  const files = packed?.files.map(({ path }) => path);
  expect(files?.toSorted()).toEqual(["LICENSE", "README.md", "package.json", "saldo-agents.mjs"]);
  const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Record<string, unknown>;
  expect(manifest).toMatchObject({ name: "saldo-agents", version: VERSION, license: "MIT" });
  // npm refuses to publish a private package, and runs the scripts of one.
  for (const member of ["private", "scripts", "dependencies"]) expect(manifest).not.toHaveProperty(member);

  await mkdir(other);
  await writeFile(join(other, "package.json"), "{}");
  await execute("npm", ["install", "--offline", join(home.path, `saldo-agents-${VERSION}.tgz`)], { cwd: other, env });
  const program = join(other, "node_modules/.bin/saldo-agents");
  expect((await execute(program, ["--version"], { env })).stdout.trim()).toBe(VERSION);
  const words = ["apply", "-m", MODEL, "--agents", "opencode", "-y", "--base-url", gateway.url];
  const applied = await execute(program, words, { env: { ...env, SALDO_API_KEY: KEY } });
  // It knows no gateway, so the command that undoes all names the package of the registry.
  expect(applied.stdout).toContain(`To take it back: npx -y saldo-agents@${VERSION} reset `);
  expect(await readFile(join(home.path, ".config/opencode/opencode.json"), "utf8")).toContain(`${gateway.url}/v1`);
});

it("names every agent in its guide", async () => {
  const guide = await readFile(new URL("../../src/agents/PACKAGE.md", import.meta.url), "utf8");
  expect(agents.length).toBeGreaterThan(10);
  expect(agents.map(({ name }) => name).filter((name) => !guide.includes(name))).toEqual([]);
});
