import { describe, expect, it } from "vitest";
import { AnswerCut } from "../../answer/answer-cut.ts";
import { usageJson } from "../../formats/chat/billed-chat.ts";
import { readRequest } from "../../request/read-request.ts";
import { UpstreamBusy } from "../../../kernel/errors.ts";
import type { AnswerEvent, AnswerUsage, FinishReason } from "../answer-events.ts";
import type { Tool } from "../conversation.ts";
import { chatUsage } from "./chat-usage.ts";
import { readChatConversation } from "./read-chat-conversation.ts";
import { type ChatAnswerOptions, ChatAnswerWriter } from "./write-chat-answer.ts";

const FACTS = { requestId: "01a20a18-90e1-71af-abb6-25530962f602", createdAtMs: 1_795_392_000_123, inputTokens: 7 };
const USAGE: AnswerUsage = {
  input: 165,
  cached: 40,
  written: 20,
  written1h: 5,
  output: 9,
  reasoning: 4,
  costIdr: "1.25",
};
const PATCH: Tool = { name: "patch", namespace: null, description: "", schema: null, strict: null };
const ORIGIN = { origin: "my.host", blob: "U0lH" } as const;

type Chunk = {
  readonly choices: readonly { readonly delta: Record<string, unknown>; readonly finish_reason: string | null }[];
};
type Message = Record<string, unknown>;

const writer = (options: Partial<ChatAnswerOptions> = {}) =>
  new ChatAnswerWriter(FACTS, { model: "acme/m", wantsUsage: false, tools: [], hasFunctions: false, ...options });
const finish = (reason: FinishReason): AnswerEvent => ({ kind: "finish", reason });
const call = (index: number, name = "look", more: object = {}): AnswerEvent => ({
  kind: "call",
  call: index,
  id: `c${index}`,
  name,
  ...more,
});
const input = (index: number, text: string): AnswerEvent => ({ kind: "input", call: index, text });

function chunksOf(events: readonly AnswerEvent[], options: Partial<ChatAnswerOptions> = {}): Chunk[] {
  const stream = writer(options);
  const written = [...stream.begin(), ...events.flatMap((event) => stream.write(event)), ...stream.end()];
  expect(written.every(({ name }) => name === null)).toBe(true);
  return written.map(({ data }) => data as Chunk);
}
/** What the chunks add to the message, behind its role. */
const deltasOf = (events: readonly AnswerEvent[], options: Partial<ChatAnswerOptions> = {}) =>
  chunksOf(events, options)
    .slice(1)
    .flatMap(({ choices }) => choices.map(({ delta }) => delta))
    .filter((delta) => Object.keys(delta).length > 0);
function messageOf(events: readonly AnswerEvent[], options: Partial<ChatAnswerOptions> = {}): Message {
  const whole = writer(options).whole([...events, { kind: "usage", usage: USAGE }]);
  return (whole as { choices: [{ message: Message }] }).choices[0].message;
}

describe("a stream", () => {
  it("has the role first, our id and model, how it ended, and the usage where it is asked for", () => {
    const events: AnswerEvent[] = [{ kind: "text", text: "Hi" }, finish("stop"), { kind: "usage", usage: USAGE }];
    const head = {
      id: `chatcmpl-${FACTS.requestId}`,
      object: "chat.completion.chunk",
      created: 1_795_392_000,
      model: "acme/m",
    };
    const choice = (delta: object, reason: string | null = null) => ({
      ...head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
    });
    const shown = [choice({ role: "assistant", content: "" }), choice({ content: "Hi" }), choice({}, "stop")];
    expect(chunksOf(events)).toEqual(shown);
    expect(chunksOf(events, { wantsUsage: true })).toEqual([
      ...shown.map((chunk) => ({ ...chunk, usage: null })),
      { ...head, choices: [], usage: chatUsage(USAGE) },
    ]);
  });

  it("has texts by their kind, and calls by their number, alternating", () => {
    const events: AnswerEvent[] = [
      { kind: "reasoning", text: "hm" },
      { kind: "text", text: "I look" },
      { kind: "refusal", text: "no" },
      call(0),
      input(0, '{"x"'),
      call(1, "find"),
      input(0, ":1}"),
      finish("calls"),
    ];
    const begun = (index: number, name: string) => ({
      tool_calls: [{ index, id: `c${index}`, type: "function", function: { name, arguments: "" } }],
    });
    const added = (index: number, text: string) => ({ tool_calls: [{ index, function: { arguments: text } }] });
    expect(deltasOf(events)).toEqual([
      { reasoning_content: "hm" },
      { content: "I look" },
      { refusal: "no" },
      begun(0, "look"),
      added(0, '{"x"'),
      begun(1, "find"),
      added(0, ":1}"),
      // Clients parse arguments.
      added(1, "{}"),
    ]);
    expect(deltasOf([call(0), finish("length")])).toEqual([begun(0, "look")]);
  });

  it.each<[FinishReason, string]>([
    ["stop", "stop"],
    ["calls", "tool_calls"],
    ["length", "length"],
    ["filtered", "content_filter"],
  ])("that ended by %s has the reason %s", (reason, expected) => {
    expect(chunksOf([finish(reason)]).at(-1)?.choices[0]?.finish_reason).toBe(expected);
  });

  it("fails where the answer has no end", () => {
    expect(chunksOf([{ kind: "text", text: "Hi" }]).at(-1)).toMatchObject({ error: { code: "upstream_busy" } });
  });

  it("fails with what was billed where it was cut", () => {
    const [event] = writer().fail(new AnswerCut({ message: "cut", costIdr: "12.5", by: "upstream" }));
    expect(event?.data).toMatchObject({ error: { type: "server_error", code: "upstream_busy", cost_idr: "12.5" } });
  });
});

