import { describe, expect, it } from "vitest";
import { ServiceBusy } from "../../src/kernel/errors.ts";
import { formatMoney, idr } from "../../src/kernel/money.ts";
import { STREAMED, usePlayground } from "./playground.ts";
import { chunk, completion, json, type Script, stream, usageChunk, wire } from "./scripted-upstream.ts";
import { chat, FakeSink, modelOf, openBench, RATE, until, upstreamOf } from "./support.ts";

const playground = usePlayground();
/** Rp 0.015 per token of output, Rp 0.005 per token of input. */
const OUTPUT_TOKEN = 15_000n;

const PARAGRAPH = "the quick brown fox jumps over the lazy dog and runs away ".repeat(8);
const TOKENS_OF_PARAGRAPH = 12 * 8;
/** A stream of so many paragraphs, each a packet of its own. */
const paragraphs = (count: number): string[] =>
  Array.from({ length: count }, () => wire([chunk({ content: PARAGRAPH })]));
const usage = { prompt_tokens: 10, completion_tokens: 60 * TOKENS_OF_PARAGRAPH };
const END = wire([chunk({}, "stop"), usageChunk(usage), "[DONE]"]);
const LONG: Script = stream(...paragraphs(60), END);
/** The same, with more than the sockets between can hold. */
const ENDLESS: Script = stream(...paragraphs(1_000), END);

const outputHeld = (amount: bigint): number => Number(amount / OUTPUT_TOKEN);

