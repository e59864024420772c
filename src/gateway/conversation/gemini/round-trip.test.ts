// A request that is read and written again has every known field as it came.

import fc from "fast-check";
import { expect, it } from "vitest";
import { readGeminiRequest } from "./read-gemini-request.ts";
import { writeGeminiRequest } from "./write-gemini-request.ts";

const TARGET = { model: "acme/gemini", stream: true };
/** Is on the first call of a turn whose signature is not known. */
const MARK = { thoughtSignature: "skip_thought_signature_validator" };

const words = fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => `w${text}.`);
const name = fc.constantFrom("look", "see", "wait");
const args = fc.dictionary(fc.constantFrom("at", "by", "on"), fc.oneof(words, fc.integer(), fc.boolean()));
const text = words.map((each) => ({ text: each }));
const image = fc.base64String({ minLength: 4 }).map((data) => ({ inlineData: { mimeType: "image/png", data } }));
const result = fc.oneof(
  words.map((output) => ({ output })),
  words.map((error) => ({ error })),
);

/** A turn of the user, or calls with their results and what the user adds to them. */
const round = fc.record({
  said: fc.array(text, { minLength: 1, maxLength: 2 }),
  calls: fc.array(fc.record({ name, args, result }), { maxLength: 3 }),
  asked: fc.array(fc.oneof(text, image), { minLength: 1, maxLength: 2 }),
});
const contents = fc
  .tuple(fc.array(fc.oneof(text, image), { minLength: 1 }), fc.array(round, { maxLength: 3 }))
  .map(([first, rounds]) => [
    { role: "user", parts: first },
    ...rounds.flatMap(({ said, calls, asked }) => [
      {
        role: "model",
        parts: [
          ...said,
          ...calls.map((call, at) => ({
            functionCall: { name: call.name, args: call.args },
            ...(at === 0 ? MARK : {}),
          })),
        ],
      },
      {
        role: "user",
        parts: [...calls.map((call) => ({ functionResponse: { name: call.name, response: call.result } })), ...asked],
      },
    ]),
  ]);

const schema = fc.constant({ type: "object", properties: { at: { type: "number" } }, required: ["at"] });
const tools = fc.uniqueArray(name, { minLength: 1 }).chain((names) =>
  fc.record({
    tools: fc.constant([
      {
        functionDeclarations: names.map((each) => ({
          name: each,
          description: `${each}s`,
          parametersJsonSchema: { type: "object" },
        })),
      },
    ]),
    toolConfig: fc
      .constantFrom(
        { mode: "AUTO" },
        { mode: "ANY" },
        { mode: "NONE" },
        { mode: "ANY", allowedFunctionNames: [names[0] ?? ""] },
      )
      .map((functionCallingConfig) => ({ functionCallingConfig })),
  }),
);
const format = fc.oneof(
  fc.constant({}),
  fc.constant({ responseMimeType: "application/json" }),
  schema.map((responseJsonSchema) => ({ responseMimeType: "application/json", responseJsonSchema })),
);
const config = fc
  .tuple(
    fc.record(
      {
        temperature: fc.constantFrom(0, 0.5, 2),
        topP: fc.constantFrom(0.1, 1),
        topK: fc.integer({ min: 1, max: 100 }),
        stopSequences: fc.array(words, { minLength: 1, maxLength: 5 }),
      },
      { requiredKeys: [] },
    ),
    format,
    fc.constantFrom({}, { thinkingBudget: 2_048 }, { thinkingBudget: 8_192 }, { thinkingBudget: 16_384 }),
  )
  .map(([sampling, shape, thinking]) => ({
    maxOutputTokens: 65_536,
    ...sampling,
    ...shape,
    thinkingConfig: { includeThoughts: true, ...thinking },
  }));
const body = fc
  .record({
    system: fc.array(text, { maxLength: 2 }),
    contents,
    tools: fc.option(tools, { nil: {} }),
    generationConfig: config,
  })
  .map(({ system, tools: declared, ...rest }) => ({
    ...(system.length === 0 ? {} : { systemInstruction: { parts: system } }),
    ...declared,
    ...rest,
  }));

it("keeps every field of a request", () => {
  fc.assert(
    fc.property(body, (request) => {
      const { conversation } = readGeminiRequest(request, TARGET);
      const facts = { origin: "google", outputBound: conversation.outputCap ?? 0, thinks: true };
      expect(JSON.parse(writeGeminiRequest(conversation, facts).toString())).toEqual(request);
    }),
  );
});
