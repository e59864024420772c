import { describe, expect, it } from "vitest";
import { InsufficientBalance, InternalError, UpstreamBusy } from "../../../kernel/errors.ts";
import { refusalFacts } from "../../../kernel/refusal-facts.ts";
import { idr } from "../../../kernel/money.ts";
import { AnswerCut } from "../../answer/answer-cut.ts";
import { ChatAnswerReader } from "../chat/read-chat-answer.ts";
import type { AnswerEvent, AnswerUsage, FinishReason } from "../answer-events.ts";
import type { ProtocolEvent } from "../protocol.ts";
import { MessagesAnswerWriter } from "./write-messages-answer.ts";
import { OWN_SIGNATURE } from "./own-signature.ts";

const FACTS = { requestId: "01a2", createdAtMs: 0, inputTokens: 100 };
const USAGE: AnswerUsage = {
  input: 100,
  cached: 30,
  written: 15,
  written1h: 5,
  output: 33,
  reasoning: 7,
  costIdr: "0.105",
};
const SHOWN_USAGE = {
  input_tokens: 50,
  cache_creation_input_tokens: 20,
  cache_read_input_tokens: 30,
  cache_creation: { ephemeral_5m_input_tokens: 15, ephemeral_1h_input_tokens: 5 },
  output_tokens: 33,
  output_tokens_details: { thinking_tokens: 7 },
  cost_idr: "0.105",
};

const writerOf = () => new MessagesAnswerWriter(FACTS, "acme/m");
const text = (words: string): AnswerEvent => ({ kind: "text", text: words });
const reasoning = (words: string): AnswerEvent => ({ kind: "reasoning", text: words });
const call = (number: number): AnswerEvent => ({ kind: "call", call: number, id: `call_${number}`, name: "Bash" });
const input = (number: number, json: string): AnswerEvent => ({ kind: "input", call: number, text: json });
const finish = (reason: FinishReason): AnswerEvent => ({ kind: "finish", reason });
const usage: AnswerEvent = { kind: "usage", usage: USAGE };

/** The data of the events of a stream. The SDK takes only events whose name is their type. */
function streamed(...events: AnswerEvent[]): object[] {
  const writer = writerOf();
  const written: ProtocolEvent[] = [
    ...writer.begin(),
    ...events.flatMap((each) => writer.write(each)),
    ...writer.end(),
  ];
  return written.map(({ name, data }) => {
    expect(name).toBe((data as { type: string }).type);
    return data;
  });
}

const start = (index: number, block: object) => ({ type: "content_block_start", index, content_block: block });
const delta = (index: number, changed: object) => ({ type: "content_block_delta", index, delta: changed });
const stop = (index: number) => ({ type: "content_block_stop", index });
const textDelta = (index: number, words: string) => delta(index, { type: "text_delta", text: words });
const inputDelta = (index: number, json: string) => delta(index, { type: "input_json_delta", partial_json: json });
const toolUse = (number: number) => ({ type: "tool_use", id: `call_${number}`, name: "Bash", input: {} });
const ended = (reason: string) => [
  { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage: SHOWN_USAGE },
  { type: "message_stop" },
];
const MESSAGE = { id: "msg_01a2", type: "message", role: "assistant", model: "acme/m" };
const START = {
  type: "message_start",
  message: {
    ...MESSAGE,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 100, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 },
  },
};

