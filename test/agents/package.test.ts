// The package as npx takes it from a gateway.

import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { agentsPackage } from "../../src/agents/package.ts";
import { packageVersion } from "../../src/kernel/version.ts";
import { type FakeGateway, KEY, MODEL, newHome, startGateway } from "./support.ts";

const execute = promisify(execFile);

let gateway: FakeGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

it("is one file without dependencies that knows the gateway it came from", async () => {
  await using home = await newHome();
  const archive = join(home.path, "saldo-agents.tgz");
  await writeFile(archive, await agentsPackage(() => gateway.url)());
  await execute("tar", ["-xzf", archive, "-C", home.path]);
  const { stdout: names } = await execute("tar", ["-tzf", archive]);
  expect(names.trim().split("\n")).toEqual(["package/package.json", "package/saldo-agents.mjs"]);
  const manifest = JSON.parse(await readFile(join(home.path, "package/package.json"), "utf8")) as object;
  expect(manifest).not.toHaveProperty("dependencies");
  const program = join(home.path, "package/saldo-agents.mjs");
  const { stdout: version } = await execute(program, ["--version"]);
  expect(manifest).toHaveProperty("version", version.trim());
  expect(version.trim()).toBe(packageVersion());
  const env = { PATH: process.env["PATH"], HOME: home.path, SALDO_API_KEY: KEY };
  const applied = await execute(program, ["apply", "-m", MODEL, "--agents", "opencode,continue,kimi", "-y"], { env });
  expect(applied.stdout).toContain("Restart the agents");
  const { stdout } = await execute(program, ["status", "--json"], { env });
  expect(JSON.parse(stdout)).toMatchObject({ keyValid: true, balance: "1234.5" });
  expect(await readFile(join(home.path, ".kimi-code/config.toml"), "utf8")).toContain(`base_url = "${gateway.url}/v1"`);
  // The command that is printed at the end, with the package that was unpacked in the place of the one that npx fetches.
  const [, hint = ""] = /^To take it back: (.*)$/m.exec(applied.stdout) ?? [];
  const call = `npx -y ${gateway.url}/saldo-agents.tgz `;
  expect(hint.startsWith(call)).toBe(true);
  expect((await execute(program, hint.slice(call.length).split(" "), { env })).stdout).toContain(
    "as there was none before",
  );
});

it("is built once for all callers", async () => {
  let asked = 0;
  const give = agentsPackage(() => {
    asked += 1;
    return gateway.url;
  });
  const [one, other] = await Promise.all([give(), give()]);
  expect(one).toBe(other);
  expect(asked).toBe(1);
});
