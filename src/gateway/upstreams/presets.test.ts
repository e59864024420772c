import { describe, expect, it } from "vitest";
import { presetUpstreams } from "./presets.ts";

const from = (variables: Readonly<Record<string, string>>) => presetUpstreams((name) => variables[name]);

describe("presetUpstreams", () => {
  it("adds an upstream for each variable that is set and not empty", () => {
    const upstreams = from({ OPENAI_API_KEY: "sk-1", DEEPSEEK_API_KEY: "sk-2", GROQ_API_KEY: "" });
    expect(upstreams.map(({ id, apiKeyEnv }) => [id, apiKeyEnv])).toEqual([
      ["openai", "OPENAI_API_KEY"],
      ["openai-responses", "OPENAI_API_KEY"],
      ["deepseek", "DEEPSEEK_API_KEY"],
    ]);
  });

  it("never puts a credential into the configuration", () => {
    expect(
      JSON.stringify(from({ OPENAI_API_KEY: "sk-secret", VLLM_BASE_URL: "http://a/v1", VLLM_API_KEY: "sk-secret" })),
    ).not.toContain("sk-secret");
  });

  it("accepts own servers in a private network, with or without /v1 in the address", () => {
    const upstreams = from({ OLLAMA_BASE_URL: "http://127.0.0.1:11434", VLLM_BASE_URL: "http://10.0.0.2:8000/v1/" });
    expect(upstreams).toMatchObject([
      { id: "ollama", baseUrl: "http://127.0.0.1:11434/v1", allowPrivateAddress: true, apiKeyEnv: null },
      { id: "vllm", baseUrl: "http://10.0.0.2:8000/v1", allowPrivateAddress: true, apiKeyEnv: null },
    ]);
  });

  it("have their kind, the field that bounds the output, and whether cache writes are charged", () => {
    const keys = ["OPENAI", "ANTHROPIC", "OPENROUTER", "DEEPSEEK", "GROQ", "MISTRAL", "XAI", "GEMINI"];
    const all = from(Object.fromEntries(keys.map((key) => [`${key}_API_KEY`, "sk-1"])));
    const facts = all.map(({ id, kind, outputCapField = "max_tokens", chargesCacheWrites = false }) => [
      kind === "openai-compatible" ? id : `${id}: ${kind}`,
      outputCapField,
      chargesCacheWrites,
    ]);
    expect(facts).toEqual([
      ["openai", "max_completion_tokens", true],
      ["openai-responses: openai-responses", "max_completion_tokens", true],
      ["anthropic: anthropic", "max_tokens", true],
      ["openrouter", "max_tokens", true],
      ["deepseek", "max_tokens", false],
      ["groq", "max_tokens", false],
      ["mistral", "max_tokens", false],
      ["xai", "max_completion_tokens", false],
      ["gemini: gemini", "max_tokens", false],
    ]);
  });
});
