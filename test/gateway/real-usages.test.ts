import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { inputTokensOf, outputTokensOf } from "../../src/billing/cost.ts";
import { readUsage } from "../../src/gateway/metering/read-usage.ts";

type Row = {
  readonly family: string;
  readonly source: string;
  readonly usage: Readonly<Record<string, unknown>>;
  readonly is: Readonly<Record<string, unknown>>;
};

const ROWS = parse(readFileSync(new URL("fixtures/real-usages.yaml", import.meta.url), "utf8")) as Row[];

describe("a real usage object", () => {
  it.each(ROWS.map((row) => [`${row.family}: ${row.source}`, row] as const))(
    "of %s is read into disjoint counts",
    (_name, row) => {
      const reading = readUsage(row.usage);
      if (reading === null) throw new Error("it was not read");
      const { inputTokensUncached, inputTokensCached, outputTokens, otherTokens } = reading.counts;
      const { hasOutput = true, rules = [], costUsd = null, ...counts } = row.is;
      expect({
        input: inputTokensUncached,
        cached: inputTokensCached,
        output: outputTokens,
        reasoning: reading.reasoningTokens,
        ...otherTokens,
      }).toEqual({ input: 0, cached: 0, output: 0, reasoning: 0, ...counts });
      expect(reading).toMatchObject({ hasInput: true, hasOutput, rules, costUsd });
      const sum = inputTokensOf(reading.counts) + outputTokensOf(reading.counts);
      expect(row.usage["total_tokens"] ?? sum).toBe(sum);
    },
  );

  it("is known of every family that Saldo has an upstream for", () => {
    const families = ROWS.map(({ family }) => family).join(" ");
    for (const family of [
      "openai",
      "gemini",
      "anthropic",
      "openrouter",
      "xai",
      "deepseek",
      "moonshot",
      "groq",
      "mistral",
      "vllm",
      "ollama",
    ]) {
      expect(families).toContain(family);
    }
    expect(ROWS.length).toBeGreaterThanOrEqual(40);
  });
});
