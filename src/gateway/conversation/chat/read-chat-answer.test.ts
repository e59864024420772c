import { describe, expect, it } from "vitest";
import type { TokenCounts } from "../../../kernel/token-prices.ts";
import { usageJson } from "../../formats/chat/billed-chat.ts";
import { parseObject } from "../../request/parse-object.ts";
import type { AnswerEvent } from "../answer-events.ts";
import { ChatAnswerReader } from "./read-chat-answer.ts";

const delta = (part: unknown, finish: string | null = null): string =>
  JSON.stringify({ choices: [{ index: 0, delta: part, finish_reason: finish }] });
const part = (index: number | undefined, id?: string, name?: string, args?: string) => ({
  ...(index === undefined ? {} : { index }),
  ...(id === undefined ? {} : { id }),
  function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
});
const calls = (...parts: object[]): string => delta({ tool_calls: parts });

function events(...chunks: string[]): AnswerEvent[] {
  const reader = new ChatAnswerReader();
  return [...chunks.flatMap((chunk) => reader.read(parseObject(chunk) ?? {})), ...reader.end()];
}
/** Without how it ended and the usage. */
const shown = (...chunks: string[]): AnswerEvent[] => events(...chunks).slice(0, -2);
const finishOf = (...chunks: string[]) => events(...chunks).find(({ kind }) => kind === "finish");

describe("a stream", () => {
  it("is its texts in their order, and nothing for chunks without any", () => {
    expect(
      shown(
        delta({ role: "assistant", content: "" }),
        delta({ reasoning_content: "hm" }),
        delta({ reasoning: "so" }),
        delta({ content: "Ha" }),
        delta({
          content: [
            { type: "thinking", thinking: "!" },
            { type: "text", text: "lo" },
          ],
        }),
        delta({ refusal: "no" }),
        delta({ content: null }),
        "half of a chu",
      ),
    ).toEqual([
      { kind: "reasoning", text: "hm" },
      { kind: "reasoning", text: "so" },
      { kind: "text", text: "Ha" },
      { kind: "reasoning", text: "!" },
      { kind: "text", text: "lo" },
      { kind: "refusal", text: "no" },
    ]);
  });

  it("has calls by their index, alternating", () => {
    expect(
      shown(
        calls(part(0, "a", "look", "")),
        calls(part(0, undefined, undefined, '{"x"')),
        calls(part(1, "b", "find", "{"), part(0, undefined, undefined, ":1}")),
        calls(part(1, undefined, undefined, "}")),
      ),
    ).toEqual([
      { kind: "call", call: 0, id: "a", name: "look" },
      { kind: "input", call: 0, text: '{"x"' },
      { kind: "call", call: 1, id: "b", name: "find" },
      { kind: "input", call: 1, text: "{" },
      { kind: "input", call: 0, text: ":1}" },
      { kind: "input", call: 1, text: "}" },
    ]);
  });

  it("keeps input back until its call has a name and an id", () => {
    expect(
      shown(
        calls(part(0, "a", undefined, "{")),
        calls(part(1, undefined, "find", "[")),
        calls(part(1, "b", "find", "]")),
        calls(part(0, undefined, "look", "}")),
      ),
    ).toEqual([
      { kind: "call", call: 0, id: "b", name: "find" },
      { kind: "input", call: 0, text: "[]" },
      { kind: "call", call: 1, id: "a", name: "look" },
      { kind: "input", call: 1, text: "{}" },
    ]);
  });

  it("gives a call without an id one of its own at the end, and drops one without a name", () => {
    const found = shown(calls(part(0, "", "look", "{}")), calls(part(1, "b", "", "{}")));
    expect(found).toEqual([
      { kind: "call", call: 0, id: expect.stringMatching(/^call_[0-9a-f]{32}$/) as string, name: "look" },
      { kind: "input", call: 0, text: "{}" },
    ]);
  });

  it.each<[string, number | undefined]>([
    ["number all of them 0", 0],
    ["number none", undefined],
  ])("has several calls where upstreams send them whole and %s", (_name, index) => {
    const chunks = [
      calls(part(index, "a", "look", "{}"), part(index, "b", "look", "[]")),
      calls(part(index, "c", "x")),
    ];
    expect(shown(...chunks).flatMap((event) => (event.kind === "call" ? event.id : []))).toEqual(["a", "b", "c"]);
  });

  it("is one call where an upstream repeats its id and name", () => {
    const found = shown(calls(part(0, "a", "look", "{")), calls(part(0, "a", "look", "}")));
    expect(found.map(({ kind }) => kind)).toEqual(["call", "input", "input"]);
  });

  it("has ids that every protocol takes", () => {
    const [call] = shown(calls(part(0, "functions.Bash:0", "Bash", "{}")));
    expect(call).toMatchObject({ id: expect.stringMatching(/^[\w-]{1,64}$/) as string });
  });
});

