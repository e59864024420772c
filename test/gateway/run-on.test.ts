// An upstream that writes on behind the bound it was given: DeepSeek and Ollama do where the bound is in the other field.

import { describe, expect, it } from "vitest";
import { countTokens } from "../../src/gateway/metering/estimate.ts";
import { formatMoney, idr } from "../../src/kernel/money.ts";
import { usePlayground, WHOLE } from "./playground.ts";
import { chunk, completion, json, type Script, usageChunk, wire } from "./scripted-upstream.ts";
import { chat, FakeSink, RATE, until } from "./support.ts";

const playground = usePlayground();
const WORD = " lorem";
const WRITTEN = 12_000;
const usage = { prompt_tokens: 11, completion_tokens: WRITTEN, total_tokens: WRITTEN + 11 };
const END = [chunk({}, "stop"), usageChunk(usage), "[DONE]"];

/** Writes 12 000 tokens, so many in an event. */
function writesOn(inEvent: number, deltaOf: (text: string) => unknown = (content) => ({ content }), end = END): Script {
  return async (response) => {
    response.on("error", () => undefined);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let written = 0; written < WRITTEN && !response.destroyed; written += inEvent) {
      response.write(wire([chunk(deltaOf(WORD.repeat(inEvent)))]));
      if (written % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    response.end(wire(end));
  };
}

const limitOf = (bound: number): number => Math.ceil(1.5 * bound) + 256;
/** Where a text is cut into pieces makes some tokens more or less of it. */
const most = (bound: number): number => 1.05 * limitOf(bound) + 32;
const least = (bound: number): number => 0.95 * limitOf(bound) - 32;
const bounded = (bound: number, more: object = {}): unknown =>
  chat("local/m", "write a lot", { stream: true, stream_options: { include_usage: true }, max_tokens: bound, ...more });

const textOf = (sink: FakeSink): string =>
  sink.events
    .filter((data) => data !== "[DONE]")
    .map((data) => JSON.parse(data) as { choices: { delta: Record<string, string> }[] })
    .flatMap(({ choices }) =>
      choices.flatMap(({ delta }) => [delta["content"] ?? "", delta["reasoning_content"] ?? ""]),
    )
    .join("");

describe("a stream that runs on", () => {
  it.each<[string, number, Script]>([
    ["word by word", 1, writesOn(1)],
    ["in large events", 1, writesOn(600)],
    ["with a larger bound", 1_000, writesOn(10)],
    ["behind the slab that was held at first", 5_000, writesOn(10)],
    ["in reasoning", 1, writesOn(10, (text) => ({ reasoning_content: text }))],
    ["in one event", 100, writesOn(WRITTEN)],
  ])("is ended as a cap ends it, and billed for what was relayed: %s", async (_name, bound, script) => {
    let isClosed = false;
    const { error, sink, outcome, settlement, requestId } = await playground.play((response, received, call) => {
      response.on("close", () => (isClosed = true));
      return script(response, received, call);
    }, bounded(bound));
    expect(error).toBeNull();
    expect(outcome).toBe("answered");
    const relayed = await countTokens(textOf(sink));
    expect(relayed).toBeLessThan(most(bound));
    expect(relayed).toBeGreaterThan(least(bound));
    const [length, used, done] = sink.events.slice(-3);
    const names = { id: `chatcmpl-${requestId}`, object: "chat.completion.chunk", model: "local/m" };
    expect(JSON.parse(length ?? "")).toMatchObject({ ...names, choices: [{ index: 0, finish_reason: "length" }] });
    expect(JSON.parse(used ?? "")).toMatchObject({ ...names, usage: { cost_idr: formatMoney(idr(settlement.cost)) } });
    expect(done).toBe("[DONE]");
    expect(settlement.basis).toBe("estimated");
    expect(settlement.outputTokens).toBeGreaterThan(least(bound));
    expect(settlement.outputTokens).toBeLessThan(most(bound));
    expect(playground.bench.events).toContainEqual({ kind: "output_ran_on", requestId, upstream: "local" });
    await until(() => isClosed);
  });

  it("is settled before its end is shown", async () => {
    const sink = new FakeSink();
    let visible = "";
    playground.bench.ledger.onSettle = () => {
      visible = sink.bytes.toString();
      return Promise.resolve();
    };
    await playground.play(writesOn(10), bounded(10), sink);
    expect(visible).toContain("lorem");
    expect(visible).not.toContain('"length"');
  });

  it("ends each choice that goes on, within the bounds of all of them", async () => {
    const twice: Script = async (response) => {
      response.on("error", () => undefined);
      response.writeHead(200, { "content-type": "text/event-stream" });
      const part = (index: number): string =>
        chunk(null, null, { choices: [{ index, delta: { content: WORD.repeat(10) }, finish_reason: null }] });
      for (let written = 0; written < WRITTEN && !response.destroyed; written += 20) {
        response.write(wire([part(0), part(1)]));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    };
    const { sink } = await playground.play(twice, bounded(200, { n: 2 }));
    const ended = sink.events.slice(-4, -2).map((data) => JSON.parse(data) as { choices: { index: number }[] });
    expect(ended).toMatchObject([
      { choices: [{ index: 0, finish_reason: "length" }] },
      { choices: [{ index: 1, finish_reason: "length" }] },
    ]);
    const relayed = await countTokens(textOf(sink));
    expect(relayed).toBeLessThan(most(400));
    expect(relayed).toBeGreaterThan(least(400));
  });

  it("is ended by the cap that a small balance sets", async () => {
    playground.bench.ledger.admitWith = ({ leastAmount }) => ({ outcome: "granted", amount: leastAmount, rate: RATE });
    const { sink } = await playground.play(writesOn(10), bounded(16_000));
    expect(await countTokens(textOf(sink))).toBeLessThan(most(300));
    expect(sink.events.at(-1)).toBe("[DONE]");
  });

  it("is not ended within the limit: tokenizers differ", async () => {
    const within = WORD.repeat(340);
    const script: Script = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const words = within.match(/ \w+/g) ?? [];
      response.end(wire([...words.map((content) => chunk({ content })), chunk({}, "stop"), "[DONE]"]));
    };
    const { sink } = await playground.play(script, bounded(100));
    expect(sink.text).toBe(within);
    expect(sink.bytes.includes('"stop"')).toBe(true);
  });

  it("is not ended for a client that has left: that is read for its usage", async () => {
    const sink = new FakeSink();
    sink.onWrite = () => {
      sink.leave();
      return true;
    };
    await playground.play(writesOn(10), bounded(10), sink);
    expect(playground.bench.events.map(({ kind }) => kind)).not.toContain("output_ran_on");
  });
});

describe("a whole answer that ran on", () => {
  it("reaches the client as it is: it cannot be ended any more", async () => {
    const message = { role: "assistant", content: WORD.repeat(WRITTEN) };
    const answer = completion({ choices: [{ index: 0, message, finish_reason: "stop" }], usage });
    const { sink } = await playground.play(json(answer), { ...WHOLE, max_tokens: 1 });
    expect(sink.json).toMatchObject({ choices: [{ message }] });
  });
});
