import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { curlCode, exportLine, nodeCode, pythonCode, shellWord } from "../../src/dashboard/snippets/code.ts";
import { anthropicCode, responsesCode } from "../../src/dashboard/snippets/protocol-code.ts";

const place = { origin: "https://saldo.example", secret: "gw_abc" };
const hostile = `it's "x" $(touch /tmp/x) \`y\` \\ <b>\n</script>`;
const request = {
  model: "acme/large:v1.2'x",
  messages: [{ role: "user", content: hostile }] as const,
  temperature: 0.7,
  maxTokens: 64,
  stream: true,
};

describe("code to copy", () => {
  it("gives a shell exactly the request, whatever it contains", () => {
    const shown = execFileSync("sh", ["-c", curlCode(request, place).replace(/^curl/, `printf '%s\\0'`)]);
    const words = shown.toString().split("\0");
    expect(words.slice(0, 3)).toEqual([
      "https://saldo.example/v1/chat/completions",
      "-H",
      "Authorization: Bearer gw_abc",
    ]);
    expect(JSON.parse(words[6] ?? "")).toEqual({
      model: request.model,
      messages: request.messages,
      temperature: 0.7,
      max_tokens: 64,
      stream: true,
    });
  });

  it("reads the key from the environment where it is not known", () => {
    expect(curlCode(request, { ...place, secret: null })).toContain("Bearer $SALDO_API_KEY");
    expect(nodeCode(request, place)).not.toContain("gw_abc");
    expect(pythonCode(request, place)).not.toContain("gw_abc");
    expect(exportLine("gw_abc")).toBe("export SALDO_API_KEY=gw_abc");
  });

  it("writes literals of each language", () => {
    const node = /messages: (.*),\n/.exec(nodeCode(request, place))?.[1] ?? "";
    expect(JSON.parse(node)).toEqual(request.messages);
    const python = pythonCode(request, place);
    expect(python).toContain("    stream=True,");
    expect(python).toContain("    max_tokens=64,");
  });

  it("has what Messages require: a length, and system texts apart", () => {
    const messages = [{ role: "system", content: hostile } as const, ...request.messages];
    const code = anthropicCode({ model: request.model, messages }, place);
    expect(code).toContain("  max_tokens: 1024,");
    expect(code).toContain('  baseURL: "https://saldo.example",');
    expect(JSON.parse(/  messages: (.*),\n/.exec(code)?.[1] ?? "")).toEqual(request.messages);
    expect(JSON.parse(/  system: (.*),\n/.exec(code)?.[1] ?? "")).toBe(hostile);
    expect(anthropicCode(request, place)).toContain("  max_tokens: 64,");
  });

  it("has what Responses name in another way", () => {
    const code = responsesCode(request, place);
    expect(code).toContain('  baseURL: "https://saldo.example/v1",');
    expect(code).toContain("  max_output_tokens: 64,");
    expect(code).toContain("  store: false,");
    expect(JSON.parse(/  input: (.*),\n/.exec(code)?.[1] ?? "")).toEqual(request.messages);
  });

  it.each([true, false])("reads the key from the environment in every format, streamed: %s", (stream) => {
    for (const code of [anthropicCode, responsesCode]) {
      const text = code({ ...request, stream }, place);
      expect(text).toContain("env.SALDO_API_KEY");
      expect(text).not.toContain("gw_abc");
      expect(text.includes("  stream: true,")).toBe(stream);
    }
  });

  it("quotes a shell's words only where they need it", () => {
    expect(shellWord("acme/large:v1.2")).toBe("acme/large:v1.2");
    expect(shellWord("$(id)")).toBe("'$(id)'");
    expect(shellWord("")).toBe("''");
  });
});
