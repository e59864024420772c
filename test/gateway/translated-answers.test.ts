// Requests of another protocol than chat: what the upstream gets, what the client gets, and what is billed.

import { describe, expect, it } from "vitest";
import type { ChatAnswerHead, ChatOutcome } from "../../src/gateway/chat.ts";
import { answerConversation } from "../../src/gateway/conversation/answer-conversation.ts";
import { messagesProtocol } from "../../src/gateway/conversation/messages/messages-protocol.ts";
import type { ProtocolEvent } from "../../src/gateway/conversation/protocol.ts";
import type { ProtocolOutput } from "../../src/gateway/conversation/translated-sink.ts";
import { CHAT_FORMAT } from "../../src/gateway/formats/chat/chat-format.ts";
import { UpstreamBusy } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { bareProtocol } from "./bare-protocol.ts";
import { usePlayground } from "./playground.ts";
import {
  chunk,
  completion,
  json,
  ordinaryEvents,
  type Script,
  stream,
  USAGE,
  usageChunk,
  wire,
} from "./scripted-upstream.ts";
import { KEY, modelOf, openBench, RATE, until, upstreamOf } from "./support.ts";

const playground = usePlayground();

/** A client of the protocol: keeps what it is sent, can be slow, can leave. */
class FakeOutput implements ProtocolOutput {
  head: ChatAnswerHead | null = null;
  whole: { readonly body: object; readonly costIdr: string } | null = null;
  readonly events: ProtocolEvent[] = [];
  comments = 0;
  hasEnded = false;
  isWelcome = true;
  drained: (() => void) | null = null;

  answer(head: ChatAnswerHead, answer: { readonly body: object; readonly costIdr: string }): void {
    this.head = head;
    this.whole = answer;
  }
  passAnswer(): void {
    throw new Error("no bytes of the client's protocol come here");
  }
  pass(): boolean {
    throw new Error("no bytes of the client's protocol come here");
  }
  endPassed(): void {
    throw new Error("no bytes of the client's protocol come here");
  }
  begin(head: ChatAnswerHead): void {
    this.head = head;
  }
  write(events: readonly ProtocolEvent[]): boolean {
    this.events.push(...events);
    return this.isWelcome;
  }
  keepAlive(): void {
    this.comments += 1;
  }
  end(events: readonly ProtocolEvent[]): void {
    this.write(events);
    this.hasEnded = true;
  }
  onDrained(callback: () => void): void {
    this.drained = callback;
  }
  onGone(): void {}

  get names(): (string | null)[] {
    return this.events.map(({ name }) => name);
  }
  dataOf(name: string): object[] {
    return this.events.filter((event) => event.name === name).map(({ data }) => data);
  }
}

type Asked = { readonly script?: Script; readonly output?: FakeOutput; readonly slots?: string[] };

async function ask(body: object, { script, output = new FakeOutput(), slots = [] }: Asked = {}) {
  if (script !== undefined) playground.upstream.run(script);
  const { gateway, ledger } = playground.bench;
  const requestId = uuidv7();
  const protocol = bareProtocol();
  const keys = { takeSlot: async ({ keyId }: typeof KEY) => (slots.push(keyId), RATE) };
  const call = { requestId, receivedAtMs: Date.now(), key: KEY, body: Buffer.from(JSON.stringify(body)) };
  let outcome: ChatOutcome | null = null;
  let error: unknown = null;
  try {
    outcome = await answerConversation({ gateway, protocol, keys }, call, output);
  } catch (thrown) {
    error = thrown;
  }
  expect(ledger.open.size).toBe(0);
  return { requestId, output, protocol, outcome, error, ledger };
}

const WHOLE = { model: "local/m", text: "hi" };
const STREAMED = { ...WHOLE, stream: true };
const BILLED = { input: 11, cached: 4, written: 0, written1h: 0, output: 3, reasoning: 0, costIdr: "0.0838" };

