// Agents that speak Messages or Responses: what the gateway is asked before they are pointed at it, and their further settings.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "smol-toml";
import { describe, expect, it } from "vitest";
import { createPerson } from "../../src/agents/wizard.ts";
import { putFiles } from "./start-states.ts";
import { KEY, MODEL, newHome, type Protocols, saldoAgents, snapshot, startGateway } from "./support.ts";
import { pressing } from "./terminal.ts";

type Models = Parameters<typeof startGateway>[0];

/** A gateway that is closed at the end of its block. */
async function openGateway({ models, protocols }: { models?: Models; protocols?: Protocols } = {}) {
  const gateway = await startGateway(models, "1", protocols);
  return { ...gateway, [Symbol.asyncDispose]: () => gateway.close() };
}

const applyWords = (url: string, agents: string, ...words: string[]) =>
  ["apply", "-k", KEY, "-m", MODEL, "--agents", agents, "-y", "--base-url", url].concat(words);

async function variables(home: string): Promise<Record<string, string>> {
  const text = await readFile(join(home, ".claude/settings.json"), "utf8");
  return (JSON.parse(text) as { env: Record<string, string> }).env;
}

describe("before an agent is pointed at the gateway", () => {
  it("asks the model for a few tokens in the agent's protocol, once", async () => {
    await using home = await newHome();
    await using gateway = await openGateway();
    expect(await saldoAgents(home.path, applyWords(gateway.url, "claude,codex,kimi"))).toMatchObject({ code: 0 });
    expect(gateway.probed.toSorted((one, other) => (one.path < other.path ? -1 : 1))).toEqual([
      {
        path: "/v1/messages",
        version: "2023-06-01",
        body: { model: MODEL, max_tokens: 16, messages: [{ role: "user", content: "Hello" }] },
      },
      {
        path: "/v1/responses",
        version: undefined,
        body: { model: MODEL, max_output_tokens: 16, input: "Hello", store: false },
      },
    ]);
    // Nothing is to be written, so nothing is to be billed.
    expect(await saldoAgents(home.path, applyWords(gateway.url, "claude,codex"))).toMatchObject({ code: 0 });
    expect(gateway.probed).toHaveLength(2);
  });

  it("asks for nothing that is billed on --dry-run", async () => {
    await using home = await newHome();
    await using gateway = await openGateway();
    const { code, out } = await saldoAgents(home.path, applyWords(gateway.url, "claude,codex", "--dry-run"));
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining("Claude Code: new") });
    expect(gateway.probed).toEqual([]);
  });

  it.each<[string, number, object, string]>([
    ["the path is not served", 404, { error: "not_found" }, "Codex: it needs /v1/responses, which the gateway does"],
    ["the model is refused", 400, { error: { message: "No text here." } }, "answered with status 400: No text here."],
    ["the error has our form", 422, { error: "no", message: "Not so." }, "answered with status 422: Not so."],
    ["the error has no message", 418, {}, "answered with status 418: no reason is given."],
    ["the answer has another form", 200, { choices: [] }, "did not answer in the form that it needs"],
  ])("leaves it alone and goes on with the others where %s", async (_, status, body, reason) => {
    await using home = await newHome();
    await using gateway = await openGateway({ protocols: () => ({ status, body }) });
    await putFiles(home.path, "codex", "comments");
    const before = await snapshot(home.path);
    const { code, out, err } = await saldoAgents(home.path, applyWords(gateway.url, "codex,kimi"));
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(reason) });
    expect(out).toContain("Kimi Code: uses demo/small");
    expect(await snapshot(home.path)).toMatchObject(before);
  });

  it.each([402, 429, 503])("takes status %s for something that will pass", async (status) => {
    await using home = await newHome();
    await using gateway = await openGateway({ protocols: () => ({ status, body: { error: { message: "Later." } } }) });
    const { code, err } = await saldoAgents(home.path, applyWords(gateway.url, "claude,codex"));
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });
});

