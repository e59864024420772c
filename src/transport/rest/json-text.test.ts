import fc from "fast-check";
import { expect, test } from "vitest";
import { ValidationError } from "../../kernel/errors.ts";
import { MAX_JSON_TOKENS } from "../../kernel/json-bounds.ts";
import { JsonNumber, parseJsonBody, type JsonBody } from "./json-text.ts";

const parse = (text: string, refuseDuplicateKeys = true): JsonBody =>
  parseJsonBody(Buffer.from(text), { refuseDuplicateKeys });

function ruleOf(text: string | Buffer): string | undefined {
  try {
    parseJsonBody(Buffer.from(text), { refuseDuplicateKeys: true });
    return undefined;
  } catch (error) {
    return error instanceof ValidationError ? error.details[0]?.rule : String(error);
  }
}

test.each(["5", "5.0", "0.1000000000000000055511151231257827", "1e400", "-0", "123456789012345678901234567890"])(
  "keeps the source text of %s",
  (number) => {
    expect(parse(`{"amount": ${number}}`)).toEqual({ amount: new JsonNumber(number) });
  },
);

test.each([
  ["{", "json"],
  ["", "json"],
  ['{"a": NaN}', "json"],
  ['{"a": 01}', "json"],
  ['{"a": 1,}', "json"],
  ["nul", "json"],
  ['{"a" "b"}', "json"],
  ['{"a": 1, "a": 1}', "json.duplicate_key"],
  [String.raw`{"a": 1, "\u0061": 2}`, "json.duplicate_key"],
  ['[{"b": {"c": 1, "c": 2}}]', "json.duplicate_key"],
  ["[".repeat(65) + "]".repeat(65), "json.depth"],
  ["[".repeat(200_000), "json.depth"],
  ['{"a":'.repeat(100_000), "json.depth"],
])("refuses %s by the rule %s", (text, rule) => {
  expect(ruleOf(text)).toBe(rule);
});

test("refuses bytes that are not UTF-8", () => {
  expect(ruleOf(Buffer.from([0x22, 0xff, 0x22]))).toBe("json");
});

test("accepts 64 levels, equal keys in different objects and brackets inside strings", () => {
  expect(ruleOf("[".repeat(64) + "]".repeat(64))).toBeUndefined();
  expect(ruleOf('[{"a": 1}, {"a": 2, "b": {"a": 3}}]')).toBeUndefined();
  expect(ruleOf(JSON.stringify({ a: '{"a":1,"a":2' + "[".repeat(100) + '\\"' }))).toBeUndefined();
});

test("accepts a repeated key where that does no harm", () => {
  expect(parse('{"a": "x", "a": "y"}', false)).toEqual({ a: "y" });
});

test("a __proto__ key changes no prototype", () => {
  const body = parse('{"__proto__": {"isAdmin": true}}');
  expect(Object.getPrototypeOf(body)).toBe(Object.prototype);
  expect(({} as Record<string, unknown>)["isAdmin"]).toBeUndefined();
});

test("takes the most brackets, commas and colons, and none more, at any place", () => {
  const withTokens = (count: number) => `[${"1,".repeat(count - 2)}1]`;
  expect(ruleOf(withTokens(MAX_JSON_TOKENS))).toBeUndefined();
  expect(ruleOf(withTokens(MAX_JSON_TOKENS + 1))).toBe("too_complex");
  expect(ruleOf(`[${"[],".repeat(MAX_JSON_TOKENS)}`)).toBe("too_complex");
  expect(ruleOf(JSON.stringify({ a: "[{,:}]".repeat(MAX_JSON_TOKENS) }))).toBeUndefined();
});

test("reads or refuses any text as JSON.parse does", () => {
  const fragment = fc.constantFrom('"', "\\", "{", "}", "[", "]", ",", ":", "1", '"a"', '"a":', "\\u0061", " ", "null");
  const text = fc.oneof(
    fc.array(fragment, { maxLength: 24 }).map((parts) => parts.join("")),
    fc.json().chain((json) => fc.nat(json.length).map((end) => json.slice(0, end))),
    fc.json(),
  );
  fc.assert(
    fc.property(text, (json) => {
      const succeeds = (read: () => unknown) => {
        try {
          read();
          return true;
        } catch {
          return false;
        }
      };
      expect(succeeds(() => parse(json, false))).toBe(succeeds(() => JSON.parse(json)));
    }),
    { numRuns: 3_000 },
  );
});
