import fc from "fast-check";
import { expect, it } from "vitest";
import { nearestModel } from "./nearest-model.ts";

const IDS = ["acme/large", "acme/small", "openai/gpt-4o", "openai/gpt-4o-mini", "deepseek/deepseek-chat"];

it.each<[string, string | null]>([
  ["openai/gpt-4o-mni", "openai/gpt-4o-mini"],
  ["gpt-4o-mini", "openai/gpt-4o-mini"],
  ["gpt4o-mini", "openai/gpt-4o-mini"],
  ["OpenAI/GPT-4o", "openai/gpt-4o"],
  ["azure/gpt-4o", "openai/gpt-4o"],
  ["deepseek-chat", "deepseek/deepseek-chat"],
  ["acme/larg", "acme/large"],
  ["acme/smaal", "acme/small"],
  ["", null],
  ["x", null],
  ["llama", null],
  ["claude-opus-5", null],
  ["a".repeat(200), null],
])("the model nearest to %s is %s", (wanted, expected) => {
  expect(nearestModel(wanted, IDS)).toBe(expected);
});

it("is found in little time among five thousand", () => {
  const ids = Array.from({ length: 5_000 }, (_, index) => `provider-${index % 50}/some-model-name-${index}`);
  const startedAt = performance.now();
  expect(nearestModel("provider-7/some-model-nmae-4999", ids)).toMatch(/some-model-name-/);
  expect(performance.now() - startedAt).toBeLessThan(500);
});

/** The textbook's table, whole. */
function plainDistance(one: string, other: string): number {
  const table = Array.from({ length: one.length + 1 }, (_, row) => [row]);
  for (let column = 1; column <= other.length; column += 1) (table[0] ?? [])[column] = column;
  for (let row = 1; row <= one.length; row += 1) {
    for (let column = 1; column <= other.length; column += 1) {
      const at = (r: number, c: number) => table[r]?.[c] ?? Infinity;
      const changed = at(row - 1, column - 1) + (one[row - 1] === other[column - 1] ? 0 : 1);
      (table[row] ?? [])[column] = Math.min(changed, at(row - 1, column) + 1, at(row, column - 1) + 1);
    }
  }
  return table[one.length]?.[other.length] ?? Infinity;
}

it("is named exactly where at most three letters differ", () => {
  const id = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 9, maxLength: 14 });
  fc.assert(
    fc.property(id, id, (wanted, other) => {
      expect(nearestModel(wanted, [other])).toBe(plainDistance(wanted, other) <= 3 ? other : null);
    }),
    { numRuns: 3_000 },
  );
});