describe("Claude Code", () => {
  const price = (input: string, output: string) => ({ pricing: { currency: "IDR", input, output } });

  it.each<[string, Models, string]>([
    [
      "the cheapest of the same maker",
      [
        { id: "demo/large", ...price("9000", "90000") },
        { id: "demo/mini", ...price("900.5", "2000") },
        { id: "demo/nano", ...price("900.50001", "2000") },
        { id: "other/tiny", ...price("1", "1") },
        { id: "tiny", ...price("1", "1") },
      ],
      "demo/mini",
    ],
    ["the chosen one where the others are dearer", [{ id: "demo/large", ...price("5000", "15001") }], MODEL],
    ["none that is free", [{ id: "demo/free", ...price("0", "0.0") }], MODEL],
    ["none that is too short", [{ id: "demo/tiny", ...price("1", "1"), context_length: 99_999 }], MODEL],
    [
      "none without a price",
      [
        { id: "demo/tiny", pricing: {} },
        { id: "demo/odd", ...price("-1", "1") },
      ],
      MODEL,
    ],
    ["none whose name an agent would replace", [{ id: "demo/$HOME", ...price("1", "1") }], MODEL],
  ])("gets a model for small tasks: %s", async (_, models, small) => {
    await using home = await newHome();
    await using gateway = await openGateway({ models });
    await saldoAgents(home.path, applyWords(gateway.url, "claude"));
    expect(await variables(home.path)).toMatchObject({
      ANTHROPIC_MODEL: MODEL,
      ANTHROPIC_DEFAULT_SONNET_MODEL: MODEL,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: small,
      ANTHROPIC_SMALL_FAST_MODEL: small,
    });
  });

  it("gets the small model that was named, and has its traffic reduced only where that was asked for", async () => {
    await using home = await newHome();
    await using gateway = await openGateway({ models: [{ id: "other/tiny" }] });
    await putFiles(home.path, "claude", "another provider");
    const before = await snapshot(home.path);
    const name = "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC";
    await saldoAgents(home.path, applyWords(gateway.url, "claude", "--small-model", "other/tiny"));
    expect(await variables(home.path)).toMatchObject({ ANTHROPIC_DEFAULT_HAIKU_MODEL: "other/tiny" });
    expect(await variables(home.path)).not.toHaveProperty(name);
    await saldoAgents(home.path, applyWords(gateway.url, "claude", "--less-traffic"));
    expect(await variables(home.path)).toMatchObject({ [name]: "1", ANTHROPIC_DEFAULT_HAIKU_MODEL: MODEL });
    expect(await saldoAgents(home.path, ["reset", "-y"])).toMatchObject({ code: 0, err: "" });
    expect(await snapshot(home.path)).toEqual(before);
  });

  it("loses our key even where its address was changed since", async () => {
    await using home = await newHome();
    await using gateway = await openGateway();
    await saldoAgents(home.path, applyWords(gateway.url, "claude"));
    const path = join(home.path, ".claude/settings.json");
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replace(gateway.url, "https://other.test"));
    await saldoAgents(home.path, ["reset", "-y", "--agents", "claude"]);
    expect(await readFile(path, "utf8")).not.toContain(KEY);
    expect(await variables(home.path)).toMatchObject({ ANTHROPIC_BASE_URL: "https://other.test" });
  });

  it.each([
    ["y", true],
    ["\r", false],
  ])("is asked about its traffic by the wizard: %j", async (keys, isReduced) => {
    await using home = await newHome();
    await using gateway = await openGateway();
    await putFiles(home.path, "claude", "another provider");
    const { terminal, left } = pressing([
      { at: "Address of the gateway", keys: "\r" },
      { at: "Key (it is not shown)", keys: `${KEY}\r` },
      { at: "● demo/small", keys: "\r" },
      { at: "Claude Code (found)", keys: "\r" },
      { at: "Turn off Claude Code's traffic", keys },
      { at: "Write these changes?", keys: "\r" },
    ]);
    const { code } = await saldoAgents(home.path, [], { person: createPerson(terminal), servedBy: gateway.url });
    expect({ code, left }).toEqual({ code: 0, left: [] });
    const isThere = "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC" in (await variables(home.path));
    expect(isThere).toBe(isReduced);
  });
});

it("offers no model that does not converse", async () => {
  await using home = await newHome();
  await using gateway = await openGateway({ models: [{ id: "demo/vectors", kind: "embeddings" }] });
  const { code, err } = await saldoAgents(home.path, applyWords(gateway.url, "kimi", "-m", "demo/vectors"));
  expect({ code, err }).toEqual({ code: 2, err: "There is no model demo/vectors here. There is demo/small." });
  expect(await snapshot(home.path)).toEqual({});
});

