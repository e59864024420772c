// What saldo-agents never does: write before the gateway agreed, follow to another host, show the key, believe a name.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "smol-toml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { agents } from "../../src/agents/agents.ts";
import { UneditableFile } from "../../src/agents/editing/edits.ts";
import { readConfigFile, replaceConfigFile } from "../../src/agents/files/config-file.ts";
import { putFiles } from "./start-states.ts";
import {
  closeServer,
  type FakeGateway,
  KEY,
  listen,
  MODEL,
  newHome,
  saldoAgents,
  snapshot,
  startGateway,
} from "./support.ts";

const HOSTILE = [
  'a"b\\c',
  "line\nbreak",
  "$(id)`id`",
  "../../../etc/passwd",
  "\u001b[2J\u009b31m\u202eevil",
  "'; rm -rf ~ #",
  "{{x}}: - !",
];
const REPLACED_BY_AGENTS = ["{env:HOME}", "{file:/etc/passwd}", "${HOME}", "${{ secrets.X }}", "a-$HOME", "$_"];

let gateway: FakeGateway;
beforeAll(async () => {
  gateway = await startGateway([...HOSTILE, ...REPLACED_BY_AGENTS].map((id) => ({ id, name: `name of ${id}` })));
});
afterAll(() => gateway.close());

const everyAgent = agents.map(({ id }) => id).join(",");
const apply = (home: string, ...words: string[]) =>
  saldoAgents(home, [
    "apply",
    "-k",
    KEY,
    "-m",
    MODEL,
    "--agents",
    everyAgent,
    "-y",
    "--base-url",
    gateway.url,
    ...words,
  ]);

describe("refuses with 2 and writes nothing", () => {
  it.each<[string, string[], string]>([
    ["a wrong key", ["-k", "gw_wrong"], "does not accept this key"],
    ["a key with a line break", ["-k", "gw_a\nb"], "characters that no key has"],
    ["a key that an agent would run", ["-k", "!id"], "characters that no key has"],
    ["an address with a variable", ["--base-url", "http://127.0.0.1/$HOME"], "would not all read"],
    ["an unknown model", ["-m", "nobody/nothing"], "no model nobody/nothing"],
    ["an unknown agent", ["--agents", "opencode,emacs"], 'no agent "emacs"'],
    ["an unknown small model", ["--small-model", "nobody/nothing"], "no model nobody/nothing"],
    ["plain http to another machine", ["--base-url", "http://gateway.test"], "--insecure"],
    ["what is no address", ["--base-url", "gateway"], "is not an address"],
    ["an unknown option", ["--force"], "do not exist"],
    ...REPLACED_BY_AGENTS.map((id): [string, string[], string] => [id, ["-m", id], "read as it is"]),
  ])("%s", async (_, words, said) => {
    await using home = await newHome();
    const { code, err } = await apply(home.path, ...words);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(said) });
    expect(await snapshot(home.path)).toEqual({});
  });

  it("without a terminal and without -y", async () => {
    await using home = await newHome();
    const words = ["apply", "-k", KEY, "-m", MODEL, "--agents", "pi", "--base-url", gateway.url];
    expect(await saldoAgents(home.path, words)).toMatchObject({ code: 2, err: expect.stringContaining("-y") });
    expect(await saldoAgents(home.path, [])).toMatchObject({ code: 2 });
    expect(await snapshot(home.path)).toEqual({});
  });
});

it("exits with 1 when the gateway is away, and prints what it asked", async () => {
  await using home = await newHome();
  const server = createServer();
  const url = await listen(server);
  await closeServer(server);
  expect(await apply(home.path, "--base-url", url)).toMatchObject({
    code: 1,
    err: expect.stringContaining("ECONNREFUSED"),
  });
  expect(await snapshot(home.path)).toEqual({});
});

it("does not send the key on to another host", async () => {
  await using home = await newHome();
  const before = gateway.asked.length;
  const server = createServer((_, response) => response.writeHead(307, { location: `${gateway.url}/v1/models` }).end());
  const url = await listen(server);
  expect(await apply(home.path, "--base-url", url)).toMatchObject({
    code: 2,
    err: expect.stringContaining("another host"),
  });
  expect(gateway.asked.length).toBe(before);
  await closeServer(server);
});

it("reports a gateway setting that is no address", async () => {
  await using home = await newHome();
  const server = createServer((_, response) => response.writeHead(302, { location: "http://[" }).end());
  const url = await listen(server);
  expect(await apply(home.path, "--base-url", url)).toMatchObject({
    code: 1,
    err: expect.stringContaining("points to what is not an address"),
  });
  await closeServer(server);
});

