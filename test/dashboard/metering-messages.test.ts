import { expect, it } from "vitest";
import { METERING_MESSAGES } from "../../src/dashboard/pages/usage/metering-messages.ts";
import type { MeteringRule } from "../../src/gateway/metering/rules.ts";

/** A rule without a sentence is one that the compiler refuses here. */
const SENTENCES: Readonly<Record<"id" | "en", Readonly<Record<MeteringRule, string>>>> = METERING_MESSAGES;

it.each(["id", "en"] as const)("has a sentence of its own for every rule of counting, in %s", (language) => {
  const sentences = Object.values(SENTENCES[language]);
  expect(new Set(sentences).size).toBe(sentences.length);
  for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z].{20,}\.$/);
  expect(Object.keys(SENTENCES[language])).toEqual(Object.keys(SENTENCES.en));
});