describe("the end", () => {
  const call = calls(part(0, "a", "look", "{}"));
  it.each<[string, string[], string]>([
    ["stop", [delta({ content: "x" }, "stop")], "stop"],
    ["nothing", [delta({ content: "x" })], "stop"],
    ["tool_calls", [call, delta({}, "tool_calls")], "calls"],
    ["stop behind calls", [call, delta({}, "stop")], "calls"],
    ["tool_calls without calls", [delta({ content: "x" }, "tool_calls")], "stop"],
    ["length", [call, delta({}, "length")], "length"],
    ["MAX_TOKENS", [delta({}, "MAX_TOKENS")], "length"],
    ["content_filter", [delta({}, "content_filter")], "filtered"],
  ])("is read from %s", (_name, chunks, reason) => {
    expect(finishOf(...chunks)).toEqual({ kind: "finish", reason });
  });

  it("comes once, behind everything, with the usage behind it", () => {
    const usage = JSON.stringify({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, cost_idr: "0.5" } });
    const kinds = events(delta({}, "stop"), usage, delta({ content: "late" })).map(({ kind }) => kind);
    expect(kinds).toEqual(["text", "finish", "usage"]);
  });
});

describe("the usage", () => {
  const usageOf = (usage: string) => events(`{"choices":[],"usage":${usage}}`).at(-1);
  it("is what was billed, in parts that do not overlap", () => {
    const counts: TokenCounts = {
      inputTokensUncached: 100,
      inputTokensCached: 40,
      outputTokens: 9,
      otherTokens: { cacheWrite: 20, cacheWrite1h: 5 },
    };
    const billed = { counts, reasoningTokens: 4, settled: { charge: 1_250_000n, cost: 1_250_000n } };
    const text = usageJson({ ...billed, basis: "exact", clamped: false, isAsReported: false });
    expect(usageOf(text)).toEqual({
      kind: "usage",
      usage: { input: 165, cached: 40, written: 20, written1h: 5, output: 9, reasoning: 4, costIdr: "1.25" },
    });
  });

  it("is zero where there is none", () => {
    expect(events().at(-1)).toEqual({
      kind: "usage",
      usage: { input: 0, cached: 0, written: 0, written1h: 0, output: 0, reasoning: 0, costIdr: "0" },
    });
  });
});

describe("a whole answer", () => {
  it("has the events of a stream", () => {
    const message = {
      role: "assistant",
      content: "Halo",
      reasoning_content: "hm",
      tool_calls: [part(undefined, "a", "look", "{}"), part(undefined, "b", "find", "[1]")],
    };
    const answer = {
      choices: [{ index: 0, message, finish_reason: "stop" }],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, cost_idr: "0.5" },
    };
    expect(events(JSON.stringify(answer))).toEqual([
      { kind: "reasoning", text: "hm" },
      { kind: "text", text: "Halo" },
      { kind: "call", call: 0, id: "a", name: "look" },
      { kind: "input", call: 0, text: "{}" },
      { kind: "call", call: 1, id: "b", name: "find" },
      { kind: "input", call: 1, text: "[1]" },
      { kind: "finish", reason: "calls" },
      {
        kind: "usage",
        usage: { input: 3, cached: 0, written: 0, written1h: 0, output: 2, reasoning: 0, costIdr: "0.5" },
      },
    ]);
  });

  it.each([
    ["no ids", undefined, undefined],
    ["the same id twice", "c0", "c0"],
  ])("has every call of an upstream that gives %s, each under an id of its own", (_name, one, other) => {
    const tools = [part(undefined, one, "look", '{"n":1}'), part(undefined, other, "find", '{"n":2}')];
    const answer = { choices: [{ index: 0, message: { tool_calls: tools }, finish_reason: "tool_calls" }] };
    const found = events(JSON.stringify(answer));
    const begun = found.flatMap((event) => (event.kind === "call" ? [event] : []));
    expect(begun.map(({ name }) => name)).toEqual(["look", "find"]);
    expect(new Set(begun.map(({ id }) => id)).size).toBe(2);
    expect(found.flatMap((event) => (event.kind === "input" ? [event.text] : []))).toEqual(['{"n":1}', '{"n":2}']);
  });
});
