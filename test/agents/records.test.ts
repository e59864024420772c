// What saldo-agents remembers: it is there before a change is, outlives a run that is killed, and gives back what was replaced.

import { chmod, chown, link, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agents } from "../../src/agents/agents.ts";
import { isRefused, putFiles, usersFiles } from "./start-states.ts";
import { type FakeGateway, KEY, MODEL, newHome, saldoAgents, snapshot, startGateway } from "./support.ts";

let gateway: FakeGateway;
beforeAll(async () => {
  gateway = await startGateway([{ id: "demo/large" }]);
});
afterAll(() => gateway.close());

const RECORDS = ".config/saldo-agents";
const ids = agents.map(({ id }) => id);
const fileOf = (home: string, id: string): string => join(home, Object.keys(usersFiles[id] ?? {})[0] ?? "");
const applyWords = (id: string, ...more: string[]) => {
  const words = ["apply", "-k", KEY, "-m", MODEL, "--agents", id, "-y", "--base-url", gateway.url];
  return [...words, ...more];
};
const apply = (home: string, id: string, ...more: string[]) => saldoAgents(home, applyWords(id, ...more));
const reset = (home: string, ...more: string[]) => saldoAgents(home, ["reset", "-y", ...more]);
const without = (files: Awaited<ReturnType<typeof snapshot>>, part: string) =>
  Object.fromEntries(Object.entries(files).filter(([path]) => !path.includes(part)));

it("changes no file when it cannot remember the change, and prints the reason for each agent", async () => {
  await using home = await newHome();
  await putFiles(home.path, "kimi", "another provider");
  await putFiles(home.path, "pi", "another provider");
  // Not even root makes a folder where a file is.
  await mkdir(join(home.path, ".config"));
  await writeFile(join(home.path, RECORDS), "");
  const before = await snapshot(home.path);
  const { code, out, err } = await apply(home.path, "kimi,pi");
  expect(code).toBe(1);
  expect(err.split("\n")).toEqual([
    expect.stringMatching(
      /^Kimi Code: .*\.config\/saldo-agents was left as it is: it cannot be written \(\w+\), and what/,
    ),
    expect.stringMatching(/^Pi: .*\.config\/saldo-agents was left as it is/),
  ]);
  expect(out).not.toContain("Restart");
  expect(await snapshot(home.path)).toEqual(before);
});

it("puts the first file of an agent back when the second cannot be written", async () => {
  await using home = await newHome();
  await putFiles(home.path, "pi", "comments");
  const before = await snapshot(home.path);
  const settings = join(home.path, ".pi/agent/settings.json");
  const models = join(home.path, ".pi/agent/models.json");
  // The hour is asked for between planning and writing: another program writes the second file then.
  const now = () => {
    writeFileSync(settings, '{ "theirs": true }');
    return new Date();
  };
  const { code, err } = await saldoAgents(home.path, applyWords("pi"), { now });
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("was changed by another program meanwhile") });
  expect(await readFile(models, "utf8")).toBe(before[".pi/agent/models.json"]?.bytes);
  expect(Object.keys(await snapshot(home.path))).toEqual(Object.keys(before));
  expect(await readFile(settings, "utf8")).toBe('{ "theirs": true }');
});

it.each(ids)("loses nothing when two runs point %s and another agent at the gateway at once", async (id) => {
  await using home = await newHome();
  const other = id === "kimi" ? "qwen" : "kimi";
  for (const each of [id, other]) await putFiles(home.path, each, "comments");
  if (isRefused(id, "comments")) await putFiles(home.path, id, "another provider");
  const before = await snapshot(home.path);
  const codes = await Promise.all([id, id, other].map((each) => apply(home.path, each).then(({ code }) => code)));
  // Of two runs that write the same file, one may find it changed; or both write the same.
  expect(codes.filter((code) => code === 0).length).toBeGreaterThanOrEqual(2);
  expect(await reset(home.path)).toMatchObject({ code: 0, err: "" });
  const left = Object.entries(await snapshot(home.path)).filter(([path]) => before[path] === undefined);
  expect(left).toEqual([]);
  expect(await snapshot(home.path)).toEqual(before);
});

it("gives a file back byte for byte when a second apply was killed before or after it wrote", async () => {
  await using home = await newHome();
  await putFiles(home.path, "kimi", "comments");
  const before = await snapshot(home.path);
  await apply(home.path, "kimi");
  const afterOne = await snapshot(home.path);
  await apply(home.path, "kimi", "-m", "demo/large");
  const afterTwo = await snapshot(home.path);
  // Killed before or after it wrote: both changes are remembered, and the file is as either wrote it.
  for (const written of [afterOne, afterTwo]) {
    for (const [path, { bytes }] of Object.entries({ ...afterTwo, ...afterOne, ...written })) {
      await mkdir(dirname(join(home.path, path)), { recursive: true });
      await writeFile(join(home.path, path), bytes);
    }
    expect((await readdir(join(home.path, RECORDS))).length).toBe(2);
    expect(await reset(home.path)).toMatchObject({ code: 0, out: expect.stringContaining("is as it was before") });
    expect(await snapshot(home.path)).toEqual(before);
  }
});

