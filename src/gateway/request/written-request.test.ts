// A body that was written here is not parsed again. It has to be sized, bounded and refused as if a client had sent it.

import fc from "fast-check";
import { expect, it } from "vitest";
import { ValidationError } from "../../kernel/errors.ts";
import { MAX_JSON_DEPTH, MAX_JSON_TOKENS } from "../../kernel/json-bounds.ts";
import type { JsonObject } from "./field-rules.ts";
import { type ChatRequest, readRequest, readWrittenRequest } from "./read-request.ts";

const bodyOf = (json: JsonObject): Buffer => Buffer.from(JSON.stringify(json));
const readWritten = (json: JsonObject): ChatRequest => readWrittenRequest(bodyOf(json), json);

/** All of a request. The members of the body are found when they are asked for. */
const factsOf = (request: ChatRequest) => ({ ...request, members: [...request.members] });

const words = fc.oneof(fc.string({ unit: "binary", maxLength: 40 }), fc.constant('a "long" text\n漢🙂 '.repeat(80)));
const picture = fc.record({
  type: fc.constant("image_url"),
  image_url: fc.record({
    url: fc.constantFrom(
      "https://x.example/a.png",
      "data:image/png;base64,AAAA",
      `data:image/png;base64,${"A".repeat(4_000)}`,
    ),
    detail: fc.constantFrom("low", "high", "auto"),
  }),
});
const sound = fc.record({
  type: fc.constant("input_audio"),
  input_audio: fc.record({ data: fc.constantFrom("UklGRg==", "U".repeat(2_000)), format: fc.constant("wav") }),
});
const text = fc.record({ type: fc.constant("text"), text: words });
const content = fc.oneof(words, fc.array(fc.oneof(text, picture, sound), { maxLength: 4 }));
const call = fc.record({
  id: words,
  type: fc.constant("function"),
  function: fc.record({ name: fc.constantFrom("look", ""), arguments: words }),
});
const message = fc.oneof(
  fc.record({ role: fc.constantFrom("system", "user", "tool", "robot"), content }),
  fc.record({
    role: fc.constant("assistant"),
    content: fc.option(words),
    tool_calls: fc.array(call, { minLength: 1, maxLength: 3 }),
  }),
);
/** A schema so deep that the body is about as deep as it may be. */
const nested = fc.integer({ min: MAX_JSON_DEPTH - 8, max: MAX_JSON_DEPTH - 2 }).map((depth) => {
  let schema: JsonObject = {};
  for (let level = 1; level < depth; level += 1) schema = { properties: schema };
  return schema;
});
const definition = fc.record({
  name: fc.constantFrom("look", ""),
  description: words,
  parameters: fc.oneof(fc.constant({}), nested),
});
const tool = fc.record({ type: fc.constant("function"), function: definition });
const body = fc.record(
  {
    model: fc.constant("acme/m"),
    messages: fc.array(message, { minLength: 1, maxLength: 6 }),
    tools: fc.array(tool, { maxLength: 3 }),
    max_completion_tokens: fc.integer({ min: 0, max: 5 }),
    temperature: fc.constantFrom(0, 1, 3),
    prompt_cache_key: fc.string({ maxLength: 40 }),
    stream: fc.boolean(),
  },
  { requiredKeys: ["model", "messages"] },
);

it("is sized, bounded and refused as a client's own", () => {
  fc.assert(
    fc.property(body, (json) => {
      expect(outcomeOf(() => readWritten(json))).toEqual(outcomeOf(() => readRequest(bodyOf(json))));
    }),
    { numRuns: 500 },
  );
});

it("has at most as many brackets, commas and colons as a client's own", () => {
  const withList = (items: number): JsonObject => {
    const parameters = { enum: Array.from({ length: items }, () => 0) };
    const tools = [{ type: "function", function: { name: "look", parameters } }];
    return { model: "acme/m", messages: [{ role: "user", content: "hi" }], tools };
  };
  const ofOneItem = JSON.stringify(withList(1)).match(/[[\]{},:]/g)?.length ?? 0;
  const most = MAX_JSON_TOKENS - ofOneItem + 1;
  const refusal = [expect.objectContaining({ rule: "too_complex" })];
  for (const read of [(json: JsonObject) => readRequest(bodyOf(json)), readWritten]) {
    expect(outcomeOf(() => read(withList(most)))).toMatchObject({ messageCount: 1 });
    expect(outcomeOf(() => read(withList(most + 1)))).toEqual(refusal);
  }
});

it("leaves the data of pictures and sounds out of its text", () => {
  const picturePart = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(4_000)}` } };
  const written = readWritten({ model: "acme/m", messages: [{ role: "user", content: [picturePart] }] });
  expect(written.media.dataSpans).toHaveLength(1);
  expect(written.asciiBytes).toBeLessThan(500);
});

function outcomeOf(read: () => ChatRequest): unknown {
  try {
    return factsOf(read());
  } catch (error) {
    if (error instanceof ValidationError) return error.details;
    throw error;
  }
}
