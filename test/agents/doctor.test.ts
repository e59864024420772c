// The doctor's report about a machine where something is wrong, and about one where nothing is.

import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { putFiles } from "./start-states.ts";
import { type FakeGateway, KEY, MODEL, newHome, saldoAgents, startGateway } from "./support.ts";

let gateway: FakeGateway;
let poor: FakeGateway;
beforeAll(async () => {
  [gateway, poor] = await Promise.all([startGateway(), startGateway([], "-0.00")]);
});
afterAll(() => Promise.all([gateway.close(), poor.close()]));

const apply = (home: string, ...words: string[]) =>
  saldoAgents(home, ["apply", "-k", KEY, "-m", MODEL, "-y", "--base-url", gateway.url, ...words]);
/** The findings, and the exit code. */
async function doctor(
  home: string,
  { at = gateway, env = {} }: { at?: { url: string }; env?: Record<string, string> } = {},
) {
  const { code, out, err } = await saldoAgents(home, ["doctor", "--base-url", at.url], { env: { PATH: home, ...env } });
  expect(out + err).not.toContain(KEY);
  return { code, err, findings: out.split("\n").map((line) => line.replaceAll(home, "~")) };
}

async function install(home: string, program: string): Promise<void> {
  await writeFile(join(home, program), "#!/bin/sh\n");
  await chmod(join(home, program), 0o755);
}

it("finds nothing wrong where nothing is, with the key of a file", async () => {
  await using home = await newHome();
  await install(home.path, "kimi");
  await apply(home.path, "--agents", "kimi");
  expect(await doctor(home.path)).toEqual({
    code: 0,
    err: "",
    findings: [
      `ok    ${gateway.url}/v1 accepts the key and has 1 models.`,
      "ok    The balance is Rp 1.234,5.",
      "ok    Kimi Code uses demo/small.",
    ],
  });
});

it("reports that there is no key to ask with, and which programs do not use the gateway", async () => {
  await using home = await newHome();
  await install(home.path, "qwen");
  expect(await doctor(home.path)).toEqual({
    code: 0,
    err: "",
    findings: [
      `look  No key to ask ${gateway.url}/v1 with: -k KEY or SALDO_API_KEY.`,
      "look  Qwen Code is here and does not use the gateway.",
    ],
  });
});

it.each([
  ["a key that is not accepted", () => gateway, "gw_wrong1", "The gateway does not accept this key."],
  ["a balance that is used up", () => poor, KEY, "The balance is used up: top it up."],
  ["a gateway that is away", () => ({ url: "http://127.0.0.1:1" }), KEY, "cannot be reached"],
])("calls %s bad", async (_, at, key, said) => {
  await using home = await newHome();
  const { code, findings } = await doctor(home.path, { at: at(), env: { SALDO_API_KEY: key } });
  expect(code).toBe(1);
  expect(findings.filter((line) => line.startsWith("bad "))).toEqual([expect.stringContaining(said)]);
});

it("calls bad what keeps an agent from working, and goes on with the others", async () => {
  await using home = await newHome();
  await putFiles(home.path, "qwen", "unparseable");
  await apply(home.path, "--agents", "droid,opencode");
  await apply(home.path, "--agents", "kimi", "--key-env");
  const droid = join(home.path, ".factory/settings.json");
  await writeFile(droid, (await readFile(droid, "utf8")).replaceAll(MODEL, "demo/gone"));
  const { code, findings } = await doctor(home.path, { env: { KIMI_CODE_HOME: join(home.path, ".kimi-code") } });
  expect(code).toBe(1);
  expect(findings).toEqual(
    expect.arrayContaining([
      "ok    opencode uses demo/small.",
      "look  opencode: the program opencode is not on the PATH.",
      "bad   Qwen Code: ~/.qwen/settings.json was left as it is: it is not readable as JSON.",
      "bad   Factory Droid: the catalog has no model demo/gone: apply another.",
      "bad   Kimi Code: it reads the key from SALDO_API_KEY, which is not set here.",
      "look  Kimi Code: the variable KIMI_CODE_HOME is set and moves or overrides its settings.",
    ]),
  );
  const set = await doctor(home.path, { env: { SALDO_API_KEY: KEY } });
  expect(set.findings.join("\n")).not.toContain("reads the key from");
});

it("mentions who else can read the key, and files of a project that count more", async () => {
  await using home = await newHome();
  await putFiles(home.path, "opencode", "another provider");
  await apply(home.path, "--agents", "opencode");
  await writeFile(join(home.path, "opencode.json"), "{}");
  const { code, findings } = await doctor(home.path);
  expect(code).toBe(0);
  expect(findings).toContain(
    "look  opencode: others on this machine can read ~/.config/opencode/opencode.json: chmod 600 it.",
  );
  expect(findings).toContain(
    "look  opencode: ~/opencode.json counts more than its settings while you work in this folder.",
  );
  await chmod(join(home.path, ".config/opencode/opencode.json"), 0o600);
  expect((await doctor(home.path)).findings.join("\n")).not.toContain("chmod");
});

it("refuses what is not an address", async () => {
  await using home = await newHome();
  expect(await doctor(home.path, { at: { url: "nowhere" } })).toMatchObject({ code: 2 });
});