describe("a stream", () => {
  it("is translated event by event, with what was billed at its end", async () => {
    const { output, outcome, ledger, requestId, protocol } = await ask(STREAMED, {
      script: stream(wire(ordinaryEvents())),
    });
    expect(outcome).toBe("answered");
    expect(output.names).toEqual(["begin", "text", "text", "finish", "usage", "end"]);
    expect(output.dataOf("text")).toEqual([
      { kind: "text", text: "Halo" },
      { kind: "text", text: " dunia" },
    ]);
    expect(output.dataOf("usage")).toEqual([{ kind: "usage", usage: BILLED }]);
    expect(output).toMatchObject({ hasEnded: true, head: { rate: RATE, demo: false, origin: "local" } });
    expect(ledger.settlement).toMatchObject({ cost: 83_800n, basis: "exact", streamed: true });
    expect(protocol.facts).toEqual([
      { requestId, createdAtMs: Number.parseInt(requestId.replaceAll("-", "").slice(0, 12), 16), inputTokens: 30 },
    ]);
  });

  it("is asked for as a chat stream with usage", async () => {
    await ask(STREAMED, { script: stream(wire(ordinaryEvents())) });
    expect(JSON.parse(String(playground.upstream.received[0]?.body))).toMatchObject({
      model: "m",
      messages: [{ role: "user", content: "hi" }],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it("that breaks off is ended as the protocol does it, and its text is billed", async () => {
    const { output, outcome, ledger } = await ask(STREAMED, {
      script: stream(wire([chunk({ content: "Halo" })])),
    });
    expect(outcome).toBe("upstream_busy");
    expect(output.names).toEqual(["begin", "text", "fail"]);
    expect(output.hasEnded).toBe(true);
    expect(ledger.settlement).toMatchObject({ basis: "estimated" });
  });

  it("waits for a slow client", async () => {
    const output = new FakeOutput();
    output.isWelcome = false;
    const many = Array.from({ length: 2_000 }, () => chunk({ content: "a" }, null, { obfuscation: "x".repeat(2_000) }));
    const answered = ask(STREAMED, {
      output,
      script: stream(...[...many, chunk({}, "stop"), usageChunk(), "[DONE]"].map((data) => wire([data]))),
    });
    await until(() => output.drained !== null);
    expect(output.dataOf("text").length).toBeLessThan(2_000);
    output.isWelcome = true;
    output.drained?.();
    expect((await answered).outcome).toBe("answered");
    expect(output.dataOf("text")).toHaveLength(2_000);
  });

  it("that is silent is kept open by a comment where its protocol has no event for that", async () => {
    playground.bench = openBench({
      models: [modelOf("local/m")],
      upstreams: [upstreamOf("local", playground.upstream.baseUrl)],
      deps: { keepAliveMs: 30 },
    });
    const output = new FakeOutput();
    const { outcome } = await ask(STREAMED, {
      output,
      script: async (response, ...more) => {
        await until(() => output.comments > 0);
        await stream(wire(ordinaryEvents()))(response, ...more);
      },
    });
    expect(outcome).toBe("answered");
    expect(output.names.slice(0, 2)).toEqual(["begin", "text"]);
  });
});

describe("a whole answer", () => {
  it("is translated in one piece, and billed as chat is", async () => {
    const { output, ledger, requestId } = await ask(WHOLE, { script: json(completion()) });
    expect(output.whole).toEqual({
      costIdr: "0.0838",
      body: {
        requestId,
        events: [
          { kind: "text", text: "Halo!" },
          { kind: "finish", reason: "stop" },
          { kind: "usage", usage: BILLED },
        ],
      },
    });
    expect(ledger.settlement).toMatchObject({ cost: 83_800n, streamed: false });
  });

  const broken = { id: "a", type: "function", function: { name: "look", arguments: '{"x":' } };
  it.each([
    [
      "has no form in the protocol",
      { message: { role: "assistant", tool_calls: [broken] }, finish_reason: "tool_calls" },
    ],
    ["cannot be parsed", null],
  ])("that %s is a fault of the upstream, and free", async (_name, choice) => {
    const body = choice === null ? completion().replace('"Halo!"', '"\\q"') : completion({ choices: [choice] });
    const { output, error, ledger } = await ask(WHOLE, { script: json(body) });
    expect(error).toBeInstanceOf(UpstreamBusy);
    expect(output.whole).toBeNull();
    expect(ledger.settlement).toMatchObject({ cost: 0n, basis: "free" });
  });
});

describe("a kept answer", () => {
  const headOf = (replayOf: string): ChatAnswerHead => ({ rate: null, demo: false, origin: "demo", replayOf });
  const call = { requestId: uuidv7(), receivedAtMs: 0, key: KEY };
  const keys = { takeSlot: async () => RATE };

  it("that was streamed is translated again, under the id of its request", async () => {
    const earlier = uuidv7();
    const output = new FakeOutput();
    const usage = JSON.stringify({ choices: [], usage: { ...USAGE, cost_idr: "0.0838" } });
    const gateway = {
      async answerChat(_call: unknown, sink: { begin: (head: ChatAnswerHead) => void; end: (ending: never) => void }) {
        sink.begin(headOf(earlier));
        const passed = Buffer.from(wire([chunk({ content: "Halo" }), chunk({}, "stop"), usage]));
        const ending = { passed, format: CHAT_FORMAT };
        sink.end(ending as never);
        return "answered" as const;
      },
    };
    const body = Buffer.from(JSON.stringify(STREAMED));
    await answerConversation({ gateway, protocol: bareProtocol(), keys }, { ...call, body }, output);
    expect(output.dataOf("begin")).toEqual([{ requestId: earlier }]);
    expect(output.dataOf("text")).toEqual([{ kind: "text", text: "Halo" }]);
    expect(output.dataOf("usage")).toEqual([{ kind: "usage", usage: BILLED }]);
  });
});

describe("a body that the protocol refuses", () => {
  it("is no request: nothing is admitted, and nothing is asked", async () => {
    const slots: string[] = [];
    const { error, ledger } = await ask({ model: "local/m" }, { script: json(completion()), slots });
    expect(error).toMatchObject({ code: "validation_error", details: [{ field: "text" }] });
    expect([ledger.admissions, playground.upstream.received, slots]).toEqual([[], [], []]);
  });

  it("takes a slot of its key where it is large", async () => {
    const slots: string[] = [];
    await ask({ model: "local/m", padding: "x".repeat(1_100_000) }, { slots });
    expect(slots).toEqual([KEY.keyId]);
  });
});

describe("an effort, which coding agents always send,", () => {
  it.each([true, false])("goes to a model that thinks and to no other: %s", async (hiddenOutput) => {
    playground.bench = openBench({
      models: [modelOf("local/m", { hiddenOutput })],
      upstreams: [upstreamOf("local", playground.upstream.baseUrl)],
    });
    playground.upstream.run(json(completion()));
    const body = {
      model: "local/m",
      max_tokens: 20,
      messages: [{ role: "user", content: "hi" }],
      output_config: { effort: "high" },
    };
    const call = { requestId: uuidv7(), receivedAtMs: Date.now(), key: KEY, body: Buffer.from(JSON.stringify(body)) };
    const { gateway } = playground.bench;
    const keys = { takeSlot: () => Promise.resolve(RATE) };
    await answerConversation({ gateway, protocol: messagesProtocol, keys }, call, new FakeOutput());
    const [asked] = playground.upstream.received;
    expect(JSON.parse(asked?.body.toString() ?? "")).toHaveProperty("messages");
    expect(asked?.body.includes('"reasoning_effort":"high"')).toBe(hiddenOutput);
  });
});
