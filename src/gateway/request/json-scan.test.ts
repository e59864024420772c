import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_JSON_DEPTH, MAX_JSON_TOKENS } from "../../kernel/json-bounds.ts";
import { JsonScanError, scanObject } from "./json-scan.ts";
import { skeletonOf } from "./skeleton.ts";

const textOf = (bytes: Buffer, span: { start: number; end: number } | undefined) =>
  span === undefined ? undefined : bytes.toString("utf8", span.start, span.end);

const reasonOf = (text: string): string => {
  try {
    scanObject(Buffer.from(text), MAX_JSON_TOKENS);
    return "scanned";
  } catch (error) {
    return error instanceof JsonScanError ? error.reason : String(error);
  }
};

const nested = (depth: number) => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;

describe("scanObject", () => {
  it("finds each top-level member where JSON.parse finds it, in any formatting", () => {
    const key = fc.string({ maxLength: 8, unit: "grapheme" });
    const long = fc.string({
      minLength: 1_000,
      maxLength: 3_000,
      unit: fc.constantFrom("a", '"', "\\", "é", "\n", "😀"),
    });
    const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), long);
    fc.assert(
      fc.property(fc.dictionary(key, value, { maxKeys: 6 }), fc.constantFrom(0, 1, 3), (object, indent) => {
        const bytes = Buffer.from(JSON.stringify(object, null, indent));
        const { members, repeated } = scanObject(bytes);
        expect(repeated).toEqual([]);
        expect([...members.keys()].toSorted()).toEqual(Object.keys(object).toSorted());
        for (const [name, span] of members) {
          expect(JSON.parse(textOf(bytes, span) ?? "")).toEqual(JSON.parse(JSON.stringify(object[name])));
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("finds the end of a long string at any place in memory, and after any text", () => {
    const text = JSON.stringify({ a: `${"x".repeat(150)}\\\\"é"`, b: "\\".repeat(90), c: 1 });
    for (let offset = 0; offset < 16; offset += 1) {
      for (let size = 0; size <= 20; size += 1) {
        const shifted = text.replace("xx", "x".repeat(2 + size));
        const memory = Buffer.concat([Buffer.alloc(offset), Buffer.from(shifted)]);
        const bytes = memory.subarray(offset);
        expect([...scanObject(bytes).members].map(([, span]) => textOf(bytes, span))).toEqual(
          Object.values(JSON.parse(shifted) as object).map((value) => JSON.stringify(value)),
        );
        for (const cut of [1, 2, 3, 4, 5]) {
          const part = memory.subarray(offset, offset + 150 + size + cut);
          expect(() => scanObject(part)).toThrow(JsonScanError);
        }
      }
    }
  });

  it.each([
    "__proto__",
    "\\u005f_proto__",
    "__p\\u0072oto__",
    "\\u005F\\u005f\\u0070\\u0072\\u006f\\u0074\\u006f\\u005f_",
  ])("sees the key %s at any depth, and no text like it", (key) => {
    const scan = (text: string) => scanObject(Buffer.from(text)).hasProtoKey;
    expect(scan(`{"a":[{"b":1,"${key}" : 2}]}`)).toBe(true);
    expect(scan(`{"a":["${key}"],"b":"${key}","c":"{\\"__proto__\\":1}"}`)).toBe(false);
  });

  it("leaves long strings out of what is parsed, and everything else in", () => {
    const long = `${"x".repeat(2_000)}\\"end`;
    const bytes = Buffer.from(JSON.stringify({ a: long, b: [long, "short"], c: { d: 1.5 } }));
    const { longStrings } = scanObject(bytes);
    expect(longStrings).toHaveLength(2);
    expect(JSON.parse(skeletonOf(bytes, longStrings))).toMatchObject({
      a: expect.stringMatching(/^x{16}/),
      b: [expect.any(String), "short"],
      c: { d: 1.5 },
    });
  });

  it("names a key that comes twice, also when one of them is escaped", () => {
    expect(scanObject(Buffer.from('{"model":"a","mod\\u0065l":"b"}')).repeated).toEqual(["model"]);
    const nestedTwice = scanObject(Buffer.from('{"a":{"x":1,"x":":"},"b":"a"}'));
    expect(nestedTwice).toMatchObject({ repeated: [], memberCount: 4 });
  });

  it("refuses nesting deeper than the limit, however deep it is", () => {
    expect(reasonOf(nested(MAX_JSON_DEPTH))).toBe("scanned");
    expect(reasonOf(nested(MAX_JSON_DEPTH + 1))).toBe("too_deep");
    expect(reasonOf(nested(200_000))).toBe("too_deep");
  });

  it("refuses more brackets, commas and colons than the limit, those inside of strings not counted", () => {
    // Five tokens lie around the list.
    const withTokens = (count: number) => `{"a":[${"1,".repeat(count - 5)}1]}`;
    expect(reasonOf(withTokens(MAX_JSON_TOKENS))).toBe("scanned");
    expect(reasonOf(withTokens(MAX_JSON_TOKENS + 1))).toBe("too_complex");
    expect(reasonOf(`{"a":[${"[],".repeat(1_000_000)}`)).toBe("too_complex");
    expect(reasonOf(`{${'"a":1,'.repeat(MAX_JSON_TOKENS)}`)).toBe("too_complex");
    expect(scanObject(Buffer.from(withTokens(MAX_JSON_TOKENS + 1))).members.has("a")).toBe(true);
    expect(reasonOf(`{"a":"${"[{,:}]".repeat(MAX_JSON_TOKENS)}"}`)).toBe("scanned");
  });

  it.each([
    ["[]", "not_an_object"],
    ['"{"', "not_an_object"],
    ["", "not_an_object"],
    ["{", "truncated"],
    ['{"a":"b', "truncated"],
    [`{"a":"${"b".repeat(5_000)}`, "truncated"],
    ['{"a":"b\\"}', "truncated"],
  ])("reports why %s cannot be scanned", (text, reason) => {
    expect(reasonOf(text)).toBe(reason);
  });
});