describe("a stream that holds slab by slab", () => {
  it("asks admission for its input and a slab, and every other request for the whole bound", async () => {
    const asked = async (body: unknown, hiddenOutput = false): Promise<number> => {
      playground.bench = openBench({
        models: [modelOf("local/m", { hiddenOutput })],
        upstreams: [upstreamOf("local", playground.upstream.baseUrl)],
      });
      playground.upstream.run(stream(wire([chunk({ content: "Halo" }), chunk({}, "stop"), "[DONE]"])));
      await playground.bench.send(body);
      return outputHeld(playground.bench.ledger.admissions[0]?.amount ?? 0n);
    };
    const small = (tokens: number): boolean => tokens >= 4_096 && tokens < 4_200;
    expect(small(await asked({ ...STREAMED, max_tokens: 16_000 }))).toBe(true);
    expect(await asked({ ...STREAMED, max_tokens: 16_000, n: 2 })).toBeGreaterThan(32_000);
    expect(await asked({ ...STREAMED, max_tokens: 16_000 }, true)).toBeGreaterThan(16_000);
    expect(await asked({ ...STREAMED, max_tokens: 100 })).toBeLessThan(200);
  });

  it("is extended before the slab runs out, with its progress, and arrives whole", async () => {
    const { error, sink, settlement } = await playground.play(LONG, STREAMED);
    expect(error).toBeNull();
    expect(sink.text).toBe(PARAGRAPH.repeat(60));
    expect(sink.events.at(-1)).toBe("[DONE]");
    expect(settlement).toMatchObject({ basis: "exact", outputTokens: usage.completion_tokens });
    const { extensions } = playground.bench.ledger;
    expect(extensions.length).toBeGreaterThan(0);
    for (const { inputTokens, outputTokens, amount, leastAmount } of extensions) {
      expect(inputTokens).toBeGreaterThan(0);
      expect(inputTokens).toBeLessThan(20);
      expect(outputTokens).toBeGreaterThan(0);
      expect(leastAmount).toBeLessThanOrEqual(amount);
    }
  });

  it("asks for nothing when the answer is short", async () => {
    await playground.play(stream(...paragraphs(3), wire([chunk({}, "stop"), usageChunk(), "[DONE]"])), STREAMED);
    expect(playground.bench.ledger.extensions).toEqual([]);
  });

  it("waits with what goes beyond the slab, and goes on in order once more is held", async () => {
    const sink = new FakeSink();
    let grant = (): void => undefined;
    playground.bench.ledger.extendWith = ({ amount }) =>
      new Promise((resolve) => (grant = () => resolve({ outcome: "granted", amount })));
    playground.upstream.run(LONG);
    const pending = playground.bench.send(STREAMED, sink);
    await until(() => playground.bench.ledger.extensions.length === 1);
    let before = -1;
    // Nothing comes any more: the stream has reached what is held for it.
    await until(() => {
      const isQuiet = sink.bytes.length === before;
      before = sink.bytes.length;
      return isQuiet;
    });
    expect(sink.text.length / PARAGRAPH.length).toBeLessThanOrEqual(4_096 / TOKENS_OF_PARAGRAPH);
    expect(playground.bench.ledger.settlements).toEqual([]);
    playground.bench.ledger.extendWith = ({ amount }) => Promise.resolve({ outcome: "granted", amount });
    grant();
    const { error } = await pending;
    expect(error).toBeNull();
    expect(sink.text).toBe(PARAGRAPH.repeat(60));
  });

  it("ends as a cap ends it when the balance is used up, settled for what was delivered", async () => {
    let isClosed = false;
    const held = playground.bench.ledger.admissions;
    playground.bench.ledger.extendWith = () => Promise.resolve({ outcome: "refused", amount: 7n, othersHold: false });
    const { error, sink, settlement, requestId } = await playground.play((response, received, call) => {
      response.on("close", () => (isClosed = true));
      return ENDLESS(response, received, call);
    }, STREAMED);
    expect(error).toBeNull();
    const [length, used, done] = sink.events.slice(-3);
    const names = { id: `chatcmpl-${requestId}`, object: "chat.completion.chunk", model: "local/m" };
    const choices = [{ index: 0, delta: {}, logprobs: null, finish_reason: "length" }];
    expect(JSON.parse(length ?? "")).toMatchObject({ ...names, choices });
    const usageOfEnd = { completion_tokens: settlement.outputTokens, cost_idr: formatMoney(idr(settlement.cost)) };
    expect(JSON.parse(used ?? "")).toMatchObject({ ...names, choices: [], usage: usageOfEnd });
    expect(done).toBe("[DONE]");
    expect(settlement.basis).toBe("estimated");
    expect(settlement.cost).toBeLessThanOrEqual(held[0]?.amount ?? 0n);
    // Hardly anything of the slab stays unused.
    expect(settlement.outputTokens).toBeGreaterThan(4_096 - 4 * TOKENS_OF_PARAGRAPH);
    await until(() => isClosed);
  });

  it("is not stopped as long as others hold what may become free", async () => {
    let refusals = 2;
    playground.bench.ledger.extendWith = ({ amount }) =>
      Promise.resolve(
        refusals-- > 0 ? { outcome: "refused", amount: 0n, othersHold: true } : { outcome: "granted", amount },
      );
    const { error, sink } = await playground.play(LONG, STREAMED);
    expect(error).toBeNull();
    expect(sink.text).toBe(PARAGRAPH.repeat(60));
    expect(refusals).toBeLessThan(0);
  });

  it("fails with a busy service when the database stays away", async () => {
    playground.bench.ledger.extendWith = () => Promise.reject(new ServiceBusy());
    const { sink, settlement } = await playground.play(LONG, STREAMED);
    expect(sink.events.at(-1)).toContain('"code":"upstream_busy"');
    expect(sink.bytes.includes("[DONE]")).toBe(false);
    expect(settlement.basis).toBe("estimated");
    // The caller gets the same code, and the record blames no upstream.
    expect(settlement.metering?.failure).toEqual({ code: "service_busy", inStream: true });
  });

  it("gets a cap instead of slabs when the balance does not cover the first one", async () => {
    playground.bench.ledger.admitWith = ({ amount, leastAmount }) => ({
      outcome: "granted",
      amount: leastAmount + (amount - leastAmount) / 2n,
      rate: RATE,
    });
    await playground.play(LONG, { ...STREAMED, max_tokens: 16_000 });
    const sent = JSON.parse(playground.upstream.received[0]?.body.toString() ?? "") as { max_tokens: number };
    expect(sent.max_tokens).toBeGreaterThan(256);
    expect(sent.max_tokens).toBeLessThan(4_096);
    expect(playground.bench.ledger.extensions).toEqual([]);
  });

  it("relays one JSON text that is larger than a slab once that is held", async () => {
    const long = { index: 0, message: { role: "assistant", content: PARAGRAPH.repeat(100) }, finish_reason: "stop" };
    const { sink, settlement } = await playground.play(json(completion({ choices: [long], usage })), STREAMED);
    expect(sink.text).toBe(PARAGRAPH.repeat(100));
    expect(settlement.basis).toBe("exact");
    expect(playground.bench.ledger.extensions).toHaveLength(1);
  });

  const padding = { padding: "x".repeat(40_000) };
  it.each<[string, string, string]>([
    ["the finish", chunk({}, "stop", padding), usageChunk(usage)],
    ["the usage", chunk({}, "stop"), usageChunk({ ...usage, ...padding })],
    ["something behind the finish", chunk({}, "stop"), chunk({}, null, padding)],
  ])("needs no money for what is not text: %s", async (_name, finish, after) => {
    playground.bench.ledger.extendWith = () => Promise.resolve({ outcome: "refused", amount: 7n, othersHold: false });
    const { sink } = await playground.play(
      stream(...paragraphs(3), wire([finish, after, usageChunk(usage), "[DONE]"])),
      STREAMED,
    );
    expect(sink.text).toBe(PARAGRAPH.repeat(3));
    expect(sink.events.at(-1)).toBe("[DONE]");
    expect(playground.bench.ledger.extensions).toEqual([]);
  });

  it("is complete though more came behind its end than the balance covers", async () => {
    playground.bench.ledger.extendWith = () => Promise.resolve({ outcome: "refused", amount: 7n, othersHold: false });
    const behind = wire([chunk({}, "stop"), usageChunk(usage), chunk({ content: PARAGRAPH.repeat(200) })]);
    const { sink, settlement } = await playground.play(stream(...paragraphs(3), behind), STREAMED);
    expect(sink.events.at(-1)).toBe("[DONE]");
    expect(settlement.basis).toBe("exact");
  });

  it("gets the upstream's own error at once, of any size", async () => {
    playground.bench.ledger.extendWith = () => Promise.resolve({ outcome: "refused", amount: 7n, othersHold: true });
    const error = JSON.stringify({ error: { message: "x".repeat(40_000) } });
    const { sink } = await playground.play(stream(...paragraphs(3), wire([error])), STREAMED);
    expect(sink.events.at(-1)).toContain('"code":"upstream_busy"');
    expect(playground.bench.ledger.extensions).toEqual([]);
  });

  it("frees its upstream and its hold when the client leaves while it waits", async () => {
    const sink = new FakeSink();
    let isClosed = false;
    playground.bench.ledger.extendWith = () => {
      setImmediate(() => sink.leave());
      return Promise.resolve({ outcome: "refused", amount: 0n, othersHold: true });
    };
    const { settlement } = await playground.play(
      (response, received, call) => {
        response.on("close", () => (isClosed = true));
        return ENDLESS(response, received, call);
      },
      chat("local/m", "hi", { stream: true }),
      sink,
    );
    expect(settlement.basis).toBe("estimated");
    await until(() => isClosed);
  });
});