it("goes on with the other agents when the file of one is not readable", async () => {
  await using home = await newHome();
  await putFiles(home.path, "qwen", "unparseable");
  await mkdir(join(home.path, ".kimi-code/config.toml"), { recursive: true });
  await mkdir(join(home.path, ".factory"), { recursive: true });
  await symlink("nowhere", join(home.path, ".factory/settings.json"));
  const before = await snapshot(home.path);
  const { code, out, err } = await apply(home.path);
  expect(code).toBe(1);
  expect(err).toContain("is not readable as JSON");
  expect(err).toContain("is a directory");
  expect(err).toContain("is a link to a file that is not there");
  expect(out).toContain("Continue: uses demo/small");
  expect(await snapshot(home.path)).toMatchObject(before);
  const told = await saldoAgents(home.path, ["status", "--json", "-k", KEY, "--base-url", gateway.url]);
  const configured = (JSON.parse(told.out) as { agents: { id: string; configured: boolean }[] }).agents;
  expect(configured.filter((each) => !each.configured).map(({ id }) => id)).toEqual(["qwen", "droid", "kimi"]);
});

it("writes both files of an agent or none", async () => {
  await using home = await newHome();
  await putFiles(home.path, "pi", "another provider");
  await writeFile(join(home.path, ".pi/agent/settings.json"), '{ "defaultModel": ');
  const before = await snapshot(home.path);
  expect(await apply(home.path, "--agents", "pi")).toMatchObject({ code: 1 });
  expect(await snapshot(home.path)).toEqual(before);
});

it("writes nothing on --dry-run, and prints what it would", async () => {
  await using home = await newHome();
  await putFiles(home.path, "droid", "comments");
  const before = await snapshot(home.path);
  const { code, out } = await apply(home.path, "--dry-run");
  expect(code).toBe(0);
  expect(out).toContain("Factory Droid: changes");
  expect(out).not.toContain(KEY);
  expect(await snapshot(home.path)).toEqual(before);
});

it("writes references instead of the key with --key-env, and the key where an agent has none", async () => {
  await using home = await newHome();
  const { out } = await apply(home.path, "--key-env");
  expect(out).toContain("it reads the key from SALDO_API_KEY");
  const files = await snapshot(home.path);
  const withKey = Object.entries(files).filter(([, { bytes }]) => bytes.includes(KEY));
  expect(withKey.map(([path]) => path)).toEqual([
    ".claude/settings.json",
    ".cline/data/settings/providers.json",
    ".gemini/.env",
    ".pi/agent/models.json",
  ]);
  expect(Object.values(files).map(({ mode }) => mode)).toEqual(Object.values(files).map(() => 0o600));
});

it("takes a model by its old gateway away when another one is applied", async () => {
  await using home = await newHome();
  const second = await startGateway();
  await putFiles(home.path, "continue", "comments");
  const before = await snapshot(home.path);
  await apply(home.path, "--agents", "continue");
  await apply(home.path, "--agents", "continue", "--base-url", `${second.url}/v1/`);
  const text = await readFile(join(home.path, ".continue/config.yaml"), "utf8");
  expect(text).toContain(second.url);
  expect(text).not.toContain(gateway.url);
  await saldoAgents(home.path, ["reset", "-y"]);
  expect(await readFile(join(home.path, ".continue/config.yaml"), "utf8")).toBe(before[".continue/config.yaml"]?.bytes);
  await second.close();
});

it("never takes a file away that the user made after ours was removed", async () => {
  await using home = await newHome();
  await apply(home.path, "--agents", "kimi");
  await rm(join(home.path, ".kimi-code/config.toml"));
  await writeFile(join(home.path, ".kimi-code/config.toml"), "# my own\n");
  await apply(home.path, "--agents", "kimi");
  await saldoAgents(home.path, ["reset", "-y"]);
  expect(await readFile(join(home.path, ".kimi-code/config.toml"), "utf8")).toBe("# my own\n");
});

it("takes a file that Cline wrote again on its run for applied, and still gives back what was replaced", async () => {
  await using home = await newHome();
  await putFiles(home.path, "cline", "another provider");
  const path = join(home.path, ".cline/data/settings/providers.json");
  const before: unknown = JSON.parse(await readFile(path, "utf8"));
  await apply(home.path, "--agents", "cline");
  const run = (await readFile(path, "utf8")).replace(/"updatedAt": "[^"]*"/, '"updatedAt": "2026-11-22T00:00:00.000Z"');
  await writeFile(path, run);
  expect((await apply(home.path, "--agents", "cline")).out).toContain("points there already");
  expect(await readFile(path, "utf8")).toBe(run);
  await saldoAgents(home.path, ["reset", "-y"]);
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual(before);
});

