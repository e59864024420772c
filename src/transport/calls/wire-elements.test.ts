import { create, fromBinary, toBinary, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { ChatCompletionRequestSchema } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { UsageFilterSchema } from "#gen/saldo/billing/v1/usage_pb.ts";
import { boundJsonElements, MAX_ELEMENTS } from "./element-bound.ts";
import { boundWireElements } from "./wire-elements.ts";

const ChatSchema = ChatCompletionRequestSchema;
const bytesOf = (...bytes: number[]) => Uint8Array.from(bytes);
const text = (length: number) => [0x0a, length, ...Array.from({ length }, () => 0x61)];

function refusalOf(desc: DescMessage, bytes: Uint8Array): string | null {
  try {
    boundWireElements(desc, bytes);
    return null;
  } catch (error) {
    return error instanceof Error && "details" in error ? JSON.stringify(error.details) : String(error);
  }
}

test("counts every field of a message, those of nested ones included", () => {
  const atBound: MessageInitShape<typeof ChatSchema> = {
    // A message is one element, and its role another.
    messages: Array.from({ length: MAX_ELEMENTS / 2 }, () => ({ role: "user" })),
  };
  const bytes = toBinary(ChatSchema, create(ChatSchema, atBound));
  expect(refusalOf(ChatSchema, bytes)).toBeNull();
  expect(refusalOf(ChatSchema, Buffer.concat([bytes, bytesOf(0x78, 1)]))).toContain("message.elements");
});

test("takes what the decoder takes: every kind of value, maps and nested structures", () => {
  const rich = create(ChatSchema, {
    model: "x".repeat(300),
    messages: [{ role: "user", contentParts: [{ type: "text", text: "hi" }] }],
    temperature: 0.5,
    maxTokens: 4_000_000_000,
    stop: ["a", ""],
    stream: true,
    tools: [{ type: "function", function: { name: "f", parameters: { a: { b: [1, "2", null, true] } } } }],
    extra: { deep: [[[{}]]] },
  });
  expect(refusalOf(ChatSchema, toBinary(ChatSchema, rich))).toBeNull();
  const filter = create(UsageFilterSchema, { bases: [1, 2, 3] });
  expect(refusalOf(UsageFilterSchema, toBinary(UsageFilterSchema, filter))).toBeNull();
  expect(refusalOf(ChatSchema, bytesOf())).toBeNull();
});

test("counts each item of a packed list", () => {
  const length = MAX_ELEMENTS + 1;
  const packed = Buffer.concat([
    bytesOf(0x2a, 0x80 | (length & 0x7f), 0x80 | ((length >> 7) & 0x7f), length >> 14),
    Buffer.alloc(length, 1),
  ]);
  expect(fromBinary(UsageFilterSchema, packed).bases.length).toBe(length);
  expect(refusalOf(UsageFilterSchema, packed)).toContain("message.elements");
});

test.each([
  ["a message field written as a number, whose bytes only the decoder would read", [0x10, 4, ...text(2)]],
  ["a number written as text, which only the decoder would read into", [0x1a, 8, ...text(6)]],
  ["a field longer than its message", [0x12, 2, 0x0a, 4, 0x61, 0x61, 0x61, 0x61]],
  ["a length of more than 32 bits, of which the decoder reads 32", [0x0a, 0x81, 0x80, 0x80, 0x80, 0x10, 0x61]],
  ["a length of ten bytes", [0x0a, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0x61]],
  ["a group", [0x7b, 0x7c]],
  ["the end of a group", [0x7c]],
  ["a tag without a value", [0x0a]],
  ["a number without an end", [0x78, 0x80]],
  ["half of a fixed number", [0x19, 0, 0, 0]],
])("refuses %s", (_what, bytes) => {
  expect(refusalOf(ChatSchema, bytesOf(...bytes))).toContain('"rule":"protocol"');
});

test("refuses a packed list whose last number goes on behind it", () => {
  expect(refusalOf(UsageFilterSchema, bytesOf(0x2a, 1, 0x80, 0x01))).toContain('"rule":"protocol"');
});

test("refuses a structure that is nested without end before the stack is full", () => {
  const field = (tag: number, value: Uint8Array) => {
    const { length } = value;
    return Buffer.concat([bytesOf(tag, 0x80 | (length & 0x7f), 0x80 | ((length >> 7) & 0x7f), length >> 14), value]);
  };
  const nested = (depth: number): Uint8Array =>
    // A structure of one entry, whose value is a structure again.
    depth === 0 ? bytesOf() : field(0x0a, field(0x12, field(0x2a, nested(depth - 1))));
  expect(refusalOf(StructSchema, nested(33))).toBeNull();
  expect(refusalOf(StructSchema, nested(34))).toContain("nested too deeply");
});

test("counts the elements of JSON, and none inside its texts", () => {
  const list = (items: number) => Buffer.from(`[${Array.from({ length: items }, () => "1").join()}]`);
  expect(() => boundJsonElements(list(MAX_ELEMENTS))).not.toThrow();
  expect(() => boundJsonElements(list(MAX_ELEMENTS + 1))).toThrow(
    expect.objectContaining({ code: "validation_error" }),
  );
  const quoted = Buffer.from(JSON.stringify({ a: `"\\${",[{".repeat(MAX_ELEMENTS)}\\"`, b: "\\" }));
  expect(() => boundJsonElements(quoted)).not.toThrow();
  // An escaped quote at any place of a text, short or long, does not end it.
  for (let before = 0; before < 300; before += 1) {
    const escaped = Buffer.from(`["${"x".repeat(before)}\\"${",".repeat(MAX_ELEMENTS + 1)}"]`);
    expect(() => boundJsonElements(escaped)).not.toThrow();
  }
  expect(() => boundJsonElements(Buffer.concat([quoted, list(MAX_ELEMENTS + 1)]))).toThrow(
    expect.objectContaining({ code: "validation_error" }),
  );
});
