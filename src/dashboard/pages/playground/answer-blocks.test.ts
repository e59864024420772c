import { describe, expect, it } from "vitest";
import { blocksOf, isParsed } from "./answer-blocks.ts";

describe("the blocks of an answer", () => {
  it.each([
    ["an empty text", "", []],
    ["paragraphs", "one\ntwo\n\nthree", ["one\ntwo\n\n", "three"]],
    ["code with empty lines", "a\n\n```ts\nb\n\nc\n```\n\nd", ["a\n\n", "```ts\nb\n\nc\n```\n\n", "d"]],
    ["code that has no end yet", "```\na\n\nb", ["```\na\n\nb"]],
    ["a longer fence around a shorter one", "````\n```\n\n```\n````\n\na", ["````\n```\n\n```\n````\n\n", "a"]],
    ["a list with a paragraph inside", "- a\n\n  b\n\nc", ["- a\n\n  b\n\n", "c"]],
    ["empty lines before the text", "\n\na", ["\n\n", "a"]],
  ])("are %s", (_name, text, blocks) => {
    expect(blocksOf(text)).toEqual(blocks);
    expect(blocksOf(text).join("")).toBe(text);
  });

  it("before the last do not change while the answer arrives", () => {
    const text = "# a\n\n- b\n\n  c\n\n~~~\nd\n\ne\n~~~\n\n| f |\n|---|\n\ng";
    const whole = blocksOf(text);
    for (let length = 0; length <= text.length; length += 1) {
      const before = blocksOf(text.slice(0, length)).slice(0, -1);
      expect(whole.slice(0, before.length), `after ${length} characters`).toEqual(before);
    }
  });

  it("are parsed unless a text of their length can take long", () => {
    expect(isParsed("**a".repeat(1_000))).toBe(true);
    expect(isParsed("**a".repeat(20_000))).toBe(false);
    expect(isParsed(`\`\`\`\n${"x".repeat(50_000)}`)).toBe(true);
    expect(isParsed("| a | b |\n".repeat(1_500))).toBe(true);
    expect(isParsed(`| ${"**a".repeat(3_000)} |`)).toBe(false);
    expect(isParsed("| a | b |\n".repeat(5_000))).toBe(false);
  });
});