it("leaves a default alone that the user has changed since", async () => {
  await using home = await newHome();
  await putFiles(home.path, "opencode", "another provider");
  await apply(home.path, "--agents", "opencode");
  const path = join(home.path, ".config/opencode/opencode.json");
  await writeFile(path, (await readFile(path, "utf8")).replace('"saldo/demo/small"', '"third/one"'));
  await saldoAgents(home.path, ["reset", "-y"]);
  expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ model: "third/one", provider: { other: {} } });
  expect(await readFile(path, "utf8")).not.toContain("saldo");
});

it.each(HOSTILE)("a model called %j is only a name", async (id) => {
  await using home = await newHome();
  for (const { id: agent } of agents) await putFiles(home.path, agent, "another provider");
  const before = await snapshot(home.path);
  const ids = agents.flatMap(({ id: agent, canAskFor }) => (canAskFor === undefined ? [agent] : []));
  const applied = await apply(home.path, "-m", id, "--agents", ids.join(","));
  expect(applied).toMatchObject({ code: 0, err: "" });
  const refused = await apply(home.path, "-m", id, "--agents", "gemini");
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("Gemini CLI: it cannot ask for a model") });
  const status = await saldoAgents(home.path, ["status", "--json", "-k", KEY, "--base-url", gateway.url]);
  const table = await saldoAgents(home.path, ["status", "-k", KEY, "--base-url", gateway.url]);
  const told = JSON.parse(status.out) as { agents: { id: string; model: string }[] };
  expect(told.agents.map(({ model }) => model)).toEqual(told.agents.map((each) => (each.id === "gemini" ? null : id)));
  // No control but the line feeds of our own lines reaches a terminal.
  expect(`${applied.out}${refused.err}${status.out}${table.out}`).not.toMatch(/[^\P{C}\n]/u);
  const kimi = parse(await readFile(join(home.path, ".kimi-code/config.toml"), "utf8"));
  expect(kimi["default_model"]).toBe(`saldo/${id}`);
  const models = parseYaml(await readFile(join(home.path, ".continue/config.yaml"), "utf8")) as {
    models: { model: string }[];
  };
  expect(models.models[0]?.model).toBe(id);
  const made = Object.keys(await snapshot(home.path)).filter((path) => before[path] === undefined);
  expect(made.filter((path) => !/\.bak-saldo-|saldo-agents\/change-\w+\.json$/.test(path))).toEqual([]);
  expect(await saldoAgents(home.path, ["reset", "-y"])).toMatchObject({ code: 0, err: "" });
  expect(await snapshot(home.path)).toEqual(before);
});

it("does not write over what another program wrote meanwhile", async () => {
  await using home = await newHome();
  const path = join(home.path, "settings.json");
  await writeFile(path, "{}");
  const file = await readConfigFile(path);
  await writeFile(path, '{"mine": 1}');
  await expect(replaceConfigFile(file, Buffer.from('{"ours": 1}'))).rejects.toThrow(UneditableFile);
  expect(await readFile(path, "utf8")).toBe('{"mine": 1}');
  expect(await readdir(dirname(path))).toEqual(["settings.json"]);
});

it("leaves the old file or the new one when it is killed while it writes", async () => {
  await using home = await newHome();
  const path = join(home.path, "settings.json");
  const [old, young] = ["a", "b"].map((letter) => JSON.stringify(letter.repeat(4_000_000)));
  const module = fileURLToPath(new URL("../../src/agents/files/config-file.ts", import.meta.url));
  // It writes one and the other for ever, until it is killed.
  const program = `
    import { readConfigFile, replaceConfigFile } from ${JSON.stringify(module)};
    const contents = ["a", "b"].map((letter) => Buffer.from(JSON.stringify(letter.repeat(4_000_000))));
    for (let turn = 0; ; turn += 1) {
      await replaceConfigFile(await readConfigFile(${JSON.stringify(path)}), contents[turn % 2]);
      if (turn === 2) process.stdout.write("writing");
    }`;
  for (let kill = 0; kill < 8; kill += 1) {
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    // Another moment of the writing each time.
    const until = performance.now() + kill * 7;
    while (performance.now() < until) await new Promise(setImmediate);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect([old, young]).toContain(await readFile(path, "utf8"));
  }
});
