import { describe, expect, it } from "vitest";
import { costOf } from "../../src/billing/cost.ts";
import { InternalError, UpstreamBusy } from "../../src/kernel/errors.ts";
import { chat, openBench } from "./support.ts";

const PRICES = { input: 5_000_000_000n, output: 15_000_000_000n, cacheHit: 950_000_000n };

describe("the demo upstream behind the gateway", () => {
  it("answers and bills its usage, with our id, the catalog model and the cost", async () => {
    const bench = openBench();
    const { sink, error, requestId } = await bench.send(chat("demo/small", "hello there"));
    expect(error).toBeNull();
    const { settlement } = bench.ledger;
    expect(sink.json).toMatchObject({
      id: `chatcmpl-${requestId}`,
      object: "chat.completion",
      model: "demo/small",
      usage: { prompt_tokens: settlement.inputTokensUncached, completion_tokens: settlement.outputTokens },
    });
    expect(settlement).toMatchObject({
      basis: "exact",
      cost: costOf(settlement, PRICES),
      upstream: "demo",
      upstreamModel: "small",
    });
    expect(settlement.cost).toBeGreaterThan(0n);
    expect(sink.head).toMatchObject({
      streamed: false,
      demo: true,
      costIdr: (sink.json["usage"] as { cost_idr: string }).cost_idr,
    });
    expect(sink.ended).toBe(true);
  });

  it("streams the same text, and settles before the finish frame", async () => {
    const bench = openBench();
    const whole = await bench.send(chat("demo/echo", "Selamat pagi, dunia 🌏"));
    const streaming = openBench();
    let atSettlement = "";
    const pending = streaming.send(
      chat("demo/echo", "Selamat pagi, dunia 🌏", { stream: true, stream_options: { include_usage: true } }),
    );
    streaming.ledger.onSettle = async () => {
      atSettlement = "settled";
    };
    const { sink } = await pending;
    expect(atSettlement).toBe("settled");
    expect(sink.text).toBe("Selamat pagi, dunia 🌏");
    expect(JSON.stringify(whole.sink.json)).toContain("Selamat pagi, dunia 🌏");
    const last = sink.events.at(-2) ?? "";
    expect(JSON.parse(last)).toMatchObject({ choices: [], usage: { cost_idr: "0" } });
    expect(sink.events.at(-1)).toBe("[DONE]");
  });

  it("does not relay the usage chunk to a client that did not ask for it", async () => {
    const bench = openBench();
    const { sink } = await bench.send(chat("demo/small", "hi", { stream: true }));
    expect(sink.events.some((data) => data.includes('"choices":[]'))).toBe(false);
    expect(sink.events.at(-1)).toBe("[DONE]");
    expect(bench.ledger.settlement.basis).toBe("exact");
  });

  it("honours max_tokens with finish_reason length", async () => {
    const bench = openBench();
    const { sink } = await bench.send(chat("demo/echo", "one two three four five", { max_tokens: 3 }));
    expect(sink.json).toMatchObject({ choices: [{ finish_reason: "length" }], usage: { completion_tokens: 3 } });
  });

  it("reports the tokens of a repeated beginning as cached, and they cost the cache-hit price", async () => {
    const bench = openBench();
    const messages = [{ role: "system", content: "A long and steady system prompt." }];
    await bench.send({ model: "demo/small", messages: [...messages, { role: "user", content: "first" }] });
    await bench.send({ model: "demo/small", messages: [...messages, { role: "user", content: "second" }] });
    expect(bench.ledger.settlements.map((settlement) => settlement.inputTokensCached > 0)).toEqual([false, true]);
    const costs = bench.ledger.settlements.map((settlement) => settlement.cost);
    expect(costs).toEqual(bench.ledger.settlements.map((settlement) => costOf(settlement, PRICES)));
  });

  it("calls the first tool when the last user message has !tool", async () => {
    const bench = openBench();
    const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
    const tools = [{ type: "function", function: { name: "read_file", parameters } }];
    const { sink } = await bench.send(chat("demo/small", "please !tool", { tools }));
    expect(sink.json).toMatchObject({
      choices: [
        {
          finish_reason: "tool_calls",
          message: { content: null, tool_calls: [{ function: { name: "read_file", arguments: '{"path":"demo"}' } }] },
        },
      ],
    });
    const streamed = await bench.send(chat("demo/small", "please !tool", { tools, stream: true }));
    expect(streamed.sink.events.join("")).toContain('"name":"read_file"');
  });

  it.each([
    ["!429", 7],
    ["!503x", 5],
  ])("shows %s as upstream_busy after one retry, and charges nothing", async (trigger, retryAfterSeconds) => {
    const bench = openBench();
    const { sink, error } = await bench.send(chat("demo/small", `hi ${trigger}`, { stream: true }));
    expect(error).toBeInstanceOf(UpstreamBusy);
    expect(error).toMatchObject({ retryAfterSeconds });
    expect(sink.head).toBeNull();
    expect(bench.events.filter((event) => event.kind === "attempt_failed")).toHaveLength(2);
    expect(bench.ledger.settlement).toMatchObject({ basis: "free", cost: 0n });
    expect(bench.ledger.open.size).toBe(0);
  });

  it("hides a failure that the internal retry made good", async () => {
    const bench = openBench();
    const { error } = await bench.send(chat("demo/small", "hi !503"));
    expect(error).toBeNull();
    expect(bench.events).toHaveLength(1);
  });

  it("answers !500 as a fault of ours, and charges nothing", async () => {
    const bench = openBench();
    const { error } = await bench.send(chat("demo/small", "hi !500"));
    expect(error).toBeInstanceOf(InternalError);
    expect(bench.ledger.settlement).toMatchObject({ basis: "free", delivered: false });
  });

  it("never makes a cut stream look complete, and charges an estimate of what was relayed", async () => {
    const bench = openBench();
    const { sink, error } = await bench.send(chat("demo/small", "hi !cut", { stream: true }));
    expect(error).toBeNull();
    expect(sink.events.at(-1)).toMatch(/^\{"error":\{"message":.*"code":"upstream_busy","cost_idr":"[\d.]+"\}\}$/);
    expect(sink.bytes.includes("[DONE]")).toBe(false);
    // The client has had it, so it stays owed should the database be away.
    expect(bench.ledger.settlement).toMatchObject({ basis: "estimated", delivered: true });
    expect(bench.ledger.settlement.outputTokens).toBeGreaterThan(3);
  });

  it.each([true, false])("estimates an answer without usage (stream: %s)", async (stream) => {
    const bench = openBench();
    const { sink } = await bench.send(
      chat("demo/small", "hi !nousage", { stream, stream_options: { include_usage: true } }),
    );
    const { settlement } = bench.ledger;
    expect(settlement.basis).toBe("estimated");
    expect(settlement.outputTokens).toBeGreaterThan(10);
    expect(sink.bytes.toString()).toContain(`"completion_tokens":${settlement.outputTokens}`);
  });
});