describe("a streamed answer", () => {
  it("is a text between an estimate and the bill", () => {
    expect(streamed(text("hel"), text("lo"), finish("stop"), usage)).toEqual([
      START,
      start(0, { type: "text", text: "" }),
      textDelta(0, "hel"),
      textDelta(0, "lo"),
      stop(0),
      ...ended("end_turn"),
    ]);
  });

  it("has thoughts with our signature, then a call", () => {
    const json = '{"command":"ls"}';
    expect(streamed(reasoning("pondering"), call(0), input(0, json), finish("calls"), usage)).toEqual([
      START,
      start(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "thinking_delta", thinking: "pondering" }),
      delta(0, { type: "signature_delta", signature: OWN_SIGNATURE }),
      stop(0),
      start(1, toolUse(0)),
      inputDelta(1, json),
      stop(1),
      ...ended("tool_use"),
    ]);
  });

  it("has thoughts with what their provider wants back, each a block of its own", () => {
    const opaque = (blob: string) => ({ kind: "opaque", origin: "up.1", blob }) as const;
    const all = [
      reasoning("hm"),
      reasoning("m"),
      opaque("a+/="),
      opaque("b"),
      reasoning("so"),
      text("Yes."),
      finish("stop"),
      usage,
    ];
    const signed = (index: number, signature: string) => delta(index, { type: "signature_delta", signature });
    const events = streamed(...all);
    for (const event of [signed(0, "up~1.a+/="), signed(1, "up~1.b"), signed(2, OWN_SIGNATURE)]) {
      expect(events).toContainEqual(event);
    }
    expect(writerOf().whole(all)).toMatchObject({
      content: [
        { type: "thinking", thinking: "hmm", signature: "up~1.a+/=" },
        { type: "thinking", thinking: "", signature: "up~1.b" },
        { type: "thinking", thinking: "so", signature: OWN_SIGNATURE },
        { type: "text", text: "Yes." },
      ],
    });
  });

  it("has one open block at a time, also where the inputs of calls alternate", () => {
    expect(
      streamed(
        text("Running."),
        call(0),
        input(0, '{"a"'),
        call(1),
        input(1, '{"b"'),
        input(0, ":1}"),
        text("\n"),
        input(1, ":2}"),
        call(2),
        finish("calls"),
        usage,
      ),
    ).toEqual([
      START,
      start(0, { type: "text", text: "" }),
      textDelta(0, "Running."),
      stop(0),
      start(1, toolUse(0)),
      inputDelta(1, '{"a"'),
      inputDelta(1, ":1}"),
      stop(1),
      start(2, toolUse(1)),
      inputDelta(2, '{"b":2}'),
      stop(2),
      start(3, { type: "text", text: "" }),
      textDelta(3, "\n"),
      stop(3),
      start(4, toolUse(2)),
      stop(4),
      ...ended("tool_use"),
    ]);
  });

  it("breaks off where more waits for a call than a model writes", () => {
    const events = streamed(call(0), call(1), input(1, "x".repeat(5_000_000)), input(1, "x"), finish("calls"), usage);
    expect(events.at(-1)).toMatchObject({ type: "error", error: { type: "overloaded_error" } });
    expect(JSON.stringify(events).length).toBeLessThan(2_000);
  });

  it("has input that is no JSON as it is", () => {
    expect(streamed(call(0), input(0, "{ls"), finish("calls"), usage)).toContainEqual(inputDelta(0, "{ls"));
  });

  it.each([
    ["stop", "end_turn"],
    ["calls", "tool_use"],
    ["length", "max_tokens"],
    ["filtered", "refusal"],
  ] as const)("ends for the reason %s with %s", (reason, expected) => {
    expect(streamed(text("a"), finish(reason), usage).slice(-2)).toEqual(ended(expected));
  });

  it("shows a refusal as text", () => {
    expect(streamed({ kind: "refusal", text: "No." }, finish("stop"), usage)).toContainEqual(textDelta(0, "No."));
  });

  it("ends with an error where it has no finish", () => {
    const last = streamed(text("half"), usage).at(-1);
    expect(last).toMatchObject({ type: "error", error: { type: "overloaded_error" }, request_id: "01a2" });
  });

  it.each([
    [new InsufficientBalance({ available: idr(0n), needed: idr(1n) }), "billing_error"],
    [new UpstreamBusy(), "overloaded_error"],
    [
      new AnswerCut({ message: "The answer was cut off by the upstream.", costIdr: "0.1", by: "upstream" }),
      "api_error",
    ],
    [new InternalError(), "api_error"],
  ])("shows %s as %s", (error, type) => {
    expect(writerOf().fail(error)).toEqual([
      {
        name: "error",
        data: {
          type: "error",
          error: { type, message: error.message, details: { error_code: error.code, ...refusalFacts(error) } },
          request_id: "01a2",
        },
      },
    ]);
  });

  it("is kept open by pings", () => {
    expect(writerOf().keepAlive).toEqual({ name: "ping", data: { type: "ping" } });
  });
});

describe("a whole answer", () => {
  it("has the blocks, the reason and the bill", () => {
    const events = [
      reasoning("pond"),
      reasoning("ering"),
      text("Run"),
      text("ning."),
      call(0),
      call(1),
      input(1, '{"b":'),
      input(0, '{"a":1}'),
      input(1, "2}"),
      call(2),
      finish("calls"),
      usage,
    ];
    expect(writerOf().whole(events)).toEqual({
      ...MESSAGE,
      content: [
        { type: "thinking", thinking: "pondering", signature: OWN_SIGNATURE },
        { type: "text", text: "Running." },
        { ...toolUse(0), input: { a: 1 } },
        { ...toolUse(1), input: { b: 2 } },
        toolUse(2),
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: SHOWN_USAGE,
    });
  });

  it.each(["{ls", "[1]", '"ls"', "null"])("has an input that is no object as a text: %s", (json) => {
    for (const reason of ["calls", "length"] as const) {
      expect(writerOf().whole([call(0), input(0, json), finish(reason), usage])).toMatchObject({
        content: [{ type: "tool_use", input: { invalid_json: json } }],
        stop_reason: reason === "calls" ? "tool_use" : "max_tokens",
      });
    }
  });

  it("cannot be one without a finish", () => {
    expect(() => writerOf().whole([text("half"), usage])).toThrow(UpstreamBusy);
  });
});

describe("an answer of chat", () => {
  const chunk = (more: object) => JSON.stringify({ id: "c", choices: [{ index: 0, ...more }] });
  const calls = (index: number, more: object) => ({ tool_calls: [{ index, ...more }] });
  const chunks = [
    chunk({ delta: { role: "assistant", content: "" } }),
    chunk({ delta: { reasoning_content: "hm" } }),
    chunk({ delta: { content: "Running." } }),
    chunk({ delta: calls(0, { id: "functions.Bash:0", function: { name: "Bash", arguments: "" } }) }),
    chunk({ delta: calls(1, { id: "b", function: { name: "Bash", arguments: "{}" } }) }),
    chunk({ delta: calls(0, { function: { arguments: '{"command":"ls"}' } }) }),
    chunk({ delta: {}, finish_reason: "stop" }),
    JSON.stringify({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 3, cost_idr: "0.1" } }),
  ];

  it("becomes one of Messages", () => {
    const reader = new ChatAnswerReader();
    const events = streamed(
      ...chunks.flatMap((json) => reader.read(JSON.parse(json) as Record<string, unknown>)),
      ...reader.end(),
    );
    const types = events.map((each) => (each as { type: string }).type.replace("content_block_", ""));
    expect(types.join(" ")).toBe(
      "message_start start delta delta stop start delta stop start delta stop start delta stop message_delta message_stop",
    );
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: "tool_use" },
      usage: { input_tokens: 10, output_tokens: 3, cost_idr: "0.1" },
    });
    expect(JSON.stringify(events)).not.toContain("functions.Bash:0");
  });
});
