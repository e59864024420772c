// Answers that came with status 200 and are not what they seem: text behind their end, an error that names its reason, words in
// unusual places, counts a little above what was asked for.

import { describe, expect, it } from "vitest";
import { STREAMED, usePlayground, WHOLE } from "./playground.ts";
import { chunk, completion, json, stream, usageChunk, wire } from "./scripted-upstream.ts";
import { chat } from "./support.ts";

const playground = usePlayground();
const WORDS = "lorem ipsum dolor sit amet ".repeat(100);
const UNSOUND = completion().replace('"Halo!"', `"${WORDS}" "!"`);

describe("an answer that is no JSON", () => {
  it.each<[string, string, unknown]>([
    ["is not charged because more follows it", completion() + completion(), WHOLE],
    ["is not charged because more follows it, where a stream was asked for", completion() + completion(), STREAMED],
    ["is not charged because it is unsound inside, where a stream was asked for", UNSOUND, STREAMED],
  ])("%s", async (_name, answer, body) => {
    const { error, sink, calls, settlement } = await playground.play(json(answer), body);
    expect(error).toMatchObject({ code: "upstream_busy" });
    expect(sink.head).toBeNull();
    expect(calls).toBe(1);
    expect(settlement).toMatchObject({ basis: "free", cost: 0n });
  });

  it("does not begin where only white space follows", async () => {
    const { settlement } = await playground.play(json(`${completion()}\r\n \n`), WHOLE);
    expect(settlement).toMatchObject({ basis: "exact", cost: 83_800n });
  });
});

describe("an error that came with status 200", () => {
  const tooLong = { message: "This model's maximum context length is 8192 tokens at 10.0.0.7" };
  it.each<[string, object, string]>([
    ["a code", { ...tooLong, code: "context_length_exceeded" }, "context_length_exceeded"],
    ["a number and words", { ...tooLong, code: 400 }, "context_length_exceeded"],
    ["a code of the policy", { message: "no", code: "content_filter" }, "content_policy_violation"],
  ])("shows its client the reason, from %s", async (_name, error, reason) => {
    for (const [script, body] of [
      [json(JSON.stringify({ error })), WHOLE],
      [stream(wire([JSON.stringify({ error })])), STREAMED],
    ] as const) {
      const played = await playground.play(script, body);
      expect(played.error).toMatchObject({ code: "validation_error", reason });
      expect(JSON.stringify(played.error)).not.toContain("10.0.0.7");
      expect(played.calls).toBe(1);
      expect(played.settlement.basis).toBe("free");
      playground.bench.ledger.settlements.length = 0;
    }
  });
});

describe("words in an unusual place", () => {
  const said = { role: "assistant", content: WORDS };
  const ending = (choice: object): string =>
    chunk(null, null, { choices: [{ index: 0, finish_reason: "stop", ...choice }] });

  it("are counted where a stream is one message", async () => {
    const { settlement } = await playground.play(stream(wire([ending({ message: said }), "[DONE]"])), STREAMED);
    expect(settlement.basis).toBe("estimated");
    expect(settlement.outputTokens).toBeGreaterThan(400);
  });

  it("are counted once where the end of a stream repeats them", async () => {
    const events = [chunk({ content: WORDS }), ending({ delta: {}, message: said }), "[DONE]"];
    const { settlement } = await playground.play(stream(wire(events)), STREAMED);
    expect(settlement.outputTokens).toBeGreaterThan(400);
    expect(settlement.outputTokens).toBeLessThan(900);
  });
});

describe("a count far below what was relayed", () => {
  const usage = { prompt_tokens: 11, completion_tokens: 40, total_tokens: 51 };
  const texts = Array.from({ length: 250 }, (_, at) => chunk({ content: `${at} lorem ipsum dolor sit amet` }));
  // All of it is held at once, so nothing is counted on the way.
  const BOUNDED = chat("local/m", "write", { stream: true, max_tokens: 4_000 });
  const events = wire([...texts, chunk({}, "stop"), usageChunk(usage), "[DONE]"]);
  it.each<[string, string]>([
    ["is not used in events with line feeds", events],
    ["is not used in events with names", events.replaceAll("data: {", "event: message\ndata: {")],
    [
      "is not used in events with ids and returns",
      events.replaceAll("data: {", "id: 7\ndata: {").replaceAll("\n", "\r\n"),
    ],
    ["is not used in events with comments before them", events.replaceAll("data: {", ": on\ndata: {")],
    ["is not used in events with returns alone", events.replaceAll("\n", "\r")],
    ["is not used in events with their data on several lines", events.replaceAll(',"', ',\ndata: "')],
  ])("%s", async (_name, text) => {
    const { sink, settlement } = await playground.play(stream(text), BOUNDED);
    expect(sink.events.at(-1)).toBe("[DONE]");
    expect(settlement.outputTokens).toBeGreaterThan(1_500);
    expect(settlement.metering?.rules).toContain("output_below_relayed");
  });
});

describe("honest counts", () => {
  it("of a prompt that the provider has put before a short one are billed", async () => {
    const usage = { prompt_tokens: 687, completion_tokens: 3, total_tokens: 690 };
    const { settlement } = await playground.play(json(completion({ usage })), WHOLE);
    expect(settlement).toMatchObject({ inputTokensUncached: 687, clamped: false });
    expect(settlement.unbilledCost).toBeUndefined();
  });

  it("of thinking a little above the bound are billed up to it, and the rest is the operator's loss", async () => {
    const usage = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 114 };
    const { settlement } = await playground.play(
      json(completion({ usage })),
      chat("local/m", "hi", { max_tokens: 100 }),
    );
    expect(settlement).toMatchObject({
      outputTokens: 100,
      unbilledCost: 3n * 15_000n,
      metering: { rules: ["thinking_in_total", "output_above_bound"] },
    });
  });
});
