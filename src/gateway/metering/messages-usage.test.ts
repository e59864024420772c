import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MESSAGES_USAGE, readMessagesUsage, showsMessagesCounts } from "./messages-usage.ts";
import { UsageSeen } from "./usage-seen.ts";

const countsOf = (...usages: object[]) => {
  const seen = new UsageSeen(MESSAGES_USAGE);
  for (const usage of usages) seen.add({ ...usage });
  return readMessagesUsage(seen.usage)?.counts;
};

describe("the usage of a Messages answer", () => {
  it("has input beside what was read from the cache and written to it", () => {
    expect(
      countsOf({
        input_tokens: 100,
        cache_read_input_tokens: 30,
        cache_creation_input_tokens: 20,
        cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 15 },
        output_tokens: 7,
        output_tokens_details: { thinking_tokens: 4 },
      }),
    ).toEqual({
      inputTokensUncached: 100,
      inputTokensCached: 30,
      outputTokens: 7,
      otherTokens: { cacheWrite: 5, cacheWrite1h: 15 },
    });
  });

  it("has writes for five minutes where it does not divide them, and never none", () => {
    expect(countsOf({ input_tokens: 1, cache_creation_input_tokens: 20, output_tokens: 1 })?.otherTokens).toEqual({
      cacheWrite: 20,
    });
    const split = { ephemeral_5m_input_tokens: 8, ephemeral_1h_input_tokens: 2 };
    expect(countsOf({ input_tokens: 1, cache_creation: split, output_tokens: 1 })?.otherTokens).toEqual({
      cacheWrite: 8,
      cacheWrite1h: 2,
    });
  });

  const start = {
    input_tokens: 100,
    cache_read_input_tokens: 30,
    cache_creation_input_tokens: 20,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 20 },
    output_tokens: 1,
  };
  const long = { inputTokensUncached: 100, inputTokensCached: 30, otherTokens: { cacheWrite1h: 20 } };

  it.each([
    ["in the start alone", [start], { ...long, outputTokens: 1 }],
    ["in the start, and the output again at the end", [start, { output_tokens: 33 }], { ...long, outputTokens: 33 }],
    ["in both, which are never added", [start, { ...start, output_tokens: 33 }], { ...long, outputTokens: 33 }],
    ["at the end alone", [{ ...start, output_tokens: 9 }], { ...long, outputTokens: 9 }],
    [
      "changed at the end",
      [start, { input_tokens: 5, output_tokens: 2 }],
      { ...long, inputTokensUncached: 5, outputTokens: 2 },
    ],
    ["null at the end", [start, { input_tokens: null, output_tokens: 2 }], { ...long, outputTokens: 2 }],
  ])("is the last of each count: %s", (_name, usages, expected) => {
    expect(countsOf(...usages)).toEqual(expected);
  });

  it("is none without any count", () => {
    expect(readMessagesUsage(null)).toBeNull();
    expect(readMessagesUsage({})).toBeNull();
    expect(readMessagesUsage({ service_tier: "standard", server_tool_use: { web_search_requests: 0 } })).toBeNull();
    expect(readMessagesUsage({ output_tokens: 3 })).toMatchObject({ hasInput: false, hasOutput: true });
    expect(readMessagesUsage({ input_tokens: 3 })).toMatchObject({
      hasInput: true,
      hasOutput: false,
      tellsCached: false,
    });
  });

  it("is corrected where it is absurd", () => {
    const reading = readMessagesUsage({ input_tokens: -5, cache_read_input_tokens: 1e300, output_tokens: "many" });
    expect(reading).toMatchObject({ rules: ["impossible_count"], hasOutput: false });
    expect(reading?.counts).toEqual({ inputTokensUncached: 0, inputTokensCached: 2_147_483_647, outputTokens: 0 });
  });

  const count = fc.integer({ min: 0, max: 1_000_000 });

  it("shows the counts that were read from it, and no others", () => {
    fc.assert(
      fc.property(count, count, count, count, count, (input, read, short, hour, output) => {
        const usage = {
          input_tokens: input,
          cache_read_input_tokens: read,
          cache_creation_input_tokens: short + hour,
          cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: hour },
          output_tokens: output,
        };
        const counts = readMessagesUsage(usage)?.counts;
        if (counts === undefined) throw new Error("there are counts");
        expect(counts.inputTokensUncached + counts.inputTokensCached).toBe(input + read);
        expect(showsMessagesCounts(usage, counts)).toBe(true);
        expect(showsMessagesCounts(usage, { ...counts, outputTokens: output + 1 })).toBe(false);
        expect(showsMessagesCounts({ ...usage, cache_creation: null }, counts)).toBe(hour === 0);
      }),
    );
  });
});
