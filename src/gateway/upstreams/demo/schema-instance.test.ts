import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { instanceOf } from "./schema-instance.ts";

const ajv = new Ajv2020({ strict: false, validateSchema: false });
addFormats.default(ajv);

describe("an instance of a schema", () => {
  it.each<[string, object, unknown]>([
    ["a text", { type: "string" }, "demo"],
    ["a text of some length", { type: "string", minLength: 6 }, "demo d"],
    ["a short text", { type: "string", maxLength: 2 }, "de"],
    ["a format", { type: "string", format: "date" }, "2026-01-01"],
    ["one of several", { enum: ["b", "a"] }, "b"],
    ["the one value", { const: 7 }, 7],
    ["the first of several types", { type: ["integer", "null"] }, 1],
    ["null", { type: "null" }, null],
    ["a number above a bound", { type: "number", exclusiveMinimum: 4 }, 5],
    ["a number between bounds", { type: "number", exclusiveMinimum: 0.1, maximum: 0.3 }, 0.2],
    ["a whole number in steps", { type: "integer", multipleOf: 5, minimum: 12 }, 15],
    ["a whole number below a bound", { type: "integer", exclusiveMaximum: 0 }, -1],
    ["as few items as there may be", { type: "array", items: { type: "boolean" }, minItems: 2 }, [true, true]],
    ["no items", { type: "array", items: {} }, []],
    ["items by their places", { prefixItems: [{ const: 1 }], items: { const: 2 }, minItems: 2 }, [1, 2]],
    ["the required members", { properties: { a: { type: "integer" }, b: {} }, required: ["a"] }, { a: 1 }],
    [
      "a member of any name",
      { type: "object", additionalProperties: { type: "boolean" }, required: ["z"] },
      { z: true },
    ],
    ["the first alternative", { anyOf: [{ type: "boolean" }, { type: "null" }] }, true],
    [
      "all parts",
      {
        allOf: [
          { type: "object", properties: { a: { const: 1 } }, required: ["a"] },
          { properties: { b: { const: 2 } }, required: ["b"] },
        ],
      },
      { a: 1, b: 2 },
    ],
    [
      "what it refers to",
      {
        $defs: {
          "a/b": { type: "object", properties: { next: { $ref: "#/$defs/n" } }, required: ["next"] },
          n: { const: 3 },
        },
        $ref: "#/$defs/a~1b",
      },
      { next: 3 },
    ],
  ])("has %s", (_name, schema, expected) => {
    const instance = instanceOf(schema as Readonly<Record<string, unknown>>);
    expect(instance).toEqual(expected);
    expect(ajv.validate(schema, instance)).toBe(true);
  });

  it("is valid for random schemas", () => {
    const bounds = fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 0, max: 50 }));
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        fc.constantFrom({ type: "string" }, { type: "boolean" }, { type: "null" }, { const: [1] }, { enum: [null, 2] }),
        fc.nat({ max: 30 }).map((length) => ({ type: "string", minLength: length })),
        bounds.map(([minimum, more]) => ({ type: "integer", minimum, maximum: minimum + more })),
        bounds.map(([exclusiveMinimum, more]) => ({
          type: "number",
          exclusiveMinimum,
          maximum: exclusiveMinimum + 1 + more,
        })),
        fc.record({ type: fc.constant("array"), items: tie("schema"), minItems: fc.nat({ max: 3 }) }),
        fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), tie("schema"), { maxKeys: 4 }).map((properties) => ({
          type: "object",
          properties,
          required: Object.keys(properties).slice(0, 2),
          additionalProperties: false,
        })),
        fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
      ),
    }));
    fc.assert(
      fc.property(schema, (random) => {
        const instance = instanceOf(random);
        expect(ajv.validate(random as object, instance)).toBe(true);
        ajv.removeSchema(random);
      }),
    );
  });

  it.each([
    ["itself", { $ref: "#" }],
    ["more of itself", { type: "object", properties: { a: { $ref: "#" }, b: { $ref: "#" } }, required: ["a", "b"] }],
    ["many items of many", { type: "array", minItems: 1e9, items: { type: "array", minItems: 1e9, items: {} } }],
    ["a text without end", { type: "string", minLength: 1e9 }],
    ["what is not there", { $ref: "#/$defs/none" }],
    ["another document", { $ref: "https://x.example/schema.json" }],
  ])("is bounded where a schema needs %s", (_name, schema) => {
    expect(JSON.stringify(instanceOf(schema)).length).toBeLessThan(100_000);
  });
});
