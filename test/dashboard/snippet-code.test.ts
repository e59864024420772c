import { execFileSync } from "node:child_process";
import { parseAst } from "rolldown/parseAst";
import { describe, expect, it } from "vitest";
import { chatCurl, chatNode, chatPython } from "../../src/dashboard/snippets/chat-code.ts";
import { exportLine, shellWord } from "../../src/dashboard/snippets/code.ts";
import { EMBEDDINGS_FORMAT } from "../../src/dashboard/snippets/embeddings-code.ts";
import { geminiCurl, geminiNode, geminiPython } from "../../src/dashboard/snippets/gemini-code.ts";
import { messagesNode } from "../../src/dashboard/snippets/messages-code.ts";
import { FORMATS } from "../../src/dashboard/snippets/programs.ts";
import { responsesNode } from "../../src/dashboard/snippets/responses-code.ts";

const place = { origin: "https://saldo.example", secret: "gw_abc" };
const hostile = `it's "x" $(touch /tmp/x) \`y\` \\ <b>\n</script>`;
const request = {
  model: "acme/large:v1.2'x",
  messages: [{ role: "user", content: hostile }] as const,
  temperature: 0.7,
  maxTokens: 64,
  stream: true,
};

/** The words that a shell gives to curl. */
function wordsOf(command: string): string[] {
  const shown = execFileSync("sh", ["-c", command.replace(/^curl/, `printf '%s\\0'`)]);
  return shown.toString().split("\0").slice(0, -1);
}

describe("code to copy", () => {
  it("gives a shell exactly the request, whatever it contains", () => {
    const words = wordsOf(chatCurl(request, place));
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
    expect(chatCurl(request, { ...place, secret: null })).toContain("Bearer $SALDO_API_KEY");
    expect(chatNode(request, place)).not.toContain("gw_abc");
    expect(chatPython(request, place)).not.toContain("gw_abc");
    expect(exportLine("gw_abc")).toBe("export SALDO_API_KEY=gw_abc");
  });

  it("writes literals of each language", () => {
    const node = /messages: (.*),\n/.exec(chatNode(request, place))?.[1] ?? "";
    expect(JSON.parse(node)).toEqual(request.messages);
    const python = chatPython(request, place);
    expect(python).toContain("    stream=True,");
    expect(python).toContain("    max_tokens=64,");
  });

  it("has what Messages require: a length, and system texts apart", () => {
    const messages = [{ role: "system", content: hostile } as const, ...request.messages];
    const code = messagesNode({ model: request.model, messages }, place);
    expect(code).toContain("  max_tokens: 1024,");
    expect(code).toContain('  baseURL: "https://saldo.example",');
    expect(JSON.parse(/  messages: (.*),\n/.exec(code)?.[1] ?? "")).toEqual(request.messages);
    expect(JSON.parse(/  system: (.*),\n/.exec(code)?.[1] ?? "")).toBe(hostile);
    expect(messagesNode(request, place)).toContain("  max_tokens: 64,");
  });

  it("has what Responses name in another way", () => {
    const code = responsesNode(request, place);
    expect(code).toContain('  baseURL: "https://saldo.example/v1",');
    expect(code).toContain("  max_output_tokens: 64,");
    expect(code).toContain("  store: false,");
    expect(JSON.parse(/  input: (.*),\n/.exec(code)?.[1] ?? "")).toEqual(request.messages);
  });

  it("has what Gemini's API names in another way: the model in the path, roles, and options apart", () => {
    const messages = [
      { role: "system", content: hostile } as const,
      ...request.messages,
      { role: "assistant", content: "yes" } as const,
    ];
    const contents = [
      { role: "user", parts: [{ text: hostile }] },
      { role: "model", parts: [{ text: "yes" }] },
    ];
    const [url, , , , , , body] = wordsOf(geminiCurl({ ...request, messages }, place));
    expect(url).toBe("https://saldo.example/v1beta/models/acme/large%3Av1.2'x:streamGenerateContent?alt=sse");
    expect(JSON.parse(body ?? "")).toEqual({
      systemInstruction: { parts: [{ text: hostile }] },
      contents,
      generationConfig: { temperature: 0.7, maxOutputTokens: 64 },
    });
    const node = geminiNode({ ...request, messages }, place);
    expect(JSON.parse(/  contents: (.*),\n/.exec(node)?.[1] ?? "")).toEqual(contents);
    const config = { systemInstruction: hostile, temperature: 0.7, maxOutputTokens: 64 };
    expect(JSON.parse(/  config: (.*),\n/.exec(node)?.[1] ?? "")).toEqual(config);
    expect(geminiPython(request, place)).toContain('    config={"temperature":0.7,"max_output_tokens":64},');
    expect(geminiNode({ model: "m", messages: request.messages }, place)).not.toContain("config:");
  });

  describe.each([...FORMATS, EMBEDDINGS_FORMAT])("in the format $id", ({ code }) => {
    it.each([true, false])(
      "parses, reads the key from the environment and holds the question, streamed: %s",
      (stream) => {
        const asked = { ...request, stream };
        const words = wordsOf(code.curl(asked, place));
        expect(words).toContain("Authorization: Bearer gw_abc");
        expect(JSON.stringify(JSON.parse(words.at(-1) ?? ""))).toContain(JSON.stringify(hostile));
        const node = code.node(asked, place);
        expect(() => parseAst(node)).not.toThrow();
        const python = code.python(asked, place);
        for (const text of [node, python]) {
          expect(text).toContain("SALDO_API_KEY");
          expect(text).not.toContain("gw_abc");
          expect(text).toContain(JSON.stringify(hostile));
        }
        expect(python).not.toMatch(/=(?:true|false|null),$/m);
      },
    );
  });

  it("quotes a shell's words only where they need it", () => {
    expect(shellWord("acme/large:v1.2")).toBe("acme/large:v1.2");
    expect(shellWord("$(id)")).toBe("'$(id)'");
    expect(shellWord("")).toBe("''");
  });
});
