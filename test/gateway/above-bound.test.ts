// Output above the bound: the bill is the least of what was reported and of the larger of bound and what was relayed, and a count
// that nothing of the answer carries is none.

import { describe, expect, it } from "vitest";
import { countTokens } from "../../src/gateway/metering/estimate.ts";
import { usePlayground } from "./playground.ts";
import { chunk, completion, json, type Script, stream, usageChunk, wire } from "./scripted-upstream.ts";
import { chat } from "./support.ts";

const playground = usePlayground();
const BOUND = 100;
/** Above the bound by less than half of it. */
const TEXT = " lorem".repeat(125);
const TOKENS = await countTokens(TEXT);
const OUTPUT_TOKEN = 15_000n;

const usageOf = (output: number, more: Record<string, unknown> = {}) => ({
  prompt_tokens: 11,
  completion_tokens: output,
  total_tokens: 11 + output,
  ...more,
});
const reasoningOf = (reasoning: number) => ({ completion_tokens_details: { reasoning_tokens: reasoning } });
const body = (isStream: boolean): unknown => chat("local/m", "write", { max_tokens: BOUND, stream: isStream });

/** The same answer in one piece and as a stream. */
const WAYS: readonly [string, boolean, (text: string, usage: unknown) => Script][] = [
  [
    "a whole answer",
    false,
    (content, usage) =>
      json(
        completion({ choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }], usage }),
      ),
  ],
  [
    "a stream",
    true,
    (content, usage) => {
      const counted = usage === undefined ? [] : [usageChunk(usage)];
      return stream(wire([chunk({ content }), chunk({}, "stop"), ...counted, "[DONE]"]));
    },
  ],
];

describe.each(WAYS)("%s of more than its bound", (_name, isStream, script) => {
  it("is estimated as what was relayed, where nothing was reported", async () => {
    expect(TOKENS).toBeGreaterThan(BOUND);
    expect(TOKENS).toBeLessThan(1.5 * BOUND);
    const { settlement } = await playground.play(script(TEXT, undefined), body(isStream));
    expect(settlement).toMatchObject({ basis: "estimated", outputTokens: TOKENS });
  });

  it("is billed by the report up to what was relayed", async () => {
    const { settlement } = await playground.play(script(TEXT, usageOf(TOKENS - 5)), body(isStream));
    expect(settlement).toMatchObject({ basis: "exact", outputTokens: TOKENS - 5, clamped: false });
  });

  it("is billed for what was relayed where more is reported, and the rest is the operator's loss", async () => {
    const { settlement } = await playground.play(script(TEXT, usageOf(TOKENS + 50)), body(isStream));
    expect(settlement).toMatchObject({
      basis: "exact",
      clamped: true,
      outputTokens: TOKENS,
      unbilledCost: 50n * OUTPUT_TOKEN,
      metering: { rules: ["output_above_bound"] },
    });
  });

  it("is estimated as what was relayed, where far less is reported", async () => {
    const { settlement } = await playground.play(script(TEXT, usageOf(20)), body(isStream));
    expect(settlement).toMatchObject({ outputTokens: TOKENS, metering: { rules: ["output_below_relayed"] } });
  });
});

describe.each(WAYS)("a count that %s may not carry", (_name, isStream, script) => {
  it.each([
    ["a little above what may be", 1.5 * BOUND + 257],
    ["a million", 1_000_000],
    ["more than any model writes", 9e15],
  ])("is not used, and what was relayed is billed: %s", async (_count, reported) => {
    const { settlement } = await playground.play(script(" lorem lorem", usageOf(reported)), body(isStream));
    const outputTokens = await countTokens(" lorem lorem");
    expect(settlement).toMatchObject({ basis: "estimated", clamped: true, outputTokens, inputTokensUncached: 11 });
    expect(settlement.metering?.rules).toContain("output_far_above_relayed");
    const kept = Math.min(reported, 2 ** 31 - 1);
    expect(settlement.metering?.reported?.outputTokens).toBe(kept);
    // A count that no model can write is no loss.
    const loss = reported > 16_777_216 ? 0n : BigInt(kept - outputTokens) * OUTPUT_TOKEN;
    expect(settlement.unbilledCost ?? 0n).toBe(loss);
  });

  it.each([
    ["reasoning that was not shown, within the bound", usageOf(95, reasoningOf(90)), 95, false],
    ["other tokens that were not shown, within the bound", usageOf(100), 100, false],
    ["a little more than the bound", usageOf(1.5 * BOUND + 256), 100, true],
    ["reasoning that was not stopped by the bound", usageOf(3_000, reasoningOf(2_990)), 100, true],
  ])("is believed, and billed up to the bound: %s", async (_count, usage, outputTokens, clamped) => {
    const { settlement } = await playground.play(script(" lorem lorem", usage), body(isStream));
    expect(settlement).toMatchObject({ basis: "exact", outputTokens, clamped });
  });

  it("is not the least that a broken answer has written", async () => {
    if (!isStream) return;
    const events = [chunk({ content: " lorem" }, null, { usage: usageOf(9e15) }), chunk({ content: " lorem" })];
    const { settlement } = await playground.play(stream(wire(events)), body(true));
    expect(settlement).toMatchObject({ basis: "estimated", clamped: true, inputTokensUncached: 11 });
    expect(settlement.outputTokens).toBeLessThan(5);
  });

  it("has a reported input estimated that no model can read", async () => {
    const usage = { prompt_tokens: 9e15, completion_tokens: 3, total_tokens: 9e15 };
    const { settlement } = await playground.play(script(" lorem lorem", usage), body(isStream));
    expect(settlement).toMatchObject({ basis: "estimated", clamped: true, outputTokens: 3 });
    expect(settlement.inputTokensUncached).toBeLessThan(20);
    expect(settlement.unbilledCost ?? 0n).toBe(0n);
    expect(settlement.metering?.rules).toEqual(expect.arrayContaining(["implausible_count", "input_estimated"]));
  });
});