it("leaves no copy with the key when it changes what it wrote itself", async () => {
  await using home = await newHome();
  for (const id of ids) await putFiles(home.path, id, "another provider");
  const before = await snapshot(home.path);
  for (const model of [MODEL, "demo/large", MODEL]) await apply(home.path, ids.join(","), "-m", model);
  const copies = Object.entries(await snapshot(home.path)).filter(([path]) => path.includes(".bak-saldo-"));
  expect(copies.length).toBe(Object.values(usersFiles).flatMap((files) => Object.keys(files)).length);
  expect(copies.filter(([, { bytes }]) => bytes.includes(KEY))).toEqual([]);
  await reset(home.path);
  expect(await snapshot(home.path)).toEqual(before);
});

it("names the copies that stay after a reset", async () => {
  await using home = await newHome();
  await putFiles(home.path, "kimi", "comments");
  await apply(home.path, "kimi");
  const path = fileOf(home.path, "kimi");
  await writeFile(path, `mine = 1\n${await readFile(path, "utf8")}`);
  const { out } = await reset(home.path);
  const copies = Object.entries(await snapshot(home.path)).filter(([name]) => name.includes(".bak-saldo-"));
  expect(copies.length).toBe(2);
  for (const [name] of copies) expect(out).toContain(name);
});

it("does not restore a copy that is no longer what was copied", async () => {
  await using home = await newHome();
  await putFiles(home.path, "kimi", "another provider");
  const before = await snapshot(home.path);
  await apply(home.path, "kimi");
  const [copy = ""] = Object.keys(await snapshot(home.path)).filter((path) => path.includes(".bak-saldo-"));
  await writeFile(join(home.path, copy), "half of i");
  expect(await reset(home.path)).toMatchObject({ code: 0, out: expect.stringContaining("without our entries") });
  expect(without(await snapshot(home.path), ".bak-saldo-")).toEqual(before);
});

describe("an entry of the user's under our own name", () => {
  it.each<[string, string, string]>([
    [
      "opencode",
      '{\n  "provider": {\n    "saldo": { "mine": 1 },\n    "other": {}\n  },\n  "model": "saldo/mine"\n}\n',
      "{",
    ],
    ["pi", '{\n  "providers": {\n    "saldo": { "mine": 1 }\n  }\n}\n', "{"],
    [
      "kimi",
      'default_model = "saldo/mine"\n\n[providers.saldo]\nmine = 1\n\n[models."saldo/mine"]\nprovider = "saldo"\n',
      "",
    ],
    [
      "qwen",
      '{\n  "modelProviders": {\n    "openai": [\n      { "id": "a" },\n      { "id": "mine", "baseUrl": "GATEWAY" },\n      { "id": "b" }\n    ]\n  }\n}\n',
      "{",
    ],
    ["continue", 'name: Mine\nmodels:\n  - name: A\n  - name: "Mine"\n    apiBase: "GATEWAY"\n  - name: B\n', ""],
    ["droid", '{\n  "customModels": [\n    { "baseUrl": "GATEWAY/v1", "model": "mine" }\n  ]\n}\n', "{"],
  ])("comes back for %s, also when the file was edited since", async (id, pattern, open) => {
    await using home = await newHome();
    const text = pattern.replaceAll("GATEWAY", gateway.url);
    const path = fileOf(home.path, id);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    expect(await apply(home.path, id)).toMatchObject({ code: 0 });
    // Applied twice, and edited in between: what is remembered is carried on.
    const edit = async (by: string) => writeFile(path, (await readFile(path, "utf8")).replace(open, `${open}${by}`));
    await edit("\n");
    expect(await apply(home.path, id, "-m", "demo/large")).toMatchObject({ code: 0 });
    await edit("\n");
    expect(await reset(home.path)).toMatchObject({ code: 0, out: expect.stringContaining("without our entries") });
    const plain = (value: string) => value.replaceAll(/\s/g, "");
    expect(plain(await readFile(path, "utf8"))).toBe(plain(text));
  });
});

