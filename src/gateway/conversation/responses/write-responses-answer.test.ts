import { describe, expect, it } from "vitest";
import {
  type DomainError,
  InsufficientBalance,
  InternalError,
  RateLimited,
  UpstreamBusy,
  ValidationError,
} from "../../../kernel/errors.ts";
import { parseMoney } from "../../../kernel/money.ts";
import type { AnswerEvent, AnswerUsage } from "../answer-events.ts";
import type { ProtocolEvent } from "../protocol.ts";
import { responsesProtocol } from "./responses-protocol.ts";

const FACTS = { requestId: "01a20a18-90e1-71af-abb6-25530962f602", createdAtMs: 1_795_392_000_123, inputTokens: 7 };
const tools = [
  { type: "function", name: "exec", parameters: { type: "object" } },
  { type: "custom", name: "apply_patch" },
  {
    type: "namespace",
    name: "agents",
    tools: [
      { type: "function", name: "wait" },
      { type: "custom", name: "run" },
    ],
  },
];
const usage: AnswerUsage = {
  input: 150,
  cached: 30,
  written: 10,
  written1h: 5,
  output: 12,
  reasoning: 4,
  costIdr: "0.105",
};
const STOP: AnswerEvent = { kind: "finish", reason: "stop" };
const text = (words: string): AnswerEvent => ({ kind: "text", text: words });
const call = (number: number, name = "exec"): AnswerEvent => ({
  kind: "call",
  call: number,
  id: `call_${number}`,
  name,
});
const input = (number: number, words: string): AnswerEvent => ({ kind: "input", call: number, text: words });

type Data = { readonly type: string; readonly [name: string]: unknown };
type Output = { readonly output: readonly Record<string, unknown>[] } & Record<string, unknown>;

function writer(members: object = {}) {
  const body = Buffer.from(JSON.stringify({ model: "acme/large", input: "hi", tools, ...members }));
  return responsesProtocol.read(body).writer(FACTS);
}

function dataOf(events: readonly ProtocolEvent[]): Data[] {
  return events.map(({ name, data }) => {
    const typed = data as Data;
    expect(name).toBe(typed.type);
    return typed;
  });
}

/** The events of a stream, which are numbered from 0. */
function streamed(...events: readonly AnswerEvent[]): Data[] {
  const answer = writer();
  const data = dataOf([...answer.begin(), ...events.flatMap((event) => answer.write(event)), ...answer.end()]);
  expect(data.map((each) => each["sequence_number"])).toEqual(data.map((_, index) => index));
  return data;
}

function failed(error: DomainError, ...events: readonly AnswerEvent[]): Record<string, unknown> {
  const answer = writer();
  const data = dataOf([...answer.begin(), ...events.flatMap((event) => answer.write(event)), ...answer.fail(error)]);
  expect(data.at(-1)?.type).toBe("response.failed");
  expect(answer.write(text("late"))).toEqual([]);
  expect(answer.end()).toEqual([]);
  return responseOf(data);
}

const typesOf = (data: readonly Data[]): string[] => data.map(({ type }) => type.replace("response.", ""));
const responseOf = (data: readonly Data[]): Output => data.at(-1)?.["response"] as Output;