describe("Gemini CLI", () => {
  const read = async (home: string) =>
    JSON.parse(await readFile(join(home, ".gemini/settings.json"), "utf8")) as Record<string, never>;

  it("is asked for a few tokens at its own path, with the model in it", async () => {
    await using home = await newHome();
    await using gateway = await openGateway();
    expect(await saldoAgents(home.path, applyWords(gateway.url, "gemini"))).toMatchObject({ code: 0, err: "" });
    expect(gateway.probed).toEqual([
      {
        path: `/v1beta/models/${MODEL}:generateContent`,
        version: undefined,
        body: {
          contents: [{ role: "user", parts: [{ text: "Hello" }] }],
          generationConfig: { maxOutputTokens: 16 },
        },
      },
    ]);
  });

  it("gets models for its tasks, and shortens conversations before the context of the model is full", async () => {
    await using home = await newHome();
    const tiny = { id: "demo/tiny", pricing: { input: "1", output: "1" } };
    await using gateway = await openGateway({ models: [tiny, { id: "demo/long", context_length: 2_000_000 }] });
    await saldoAgents(home.path, applyWords(gateway.url, "gemini"));
    expect(await read(home.path)).toMatchObject({
      model: { name: MODEL, compressionThreshold: 0.0625 },
      modelConfigs: {
        customAliases: {
          saldo: { extends: "chat-base", modelConfig: { model: MODEL } },
          "saldo-small": { extends: "base", modelConfig: { model: "demo/tiny" } },
          classifier: { extends: "saldo-small" },
          "chat-compression-default": { extends: "saldo" },
        },
      },
    });
    await saldoAgents(home.path, applyWords(gateway.url, "gemini", "-m", "demo/long"));
    expect(await read(home.path)).toMatchObject({ model: { name: "demo/long", compressionThreshold: 0.5 } });
  });

  it("has its traffic reduced only where that was asked for", async () => {
    await using home = await newHome();
    await using gateway = await openGateway();
    await putFiles(home.path, "gemini", "comments");
    const before = await snapshot(home.path);
    const text = () => readFile(join(home.path, ".gemini/settings.json"), "utf8");
    await saldoAgents(home.path, applyWords(gateway.url, "gemini"));
    expect(await text()).not.toMatch(/usageStatistics|AutoUpdate/);
    await saldoAgents(home.path, applyWords(gateway.url, "gemini", "--less-traffic"));
    expect(await text()).toMatch(/"usageStatisticsEnabled": false[^]*"enableAutoUpdate": false/);
    expect(await saldoAgents(home.path, ["reset", "-y"])).toMatchObject({ code: 0, err: "" });
    expect(await snapshot(home.path)).toEqual(before);
  });

  it("loses our key even where its address was changed since", async () => {
    await using home = await newHome();
    await using gateway = await openGateway();
    await saldoAgents(home.path, applyWords(gateway.url, "gemini"));
    const path = join(home.path, ".gemini/.env");
    await writeFile(path, (await readFile(path, "utf8")).replace(gateway.url, "https://other.test"));
    await saldoAgents(home.path, ["reset", "-y", "--agents", "gemini"]);
    expect(await readFile(path, "utf8")).toBe("GOOGLE_GEMINI_BASE_URL=https://other.test\n");
  });

  it("keeps the model and the aliases that a person has chosen since", async () => {
    await using home = await newHome();
    await using gateway = await openGateway();
    await saldoAgents(home.path, applyWords(gateway.url, "gemini"));
    const path = join(home.path, ".gemini/settings.json");
    const chosen = (await readFile(path, "utf8"))
      .replace(`"name": "${MODEL}"`, '"name": "gemini-pro"')
      .replace('"classifier": {\n        "extends": "saldo-small"', '"classifier": {\n        "extends": "base"');
    await writeFile(path, chosen);
    await saldoAgents(home.path, ["reset", "-y", "--agents", "gemini"]);
    expect(await read(home.path)).toMatchObject({
      security: { auth: { selectedType: "gemini-api-key" } },
      model: { name: "gemini-pro" },
      modelConfigs: { customAliases: { classifier: { extends: "base", modelConfig: { model: MODEL } } } },
    });
    expect(await readFile(path, "utf8")).not.toContain("saldo");
  });
});

describe("Codex", () => {
  it("reads the key from a variable with --key-env", async () => {
    await using home = await newHome();
    await using gateway = await openGateway();
    await saldoAgents(home.path, applyWords(gateway.url, "codex", "--key-env"));
    const text = await readFile(join(home.path, ".codex/config.toml"), "utf8");
    expect(text).not.toContain(KEY);
    expect(parse(text)["model_providers"]).toMatchObject({ saldo: { env_key: "SALDO_API_KEY" } });
  });
});
