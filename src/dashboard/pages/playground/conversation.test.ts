import { create } from "@bufbuild/protobuf";
import {
  CreateChatCompletionResponseSchema,
  StreamChatCompletionResponseSchema,
} from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { describe, expect, it } from "vitest";
import { beginExchange, requestOf, withAnswer, withPiece } from "./conversation.ts";

const settings = { system: " ", temperature: null, maxTokens: null, isStreamed: false };
const piece = (content: string, more = {}) =>
  create(StreamChatCompletionResponseSchema, {
    id: "chatcmpl-01a2",
    choices: [{ delta: { role: "assistant", content }, ...more }],
  });

describe("a conversation", () => {
  it("grows by chunks and ends with its cost", () => {
    const begun = beginExchange(1, "acme/large", "Halo");
    const last = create(StreamChatCompletionResponseSchema, {
      id: "chatcmpl-01a2",
      usage: { totalTokens: 7, costIdr: "0.01875" },
    });
    const ended = [piece("Ha"), piece("lo", { finishReason: "stop" }), last].reduce(withPiece, begun);
    expect(ended).toMatchObject({ text: "Halo", finishReason: "stop", requestId: "01a2", state: "running" });
    expect(ended.usage?.costIdr).toBe("0.01875");
  });

  it("accepts a whole answer at once, including a refusal", () => {
    const answer = create(CreateChatCompletionResponseSchema, {
      id: "chatcmpl-01a3",
      choices: [{ message: { refusal: "Tidak." }, finishReason: "stop" }],
      usage: { costIdr: "0" },
    });
    expect(withAnswer(beginExchange(1, "a/b", "x"), answer)).toMatchObject({ text: "Tidak.", state: "done" });
  });

  it("sends every answered exchange, and omits unset parameters", () => {
    const answered = withPiece(beginExchange(1, "a/b", "satu"), piece("1"));
    const failed = { ...beginExchange(2, "a/b", "dua"), state: "failed" as const };
    const asked = requestOf({ model: "a/b", question: "tiga" }, [answered, failed], settings);
    expect(asked).toEqual({
      model: "a/b",
      messages: [
        { role: "user", content: "satu" },
        { role: "assistant", content: "1" },
        { role: "user", content: "tiga" },
      ],
    });
    const full = { system: "Singkat.", temperature: 0, maxTokens: 5, isStreamed: true };
    expect(requestOf({ model: "a/b", question: "x" }, [], full)).toMatchObject({
      messages: [{ role: "system", content: "Singkat." }, { role: "user" }],
      temperature: 0,
      maxTokens: 5,
      stream: true,
    });
  });
});
