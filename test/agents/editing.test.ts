// The editors on generated texts: an edit has the result it should have, and taking it back gives the text back.

import { parseEnv } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dotenv } from "../../src/agents/editing/dotenv.ts";
import { type Edit, UneditableFile, type ValueMap } from "../../src/agents/editing/edits.ts";
import { editText, type Format } from "../../src/agents/editing/format.ts";
import { jsonWithComments } from "../../src/agents/editing/json.ts";
import { toml } from "../../src/agents/editing/toml.ts";
import { yaml } from "../../src/agents/editing/yaml.ts";
import { withLineEnds } from "../../src/agents/files/line-ends.ts";

const key = fc.string({ minLength: 1, maxLength: 6 }).filter((text) => text !== "__proto__" && text !== "ours");
const leaf = fc.oneof(fc.string({ maxLength: 8 }), fc.integer(), fc.boolean());
const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    leaf,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(key, tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
const anyMap = fc.dictionary(key, anyValue, { minKeys: 1, maxKeys: 4, noNullPrototype: true });
const ours: ValueMap = { name: 'a"b\n', list: [1, { deep: true }], on: false };

/** Comments in the places where people write them, which never change the meaning of a text. */
function commented(text: string, { mark, every }: { mark: string; every: number }): string {
  return text.replaceAll(/$/gm, (_, at: number) => (at % every === 0 && at > 1 ? ` ${mark} "kept", [` : ""));
}

const anyJson = fc
  .record({ value: anyMap, indent: fc.constantFrom("\t", "  ", "    ", ""), every: fc.integer({ min: 2, max: 9 }) })
  .map(({ value, indent, every }) => {
    const text = JSON.stringify(value, null, indent);
    return indent === "" ? text : `${commented(text, { mark: "//", every })}\n`;
  });

describe("JSON", () => {
  it("adds an entry at any place and takes it away without a trace", () => {
    fc.assert(
      fc.property(anyJson, fc.constantFrom(["ours"], ["ours", "deeper"]), (text, path) => {
        const added = editText(jsonWithComments, text, [{ kind: "set", path, value: ours }]);
        expect(editText(jsonWithComments, added, [{ kind: "remove", path: ["ours"] }])).toBe(text);
      }),
    );
  });

  it("adds an item at either end of any list, and takes it away without a trace", () => {
    fc.assert(
      fc.property(
        fc.array(anyValue, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        fc.constantFrom("\t", "  ", ""),
        (items, isFirst, indent) => {
          const text = JSON.stringify({ list: items }, null, indent);
          const index = isFirst ? 0 : items.length;
          const added = editText(jsonWithComments, text, [{ kind: "insert", path: ["list"], index, value: ours }]);
          const removed = editText(jsonWithComments, added, [{ kind: "remove", path: ["list", index] }]);
          expect(removed).toBe(text);
        },
      ),
    );
  });
});

describe.each<[string, Format, string, readonly Edit[], readonly Edit[]]>([
  [
    "TOML",
    toml,
    'top = """\n[not.a.table]\n# no comment"""\n[a] # [b]\nlist = [ # c\n  "]",\n]\n\n[[b]]\nx = \'#\'\n[[b]]\n"q.r" = { s = 1 }\n',
    [
      { kind: "set", path: ["default_model"], value: "saldo/a" },
      { kind: "set", path: ["a", "saldo"], value: ours },
    ],
    [
      { kind: "remove", path: ["default_model"] },
      { kind: "remove", path: ["a", "saldo"] },
    ],
  ],
  [
    "YAML",
    yaml,
    "# first\n---\nname: &n Mine # c\nmodels:\n    # about the first\n    - name: *n\n      text: |\n        - not an item\n        # nor a comment\n\n    # about the second\n    - { name: b }\nrules:\n- a - b\n",
    [{ kind: "insert", path: ["models"], index: 0, value: ours }],
    [{ kind: "remove", path: ["models", 0] }],
  ],
  [
    "YAML without items",
    yaml,
    "models: [] # none\nname: x\n",
    [{ kind: "insert", path: ["models"], index: 0, value: ours }],
    [{ kind: "remove", path: ["models", 0] }],
  ],
  [
    "YAML at its end",
    yaml,
    "models:\n- a\n# the end\n",
    [{ kind: "insert", path: ["models"], index: 1, value: ours }],
    [{ kind: "remove", path: ["models", 1] }],
  ],
])("%s", (_, format, text, there, back) => {
  it("goes there and back through a text with traps", () => {
    const edited = editText(format, text, there);
    expect(edited).not.toBe(text);
    expect(editText(format, edited, back)).toBe(text);
  });
});

it.each<[string, Format, string]>([
  ["a table that is written inline", toml, "providers = { other = { type = 'x' } }\n"],
  ["a name that stands twice", jsonWithComments, '{ "providers": {}, "providers": {} }'],
  ["a text where a map should be", jsonWithComments, '{ "providers": "none" }'],
])("does not touch %s", (_, format, text) => {
  const edit: Edit = { kind: "set", path: ["providers", "saldo"], value: ours };
  expect(() => editText(format, text, [edit])).toThrow(UneditableFile);
});

describe("line ends of two kinds", () => {
  const anyLines = fc.array(fc.tuple(fc.constantFrom<string>("a", "b", "  },", ""), fc.constantFrom("\n", "\r\n")), {
    maxLength: 12,
  });

  it("stay with their lines, with any lines put between them, and also where the new lines are the same", () => {
    fc.assert(
      fc.property(anyLines, fc.array(fc.tuple(fc.nat(12), fc.constantFrom("a", "  },", "new"))), (old, added) => {
        const written = old.map(([line, end]) => line + end).join("");
        const lines = added.reduce(
          (longer, [at, line]) => longer.toSpliced(at, 0, line),
          old.map(([line]) => line),
        );
        const ended = withLineEnds(lines.map((line) => `${line}\n`).join(""), written);
        expect(ended.replaceAll("\r\n", "\n")).toBe(lines.map((line) => `${line}\n`).join(""));
        // Every old line is there, with its end and in its order.
        const found = ended.split(/(?<=\n)/);
        let behind = 0;
        const places = old.map(([line, end]) => (behind = found.indexOf(line + end, behind) + 1));
        expect(places).not.toContain(0);
      }),
    );
  });

  it("stay with a line that is changed", () => {
    const written = '{\r\n  "a": 1\n}\r\n';
    expect(withLineEnds('{\n  "a": 1,\n  "b": 2\n}\n', written)).toBe('{\r\n  "a": 1,\n  "b": 2\r\n}\r\n');
  });
});

describe("variables", () => {
  const name = fc.stringMatching(/^[A-Z][A-Z0-9_]{0,5}$/).filter((each) => each !== "OURS");
  const value = fc.constantFrom("plain", "a b", "'single # quoted'", '"double\\nquoted"', "`back`", "'two\nlines'");
  const line = fc.oneof(
    fc
      .tuple(fc.constantFrom("", "export ", "  "), name, fc.constantFrom("=", " = "), value)
      .map(([front, each, sign, text]) => `${front}${each}${sign}${text}`),
    fc.constantFrom("", "# OURS=comment", "  # it's a comment"),
  );
  const anyText = fc
    .tuple(fc.uniqueArray(line, { maxLength: 5, selector: (each) => each.trim().split(/[ =]/)[0] }), fc.boolean())
    .map(([lines, isEnded]) => lines.join("\n") + (isEnded && lines.length > 0 ? "\n" : ""));

  it("gets one more at the end, which goes without a trace, and Node reads all of them as before", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        fc.pre(text.trim() !== "");
        const added = editText(dotenv, text, [{ kind: "set", path: ["OURS"], value: "http://127.0.0.1:3000" }]);
        expect(parseEnv(added)).toEqual({ ...parseEnv(text), OURS: "http://127.0.0.1:3000" });
        expect(editText(dotenv, added, [{ kind: "remove", path: ["OURS"] }])).toBe(text);
      }),
    );
  });

  it.each([
    ["export A = 'b' # why\nC=d\n", "export A = 'new' # why\nC=d\n"],
    ['A="b"', 'A="new"'],
    ["A=b#c\n", "A=new#c\n"],
    ["A=\nB = \n", "A=new\nB = \n"],
    ["A=1\nA: 2\n", "A=1\nA: new\n"],
  ])("are changed in their place: %j", (text, expected) => {
    expect(editText(dotenv, text, [{ kind: "set", path: ["A"], value: "new" }])).toBe(expected);
  });

  it.each(["A\n", "A='b\n", "[section]\n", "A=b\n- c\n"])("are left alone with a line of another kind: %j", (text) => {
    expect(() => editText(dotenv, text, [{ kind: "set", path: ["A"], value: "new" }])).toThrow(UneditableFile);
  });

  it.each<[string, Edit]>([
    ["a map", { kind: "set", path: ["A"], value: { b: "c" } }],
    ["a text of several lines", { kind: "set", path: ["A"], value: "b\nc" }],
    ["a place in a map", { kind: "set", path: ["A", "b"], value: "c" }],
    ["an item", { kind: "insert", path: ["A"], index: 0, value: "c" }],
  ])("have no place for %s", (_, edit) => {
    expect(() => editText(dotenv, "B=c\n", [edit])).toThrow(UneditableFile);
  });
});
