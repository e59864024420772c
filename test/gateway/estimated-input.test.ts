// What a cut stream is billed of its input where the upstream has reported nothing.

import { describe, expect, it } from "vitest";
import { usePlayground } from "./playground.ts";
import { chunk, stream, wire } from "./scripted-upstream.ts";
import { chat } from "./support.ts";

const playground = usePlayground();
const CUT = stream(wire([chunk({ content: "Halo" })]));
/** 1 000 tokens. */
const SAID = "the quick brown fox jumps over the lazy dog today ".repeat(100);

async function inputOf(more: Record<string, unknown>): Promise<number> {
  const { settlement } = await playground.play(CUT, chat("local/m", "hi", { stream: true, ...more }));
  expect(settlement.basis).toBe("estimated");
  return settlement.inputTokensUncached;
}

describe("the input of a stream that was cut", () => {
  it.each([
    ["documents", { documents: [{ text: SAID }] }],
    ["a system prompt of its own", { system: SAID }],
    ["an unknown member", { of_tomorrow: { said: SAID } }],
  ])("is billed with %s, which the upstream may have put before the messages", async (_name, more) => {
    const tokens = await inputOf(more);
    expect(tokens).toBeGreaterThan(950);
    expect(tokens).toBeLessThan(1_150);
  });

  it("is billed without the members that no model reads", async () => {
    expect(await inputOf({ metadata: { note: SAID }, user: SAID.slice(0, 60), stop: ["end"] })).toBeLessThan(20);
  });
});
