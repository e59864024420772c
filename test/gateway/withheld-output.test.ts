// Output that the balance does not cover: what is shown of it is billed, and what is not shown is the operator's loss.

import { beforeEach, describe, expect, it } from "vitest";
import { costOf } from "../../src/billing/cost.ts";
import { ServiceBusy } from "../../src/kernel/errors.ts";
import { formatMoney, idr } from "../../src/kernel/money.ts";
import { STREAMED, usePlayground } from "./playground.ts";
import { chunk, completion, json, stream, usageChunk, wire } from "./scripted-upstream.ts";

const playground = usePlayground();
const PARAGRAPH = "the quick brown fox jumps over the lazy dog and runs away ".repeat(8);
const TOKENS_OF_PARAGRAPH = 12 * 8;
/** Rp 0.015 per token of output. */
const OUTPUT_TOKEN = 15_000n;
const PICTURE = { images: [{ type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(4_000)}` } }] };

/** One JSON text of 9 600 tokens where a stream was asked for. */
const LONG_JSON = (more: object = {}): string => {
  const message = { role: "assistant", content: PARAGRAPH.repeat(100) };
  const usage = { prompt_tokens: 10, completion_tokens: 9_600, total_tokens: 9_610 };
  return completion({ choices: [{ index: 0, message, finish_reason: "stop" }], usage, ...more });
};

beforeEach(() => {
  playground.bench.ledger.extendWith = () => Promise.resolve({ outcome: "refused", amount: 7n, othersHold: false });
});

describe("a stream whose balance covers a slab", () => {
  it.each([
    ["with usage", LONG_JSON()],
    ["without usage", LONG_JSON({ usage: undefined })],
  ])(
    "gets of one JSON text %s as much as is held, pays for that, and the rest is the operator's loss",
    async (_, text) => {
      const { error, sink, outcome, settlement } = await playground.play(json(text), STREAMED);
      expect(error).toBeNull();
      expect(outcome).toBe("insufficient_balance");
      const shown = sink.text;
      expect(PARAGRAPH.repeat(100).startsWith(shown)).toBe(true);
      const tokens = (shown.length / PARAGRAPH.length) * TOKENS_OF_PARAGRAPH;
      expect(tokens).toBeGreaterThan(3_800);
      expect(tokens).toBeLessThan(4_200);
      expect(Math.abs(settlement.outputTokens - tokens)).toBeLessThan(0.05 * tokens);
      expect(settlement.cost).toBeLessThanOrEqual(playground.bench.ledger.admissions[0]?.amount ?? 0n);
      // All that the upstream charges for is in the record: what was billed, and the loss.
      const lost = Number((settlement.unbilledCost ?? 0n) / OUTPUT_TOKEN);
      expect(Math.abs(settlement.outputTokens + lost - 9_600)).toBeLessThan(0.05 * 9_600);
      expect(settlement.metering?.rules).toContain("output_withheld");
      const [length, used, done] = sink.events.slice(-3);
      expect(JSON.parse(length ?? "")).toMatchObject({ choices: [{ index: 0, finish_reason: "length" }] });
      expect(JSON.parse(used ?? "")).toMatchObject({ usage: { cost_idr: formatMoney(idr(settlement.cost)) } });
      expect(done).toBe("[DONE]");
    },
  );

  it("pays for its input where a picture came that is not covered, and does not see the picture", async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 1_290, total_tokens: 1_300 };
    const script = stream(wire([chunk(PICTURE)]), wire([chunk({}, "stop"), usageChunk(usage), "[DONE]"]));
    const { error, sink, settlement } = await playground.play(script, STREAMED);
    expect(error).toBeNull();
    expect(sink.bytes.includes("image_url")).toBe(false);
    expect(sink.events.at(-1)).toBe("[DONE]");
    expect(sink.bytes.includes('"length"')).toBe(true);
    expect(settlement).toMatchObject({ basis: "estimated", outputTokens: 0 });
    expect(settlement.cost).toBeGreaterThan(0n);
    // The tokens of the picture are not reported yet, so the loss is our own figure.
    expect(settlement.unbilledCost).toBe(1_290n * OUTPUT_TOKEN);
  });

  it("keeps the output that the upstream had reported before what is withheld", async () => {
    const counts = (output: number) => ({
      prompt_tokens: 10,
      completion_tokens: output,
      completion_tokens_details: { reasoning_tokens: output - 1 },
    });
    const first = chunk({ content: "Halo" }, null, { usage: counts(1_000) });
    const huge = chunk({ content: PARAGRAPH.repeat(100) }, null, { usage: counts(11_000) });
    const { settlement } = await playground.play(stream(wire([first]), wire([huge])), STREAMED);
    const shown = settlement.outputTokens;
    expect(shown).toBeGreaterThan(3_800);
    expect(shown).toBeLessThan(4_300);
    expect(settlement.unbilledCost).toBe(
      costOf({ inputTokensUncached: 0, inputTokensCached: 0, outputTokens: 11_000 - shown }, PRICES),
    );
  });

  it("is refused free of charge where not the balance but the database is the reason", async () => {
    playground.bench.ledger.extendWith = () => Promise.reject(new ServiceBusy());
    const { error, sink, settlement } = await playground.play(json(LONG_JSON()), STREAMED);
    expect(error).toBeInstanceOf(ServiceBusy);
    expect(sink.head).toBeNull();
    expect(settlement).toMatchObject({ basis: "free", cost: 0n });
  });
});

const PRICES = { input: 5_000_000_000n, output: 15_000_000_000n, cacheHit: null };

describe("text behind the first finish_reason", () => {
  const behind = chunk({ content: PARAGRAPH.repeat(3) });

  it("is counted where no usage follows it", async () => {
    const { sink, settlement } = await playground.play(
      stream(wire([chunk({ content: "Halo" }), chunk({}, "stop"), behind, "[DONE]"])),
      STREAMED,
    );
    expect(sink.text).toBe(`Halo${PARAGRAPH.repeat(3)}`);
    expect(settlement.outputTokens).toBeGreaterThan(3 * TOKENS_OF_PARAGRAPH);
  });

  it("is not shown where the usage came before it", async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 };
    const { sink, settlement } = await playground.play(
      stream(wire([chunk({ content: "Halo" }), chunk({}, "stop", { usage }), behind, "[DONE]"])),
      STREAMED,
    );
    expect(sink.text).toBe("Halo");
    expect(settlement).toMatchObject({ basis: "exact", outputTokens: 1 });
  });

  it("is counted where every chunk has a finish_reason", async () => {
    const each = Array.from({ length: 5 }, () => chunk({ content: PARAGRAPH }, "stop"));
    const { sink, settlement } = await playground.play(stream(wire([...each, "[DONE]"])), STREAMED);
    expect(sink.text).toBe(PARAGRAPH.repeat(5));
    expect(settlement.outputTokens).toBeGreaterThan(4.9 * TOKENS_OF_PARAGRAPH);
  });

  it("is covered by the usage behind it", async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 300, total_tokens: 310 };
    const { settlement } = await playground.play(
      stream(wire([chunk({ content: "Halo" }), chunk({}, "stop"), behind, usageChunk(usage), "[DONE]"])),
      STREAMED,
    );
    expect(settlement).toMatchObject({ basis: "exact", outputTokens: 300 });
  });
});
