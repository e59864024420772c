import { describe, expect, it } from "vitest";
import { MAX_FOREIGN_TOKENS, parseForeignJson } from "./foreign-json.ts";

const padding = " ".repeat(MAX_FOREIGN_TOKENS);
const MEMBERS = { '"': ":,[]{}", at: '\\",{', list: [1, "[", { a: null }] };

describe("parseForeignJson", () => {
  it.each([
    ["a short text", JSON.stringify(MEMBERS), MEMBERS],
    [
      "a long text",
      JSON.stringify({ ...MEMBERS, long: ",[{".repeat(400_000) }),
      { ...MEMBERS, long: ",[{".repeat(400_000) },
    ],
    ["no JSON", "{", undefined],
    ["long text that is no JSON", `"${padding}`, undefined],
    ["a backslash at the end", `${padding}"\\`, undefined],
  ])("reads %s", (_name, text, value) => {
    expect(parseForeignJson(text)).toEqual(value);
  });

  it("takes as many tokens as are allowed, and not one more", () => {
    const list = (tokens: number): string => `[${"0,".repeat(tokens - 2)}0]`;
    expect(parseForeignJson(list(MAX_FOREIGN_TOKENS))).toHaveLength(MAX_FOREIGN_TOKENS - 1);
    expect(parseForeignJson(list(MAX_FOREIGN_TOKENS + 1))).toBeUndefined();
  });
});