describe("a whole answer", () => {
  it("has what a stream adds up to", () => {
    const events: AnswerEvent[] = [
      { kind: "reasoning", text: "h" },
      { kind: "reasoning", text: "m" },
      { kind: "text", text: "I " },
      { kind: "text", text: "look" },
      call(0),
      call(1),
      input(1, "[1]"),
      input(0, '{"x":'),
      input(0, "1}"),
      finish("calls"),
      { kind: "usage", usage: USAGE },
    ];
    const called = (id: string, args: string) => ({
      id,
      type: "function",
      function: { name: "look", arguments: args },
    });
    expect(writer().whole(events)).toEqual({
      id: `chatcmpl-${FACTS.requestId}`,
      object: "chat.completion",
      created: 1_795_392_000,
      model: "acme/m",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: "I look",
            refusal: null,
            reasoning_content: "hm",
            tool_calls: [called("c0", '{"x":1}'), called("c1", "[1]")],
          },
          logprobs: null,
          finish_reason: "tool_calls",
        },
      ],
      usage: chatUsage(USAGE),
    });
  });

  it("has no content beside calls and refusals alone", () => {
    expect(messageOf([call(0), finish("calls")])).toMatchObject({ content: null });
    expect(messageOf([{ kind: "refusal", text: "no" }, finish("filtered")])).toMatchObject({
      content: null,
      refusal: "no",
    });
  });

  it("is none without an end or a usage", () => {
    expect(() => writer().whole([{ kind: "usage", usage: USAGE }])).toThrow(UpstreamBusy);
    expect(() => writer().whole([finish("stop")])).toThrow(UpstreamBusy);
  });
});

describe("the usage", () => {
  it("is the one that a route which speaks chat shows", () => {
    const counts = {
      inputTokensUncached: 100,
      inputTokensCached: 40,
      outputTokens: 9,
      otherTokens: { cacheWrite: 20, cacheWrite1h: 5 },
    };
    const billed = { reasoningTokens: 4, settled: { charge: 1_250_000n, cost: 1_250_000n }, basis: "exact" } as const;
    const shown = usageJson({ ...billed, counts, clamped: false, isAsReported: false });
    expect(chatUsage(USAGE)).toEqual(JSON.parse(shown));
    const none = { inputTokensUncached: 165, inputTokensCached: 0, outputTokens: 9 };
    const plain = usageJson({ ...billed, reasoningTokens: 0, counts: none, clamped: false, isAsReported: false });
    expect(chatUsage({ ...USAGE, cached: 0, written: 0, written1h: 0, reasoning: 0 })).toEqual(JSON.parse(plain));
  });
});

describe("what a provider wants back", () => {
  it("comes back with the reasoning it belongs to, or alone, and in the ids of calls", () => {
    const events: AnswerEvent[] = [
      { kind: "reasoning", text: "h" },
      { kind: "reasoning", text: "m" },
      { kind: "opaque", ...ORIGIN },
      { kind: "text", text: "so" },
      { kind: "opaque", ...ORIGIN },
      call(0, "look", { opaque: ORIGIN }),
      finish("calls"),
    ];
    const details = [
      { type: "reasoning.encrypted", index: 0, data: 'my~host.["U0lH","hm"]' },
      { type: "reasoning.encrypted", index: 1, data: 'my~host.["U0lH",""]' },
    ];
    const message = messageOf(events);
    expect(message["reasoning_details"]).toEqual(details);
    expect(deltasOf(events).flatMap((delta) => delta["reasoning_details"] ?? [])).toEqual(details);
    const messages = [{ role: "user", content: "hi" }, message];
    const request = readRequest(Buffer.from(JSON.stringify({ model: "acme/m", messages })));
    expect(readChatConversation(request).conversation.turns[1]?.parts).toEqual([
      { kind: "reasoning", text: "hm", opaque: ORIGIN },
      { kind: "reasoning", text: "", opaque: ORIGIN },
      { kind: "text", text: "so" },
      { kind: "call", id: "c0", tool: { name: "look", namespace: null }, input: "{}", opaque: ORIGIN },
    ]);
  });
});

describe("calls in other forms", () => {
  it("are custom for freeform tools, with their text at the end", () => {
    const events = [call(0, "patch"), input(0, '{"inp'), input(0, 'ut":"*** Begin"}'), finish("calls")];
    expect(deltasOf(events, { tools: [PATCH] })).toEqual([
      { tool_calls: [{ index: 0, id: "c0", type: "custom", custom: { name: "patch", input: "" } }] },
      { tool_calls: [{ index: 0, custom: { input: "*** Begin" } }] },
    ]);
    expect(messageOf(events, { tools: [PATCH] })["tool_calls"]).toEqual([
      { id: "c0", type: "custom", custom: { name: "patch", input: "*** Begin" } },
    ]);
  });

  it("are the first alone for clients of the older form", () => {
    const events = [call(0), input(0, '{"x":1}'), call(1), input(1, "{}"), finish("calls")];
    expect(chunksOf(events, { hasFunctions: true }).at(-1)?.choices[0]?.finish_reason).toBe("function_call");
    const message = messageOf(events, { hasFunctions: true });
    expect(message["function_call"]).toEqual({ name: "look", arguments: '{"x":1}' });
    expect(message).not.toHaveProperty("tool_calls");
    expect(messageOf([call(0), finish("calls")], { hasFunctions: true })["function_call"]).toEqual({
      name: "look",
      arguments: "{}",
    });
  });
});