it("takes nothing away from a gateway that was not named", async () => {
  await using home = await newHome();
  const path = fileOf(home.path, "droid");
  await mkdir(dirname(path), { recursive: true });
  // A user's own program may listen where a gateway on this machine would.
  await writeFile(path, '{ "customModels": [{ "model": "mine", "baseUrl": "http://127.0.0.1:3000/v1" }] }\n');
  const before = await snapshot(home.path);
  expect(await reset(home.path)).toMatchObject({ code: 0, out: expect.stringContaining("--base-url") });
  expect(await snapshot(home.path)).toEqual(before);
  const named = { env: { SALDO_BASE_URL: "http://127.0.0.1:3000" } };
  expect(await saldoAgents(home.path, ["reset", "-y"], named)).toMatchObject({ code: 0 });
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ customModels: [] });
});

it("leaves a file with a second name alone", async () => {
  await using home = await newHome();
  await putFiles(home.path, "kimi", "another provider");
  await link(fileOf(home.path, "kimi"), join(home.path, "second-name"));
  const before = await snapshot(home.path);
  expect(await apply(home.path, "kimi")).toMatchObject({ code: 1, err: expect.stringContaining("hard link") });
  expect(await snapshot(home.path)).toEqual(before);
});

it.runIf(process.getuid?.() === 0)("keeps a file's group", async () => {
  await using home = await newHome();
  await putFiles(home.path, "kimi", "another provider");
  const path = fileOf(home.path, "kimi");
  await chown(path, 0, 12_345);
  await chmod(path, 0o640);
  await apply(home.path, "kimi");
  expect(await stat(path)).toMatchObject({ uid: 0, gid: 12_345, mode: 0o100640 });
});

it("writes into config.json of opencode where that is all there is", async () => {
  await using home = await newHome();
  const path = join(home.path, ".config/opencode/config.json");
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, '{ "theme": "dark" }\n');
  await apply(home.path, "opencode");
  expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ theme: "dark", model: `saldo/${MODEL}` });
  expect(await readdir(dirname(path))).not.toContain("opencode.json");
  await reset(home.path);
  expect(await readFile(path, "utf8")).toBe('{ "theme": "dark" }\n');
});

it("names the damaged record, and goes on once that is moved away", async () => {
  await using home = await newHome();
  await putFiles(home.path, "kimi", "another provider");
  await apply(home.path, "kimi");
  const [name = ""] = await readdir(join(home.path, RECORDS));
  await writeFile(join(home.path, RECORDS, name), "{");
  expect(await reset(home.path)).toMatchObject({ code: 1, err: expect.stringContaining(`${name} is damaged`) });
  await rm(join(home.path, RECORDS, name));
  expect(await reset(home.path, "--base-url", gateway.url)).toMatchObject({ code: 0 });
  expect(await readFile(fileOf(home.path, "kimi"), "utf8")).not.toContain("saldo");
});

it("prints a command that takes it back", async () => {
  await using home = await newHome();
  const { out } = await apply(home.path, "kimi,pi");
  const [, hint = ""] = /^To take it back: npm run saldo-agents -- (.*)$/m.exec(out) ?? [];
  expect(await saldoAgents(home.path, hint.split(" "))).toMatchObject({ code: 0, err: "" });
  expect(Object.keys(await snapshot(home.path))).toEqual([]);
});

it("warns of a key on the command line, and of none in the environment", async () => {
  await using home = await newHome();
  expect((await apply(home.path, "kimi")).warnings).toEqual([expect.stringContaining("SALDO_API_KEY")]);
  const words = applyWords("kimi").filter((word) => word !== "-k" && word !== KEY);
  const { code, warnings } = await saldoAgents(home.path, words, { env: { SALDO_API_KEY: KEY } });
  expect([code, warnings]).toEqual([0, []]);
});

it("leaves nothing of ours behind when applies and resets run at the same moment", async () => {
  await using home = await newHome();
  await putFiles(home.path, "kimi", "another provider");
  const before = await snapshot(home.path);
  for (let round = 0; round < 6; round += 1) {
    await Promise.all([
      apply(home.path, "kimi"),
      saldoAgents(home.path, applyWords("kimi").with(4, "demo/large")),
      reset(home.path),
      apply(home.path, "kimi", "--base-url", "http://127.0.0.1:9"),
      reset(home.path),
    ]);
    expect((await reset(home.path)).code).toBe(0);
    const now = await snapshot(home.path);
    expect(Object.keys(now).filter((path) => path.startsWith(RECORDS))).toEqual([]);
    expect(without(now, ".bak-saldo-")).toEqual(before);
  }
});

it("goes on behind a lock whose process is gone", async () => {
  await using home = await newHome();
  await mkdir(join(home.path, RECORDS), { recursive: true });
  // No system gives so high a number to a process.
  await writeFile(join(home.path, RECORDS, "lock-kimi"), "999999999");
  expect((await apply(home.path, "kimi")).code).toBe(0);
  expect((await reset(home.path)).code).toBe(0);
  expect(Object.keys(await snapshot(home.path))).toEqual([]);
});
