import { describe, expect, it } from "vitest";
import { InsufficientBalance, UpstreamBusy } from "../../../kernel/errors.ts";
import { idr } from "../../../kernel/money.ts";
import { answerCut } from "../../answer/answer-cut.ts";
import type { AnswerEvent, FinishReason } from "../answer-events.ts";
import { readSignature, UNSIGNED_CALL } from "./opaque-signature.ts";
import { GeminiAnswerWriter } from "./write-gemini-answer.ts";

const FACTS = { requestId: "01a2", createdAtMs: 0, inputTokens: 100 };
const HEAD = { modelVersion: "acme/m", responseId: "01a2" };
const usage: AnswerEvent = {
  kind: "usage",
  usage: { input: 100, cached: 30, written: 15, written1h: 5, output: 33, reasoning: 7, costIdr: "0.105" },
};
const SHOWN_USAGE = {
  promptTokenCount: 100,
  cachedContentTokenCount: 30,
  candidatesTokenCount: 26,
  thoughtsTokenCount: 7,
  totalTokenCount: 133,
  costIdr: "0.105",
};

const text = (words: string): AnswerEvent => ({ kind: "text", text: words });
const reasoning = (words: string): AnswerEvent => ({ kind: "reasoning", text: words });
const call = (number: number, opaque?: { origin: string; blob: string }): AnswerEvent => ({
  kind: "call",
  call: number,
  id: `call_${number}`,
  name: "look",
  ...(opaque && { opaque }),
});
const input = (number: number, json: string): AnswerEvent => ({ kind: "input", call: number, text: json });
const finish = (reason: FinishReason): AnswerEvent => ({ kind: "finish", reason });
const functionCall = (number: number, args: object) => ({
  functionCall: { id: `call_${number}`, name: "look", args },
  // Google's models demand a signature on the first call.
  ...(number === 0 ? { thoughtSignature: UNSIGNED_CALL } : {}),
});

const writerOf = (showsThoughts = true) => new GeminiAnswerWriter(FACTS, { model: "acme/m", showsThoughts });

function streamed(events: readonly AnswerEvent[], writer = writerOf()): object[] {
  const written = [...writer.begin(), ...events.flatMap((event) => writer.write(event)), ...writer.end()];
  expect(written.every(({ name }) => name === null)).toBe(true);
  return written.map(({ data }) => data);
}

const piece = (part: object) => ({ candidates: [{ content: { role: "model", parts: [part] }, index: 0 }], ...HEAD });
const last = (parts: readonly object[], finishReason = "STOP") => ({
  candidates: [{ content: { role: "model", parts }, finishReason, index: 0 }],
  usageMetadata: SHOWN_USAGE,
  ...HEAD,
});

describe("a streamed answer", () => {
  it("is its text, then how it ended with the bill", () => {
    expect(streamed([text("hel"), text("lo"), finish("stop"), usage])).toEqual([
      piece({ text: "hel" }),
      piece({ text: "lo" }),
      last([{ text: "" }]),
    ]);
  });

  it("has whole calls at its end, also where their inputs alternate", () => {
    const events = [text("I look."), call(0), input(0, '{"a"'), call(1), input(1, '{"b":2}'), input(0, ":1}"), call(2)];
    expect(streamed([...events, finish("calls"), usage])).toEqual([
      piece({ text: "I look." }),
      last([functionCall(0, { a: 1 }), functionCall(1, { b: 2 }), functionCall(2, {})]),
    ]);
  });

  it("shows thoughts to clients that ask for them", () => {
    const events = [reasoning("hm"), text("yes"), finish("stop"), usage];
    expect(streamed(events)[0]).toEqual(piece({ text: "hm", thought: true }));
    expect(streamed(events, writerOf(false))[0]).toEqual(piece({ text: "yes" }));
  });

  it("gives the client what the provider wants back, as base64", () => {
    const [own, thought] = [
      { origin: "google", blob: "c2ln" },
      { origin: "anthropic", blob: "dGhpbms=" },
    ];
    const events = [{ kind: "opaque", ...thought } as const, call(0), call(1, own), finish("calls"), usage];
    const [{ candidates }] = streamed(events) as [{ candidates: { content: { parts: object[] } }[] }];
    const signatures = candidates[0]?.content.parts.map(
      (part) => (part as { thoughtSignature: string }).thoughtSignature,
    );
    for (const signature of signatures ?? []) expect(signature).toMatch(/^[A-Za-z0-9+/]+=*$/);
    expect(signatures?.map(readSignature)).toEqual([
      { kind: "thought", opaque: thought },
      { kind: "call", opaque: own },
    ]);
  });

  it.each([
    ["stop", "STOP"],
    ["calls", "STOP"],
    ["length", "MAX_TOKENS"],
    ["filtered", "SAFETY"],
  ] as const)("ends for the reason %s with %s", (reason, expected) => {
    expect(streamed([finish(reason), usage])).toEqual([last([{ text: "" }], expected)]);
  });

  it("keeps input that is no object as a text", () => {
    expect(streamed([call(0), input(0, '{"a'), finish("length"), usage])).toEqual([
      last([functionCall(0, { invalid_json: '{"a' })], "MAX_TOKENS"),
    ]);
  });

  it("breaks off without its finish, or where more waits than a model writes", () => {
    const huge = [call(0), input(0, "x".repeat(5_000_000)), input(0, "x"), finish("calls"), usage];
    for (const events of [[text("a")], huge]) {
      const ended = streamed(events).at(-1);
      expect(ended).toMatchObject({ error: { code: 503, status: "UNAVAILABLE" } });
      expect(JSON.stringify(ended).length).toBeLessThan(1_000);
    }
  });

  it.each([
    [answerCut({ by: "upstream", charge: 105_000n }), 409, "ABORTED", "UPSTREAM_BUSY", {}],
    [answerCut({ by: "upstream", charge: 0n }), 503, "UNAVAILABLE", "UPSTREAM_BUSY", {}],
    [
      new InsufficientBalance({ available: idr(1n), needed: idr(2n) }),
      402,
      "FAILED_PRECONDITION",
      "INSUFFICIENT_BALANCE",
      { metadata: { available_idr: "0.000001", needed_idr: "0.000002" } },
    ],
  ])("that broke off is repeated only where nothing was billed: %s", (error, code, status, reason, amounts) => {
    expect(writerOf().fail(error)).toEqual([
      {
        name: null,
        data: {
          error: {
            code,
            message: error.message,
            status,
            details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "saldo", ...amounts }],
          },
        },
      },
    ]);
  });
});

describe("a whole answer", () => {
  it("has its thoughts, texts and calls in their order", () => {
    const events = [reasoning("h"), reasoning("m"), text("I "), text("look."), call(0), input(0, '{"a":1}')];
    expect(writerOf().whole([...events, finish("calls"), usage])).toEqual(
      last([{ text: "hm", thought: true }, { text: "I look." }, functionCall(0, { a: 1 })]),
    );
  });

  it("is refused without its finish", () => {
    expect(() => writerOf().whole([text("a")])).toThrow(UpstreamBusy);
  });
});
