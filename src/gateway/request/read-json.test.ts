import { describe, expect, it } from "vitest";
import { ValidationError } from "../../kernel/errors.ts";
import { MAX_JSON_DEPTH, MAX_JSON_TOKENS } from "../../kernel/json-bounds.ts";
import { readStrictObject } from "./read-json.ts";

const LONG = "a\u00e9\u{1f600}\n".repeat(2_000);

describe("readStrictObject", () => {
  it("reads long strings whole", () => {
    const object = { text: LONG, within: [{ text: LONG }] };
    expect(readStrictObject(Buffer.from(JSON.stringify(object)))).toEqual(object);
  });

  const deep = "[".repeat(MAX_JSON_DEPTH) + "]".repeat(MAX_JSON_DEPTH);
  it.each<[string, string | Buffer, string]>([
    ["bytes that are not UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), "utf8"],
    ["an array", "[]", "object"],
    ["nothing", "", "object"],
    ["half of an object", '{"a":1', "json"],
    ["an object with more behind it", "{}{}", "json"],
    ["a bad escape in a long string", `{"a":"${"x".repeat(2_000)}\\q"}`, "json"],
    ["a value that is nested too deep", `{"a":${deep}}`, "depth"],
    ["too many values", `{"a":[${"0,".repeat(MAX_JSON_TOKENS)}0]}`, "too_complex"],
    ["a repeated name", '{"a":1,"\\u0061":1}', "unique"],
    ["a repeated name within", '{"a":[{"b":{"c":1,"c":2}}]}', "unique"],
    ["a prototype within", '{"a":[{"__pr\\u006fto__":{}}]}', "forbidden"],
  ])("refuses %s", (_name, body, rule) => {
    const read = () => readStrictObject(Buffer.from(body));
    expect(read).toThrow(ValidationError);
    expect(read).toThrow(expect.objectContaining({ details: [expect.objectContaining({ rule })] }) as Error);
  });
});