describe("a stream", () => {
  it("has the events of a text in their order", () => {
    const data = streamed(text("Hel"), text("lo"), STOP, { kind: "usage", usage });
    expect(typesOf(data)).toEqual([
      "created",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "completed",
    ]);
    const item = {
      id: `msg_${FACTS.requestId}_0`,
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Hello", annotations: [], logprobs: [] }],
    };
    expect(data[1]).toMatchObject({ item: { ...item, status: "in_progress", content: [] } });
    expect(data[7]).toMatchObject({ output_index: 0, item });
    expect(responseOf(data)).toMatchObject({
      id: `resp_${FACTS.requestId}`,
      object: "response",
      created_at: 1_795_392_000,
      model: "acme/large",
      status: "completed",
      store: false,
      output: [item],
    });
  });

  it("shows the billed usage with its cost", () => {
    expect(responseOf(streamed(text("a"), STOP, { kind: "usage", usage }))["usage"]).toEqual({
      input_tokens: 150,
      input_tokens_details: {
        cached_tokens: 30,
        cache_write_tokens: 15,
        cache_write_tokens_details: { ttl_30m_tokens: 10, ttl_12h_tokens: 5 },
      },
      output_tokens: 12,
      output_tokens_details: { reasoning_tokens: 4 },
      total_tokens: 162,
      cost_idr: "0.105",
    });
  });

  it("has reasoning, a text and a call as items of their own", () => {
    const data = streamed(
      { kind: "reasoning", text: "hm" },
      text("I run it."),
      call(0),
      input(0, '{"cmd":'),
      input(0, '"ls"}'),
      { kind: "finish", reason: "calls" },
    );
    expect(typesOf(data).filter((type) => type.startsWith("output_item"))).toEqual([
      "output_item.added",
      "output_item.done",
      "output_item.added",
      "output_item.done",
      "output_item.added",
      "output_item.done",
    ]);
    expect(typesOf(data).slice(1, 6)).toEqual([
      "output_item.added",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
    ]);
    expect(responseOf(data).output).toMatchObject([
      { id: `rs_${FACTS.requestId}_0`, type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] },
      { type: "message" },
      {
        id: `fc_${FACTS.requestId}_2`,
        type: "function_call",
        call_id: "call_0",
        name: "exec",
        arguments: '{"cmd":"ls"}',
      },
    ]);
  });

  it("writes calls whose inputs alternate one after the other, each with its whole input", () => {
    const pieces = [call(0), input(0, "{"), call(1), input(1, "[1"), input(0, "}"), text("both"), input(1, "]"), STOP];
    const data = streamed(...pieces);
    expect(
      data.filter(({ type }) => type.startsWith("response.output_item")).map((each) => each["output_index"]),
    ).toEqual([0, 0, 1, 1, 2, 2]);
    expect(responseOf(data).output).toMatchObject([
      { arguments: "{}", status: "completed" },
      { arguments: "[1]", status: "completed" },
      { type: "message", content: [{ text: "both" }] },
    ]);
  });

  it("gives the call of a freeform tool as its text, at the end", () => {
    const data = streamed(call(0, "apply_patch"), input(0, '{"input":"*** Be'), input(0, 'gin\\n"}'), STOP);
    expect(typesOf(data).slice(1, -1)).toEqual([
      "output_item.added",
      "custom_tool_call_input.delta",
      "custom_tool_call_input.done",
      "output_item.done",
    ]);
    expect(responseOf(data).output).toMatchObject([
      {
        id: `ctc_${FACTS.requestId}_0`,
        type: "custom_tool_call",
        call_id: "call_0",
        name: "apply_patch",
        input: "*** Begin\n",
      },
    ]);
  });

  it("gives a freeform call that is no JSON as it is", () => {
    const data = streamed(call(0, "apply_patch"), input(0, "*** Begin"), STOP);
    expect(responseOf(data).output).toMatchObject([{ input: "*** Begin" }]);
  });

  it("restores the namespaces of tools", () => {
    const data = streamed(call(0, "agents__wait"), call(1, "agents__run"), call(2, "unknown__tool"), STOP);
    expect(responseOf(data).output).toMatchObject([
      { type: "function_call", name: "wait", namespace: "agents", arguments: "{}" },
      { type: "custom_tool_call", name: "run", namespace: "agents" },
      { type: "function_call", name: "unknown__tool" },
    ]);
  });

  it("keeps a refusal apart from a text", () => {
    const data = streamed(text("Well. "), { kind: "refusal", text: "No." }, STOP);
    expect(typesOf(data)).toContain("refusal.done");
    expect(responseOf(data).output).toMatchObject([
      {
        content: [
          { type: "output_text", text: "Well. " },
          { type: "refusal", refusal: "No." },
        ],
      },
    ]);
  });

  it.each([
    ["length", "max_output_tokens"],
    ["filtered", "content_filter"],
  ] as const)("that ended by %s is incomplete", (reason, shown) => {
    const data = streamed(text("par"), { kind: "finish", reason });
    expect(data.at(-1)?.type).toBe("response.incomplete");
    expect(responseOf(data)).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: shown },
      output: [{ status: "incomplete" }],
    });
  });

  it("without an end of the model has failed", () => {
    expect(streamed(text("par")).at(-1)?.type).toBe("response.failed");
  });

  it("fails where more waits for the end of a call than is kept", () => {
    const answer = writer();
    const large = "x".repeat(3 * 1_024 * 1_024);
    for (const event of [call(0), call(1), input(1, large)]) answer.write(event);
    expect(dataOf(answer.write(input(1, large))).map(({ type }) => type)).toEqual(["response.failed"]);
  });
});

describe("a stream that broke off", () => {
  const money = parseMoney("1", "IDR/6");
  it.each([
    ["insufficient_quota", new InsufficientBalance({ available: money, needed: money })],
    ["rate_limit_exceeded", new RateLimited({ retryAfterSeconds: 1, limit: 60 })],
    ["context_length_exceeded", new ValidationError([], { reason: "context_length_exceeded" })],
    ["invalid_prompt", new ValidationError([])],
    ["server_error", new UpstreamBusy()],
    ["server_error", new InternalError()],
  ])("has the code %s", (code, error) => {
    expect(failed(error)).toMatchObject({ status: "failed", error: { code, message: error.message } });
  });

  it("is not to be repeated once output has been billed", () => {
    expect(failed(new UpstreamBusy(), text("a"))).toMatchObject({ error: { code: "server_is_overloaded" } });
  });
});

describe("a whole answer", () => {
  it("is the response of the stream's last event", () => {
    const events: AnswerEvent[] = [text("a"), call(0), input(0, "{}"), STOP, { kind: "usage", usage }];
    expect(writer().whole(events)).toEqual(responseOf(streamed(...events)));
    const cut: AnswerEvent[] = [text("a"), { kind: "finish", reason: "length" }];
    expect(writer().whole(cut)).toEqual(responseOf(streamed(...cut)));
  });

  it("repeats the settings of its request", () => {
    const asked = { temperature: 0.5, metadata: { a: "b" }, tool_choice: "required", reasoning: { effort: "low" } };
    expect(writer({ ...asked, store: true }).whole([STOP])).toMatchObject({ ...asked, store: false, output: [] });
  });

  it("cannot be made of an answer without an end", () => {
    expect(() => writer().whole([text("a")])).toThrow(UpstreamBusy);
  });

  it("shows no large setting again, since an answer is not billed for it", () => {
    const large = { metadata: { a: "x".repeat(1_000_000) }, text: { verbosity: "y".repeat(1_000_000) } };
    expect(JSON.stringify(writer(large).whole([STOP])).length).toBeLessThan(2_000);
  });
});
