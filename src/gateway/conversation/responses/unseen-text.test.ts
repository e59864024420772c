import { describe, expect, it } from "vitest";
import { unseenTokens } from "./unseen-text.ts";

const LONG = "0123456789".repeat(1_000);
const TOOLS = [
  { type: "function", name: "a", description: "short", parameters: {} },
  { type: "function", name: "b", description: LONG, parameters: {} },
];

describe("text that the chat form does not have", () => {
  it("has every tool beside a choice of some", () => {
    const some = { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "a" }] };
    expect(unseenTokens({ tools: TOOLS })).toBe(0);
    expect(unseenTokens({ tools: TOOLS, tool_choice: "auto" })).toBe(0);
    expect(unseenTokens({ tools: TOOLS, tool_choice: some })).toBeGreaterThan(LONG.length);
  });

  it("has thoughts, and the names of files", () => {
    const thought = { type: "reasoning", summary: [{ type: "summary_text", text: LONG }], encrypted_content: "a" };
    const file = { type: "input_file", filename: LONG, file_data: "data:application/pdf;base64,AAAA" };
    expect(unseenTokens({ input: [thought] })).toBeGreaterThan(LONG.length);
    expect(unseenTokens({ input: [{ role: "user", content: [file] }] })).toBeGreaterThan(LONG.length);
    expect(unseenTokens({ input: [{ role: "user", content: [{ ...file, filename: "a" }] }] })).toBeLessThan(100);
  });
});
