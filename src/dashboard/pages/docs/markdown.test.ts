import { expect, test } from "vitest";
import { readMarkdown } from "./markdown.ts";

test("headings, paragraphs, lists, tables and code become blocks", () => {
  const text = [
    "# Title",
    "",
    "One line",
    "and another.",
    "",
    "1. first",
    "   goes on",
    "2. second",
    "",
    "| A | B |",
    "| --- | --- |",
    "| `x` | |",
    "",
    "```sh",
    "# no heading",
    "",
    "curl",
    "```",
    "",
    "{models}",
    "",
  ].join("\n");
  expect(readMarkdown(text)).toEqual([
    { kind: "heading", level: 1, text: "Title", id: "title" },
    { kind: "paragraph", inlines: [{ kind: "text", text: "One line and another." }] },
    {
      kind: "list",
      ordered: true,
      items: [[{ kind: "text", text: "first goes on" }], [{ kind: "text", text: "second" }]],
    },
    {
      kind: "table",
      head: [[{ kind: "text", text: "A" }], [{ kind: "text", text: "B" }]],
      rows: [[[{ kind: "code", text: "x" }], []]],
    },
    { kind: "code", language: "sh", text: "# no heading\n\ncurl" },
    { kind: "models" },
  ]);
});

test("a line has code, emphasis and links, and text in code stays plain", () => {
  const [paragraph] = readMarkdown("Press **Create**, see [keys](/keys) or `a *b* [c](d)`.");
  expect(paragraph).toHaveProperty("inlines", [
    { kind: "text", text: "Press " },
    { kind: "strong", text: "Create" },
    { kind: "text", text: ", see " },
    { kind: "link", text: "keys", to: "/keys" },
    { kind: "text", text: " or " },
    { kind: "code", text: "a *b* [c](d)" },
    { kind: "text", text: "." },
  ]);
});

test("HTML is shown as text", () => {
  expect(readMarkdown("<img src=x onerror=alert(1)>")).toEqual([
    { kind: "paragraph", inlines: [{ kind: "text", text: "<img src=x onerror=alert(1)>" }] },
  ]);
});

test("unclosed code, and elements that pages cannot render, fail the build", () => {
  expect(() => readMarkdown("text\n\n```sh\ncurl")).toThrow("line 3");
  expect(() => readMarkdown("text\n\n> a quotation")).toThrow('line 3: no page shows "blockquote"');
  expect(() => readMarkdown("a ![picture](x.png)")).toThrow('line 1: no page shows "image"');
});
