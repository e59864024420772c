import { create } from "@bufbuild/protobuf";
import {
  CreateChatCompletionResponseSchema,
  StreamChatCompletionResponseSchema,
} from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { describe, expect, it } from "vitest";
import { beginExchange, type Exchange, requestOf, shownRequest, withPiece } from "./conversation.ts";
import { pieceOf, pieceOfWhole } from "./chat-pieces.ts";
import { EMBEDDINGS } from "./piece.ts";

const format = "chat";
const settings = { format, system: " ", temperature: null, maxTokens: null, isStreamed: false };
const piece = (content: string, more = {}) =>
  pieceOf(
    create(StreamChatCompletionResponseSchema, {
      id: "chatcmpl-01a2",
      choices: [{ delta: { role: "assistant", content }, ...more }],
    }),
  );

/** An exchange that has just begun, after those before it. */
function begin(id: number, model: string, question: string, before: readonly Exchange[] = []): Exchange {
  return beginExchange(id, question, { format, request: requestOf({ model, question }, before, settings) });
}

describe("a conversation", () => {
  it("grows by chunks and ends with its cost", () => {
    const begun = begin(1, "acme/large", "Halo");
    const last = create(StreamChatCompletionResponseSchema, {
      id: "chatcmpl-01a2",
      usage: { totalTokens: 7, costIdr: "0.01875" },
    });
    const ended = [piece("Ha"), piece("lo", { finishReason: "length" }), pieceOf(last)].reduce(withPiece, begun);
    expect(ended).toMatchObject({ text: "Halo", isCutShort: true, requestId: "01a2", state: "running" });
    expect(ended.counts?.costIdr).toBe("0.01875");
  });

  it("accepts a whole answer at once, including a refusal", () => {
    const answer = create(CreateChatCompletionResponseSchema, {
      id: "chatcmpl-01a3",
      choices: [{ message: { refusal: "Tidak." }, finishReason: "stop" }],
      usage: { costIdr: "0" },
    });
    expect(withPiece(begin(1, "a/b", "x"), pieceOfWhole(answer))).toMatchObject({ text: "Tidak.", requestId: "01a3" });
  });

  it("sends every answered exchange, and omits unset parameters", () => {
    const answered = withPiece(begin(1, "a/b", "satu"), piece("1"));
    const failed = { ...begin(2, "a/b", "dua"), state: "failed" as const };
    const asked = requestOf({ model: "a/b", question: "tiga" }, [answered, failed], settings);
    expect(asked).toEqual({
      model: "a/b",
      messages: [
        { role: "user", content: "satu" },
        { role: "assistant", content: "1" },
        { role: "user", content: "tiga" },
      ],
    });
    const full = { format, system: "Singkat.", temperature: 0, maxTokens: 5, isStreamed: true };
    expect(requestOf({ model: "a/b", question: "x" }, [], full)).toMatchObject({
      messages: [{ role: "system", content: "Singkat." }, { role: "user" }],
      temperature: 0,
      maxTokens: 5,
      stream: true,
    });
  });

  it("is shown as code exactly as it was sent, whatever the settings are now", () => {
    const answered = withPiece(begin(1, "a/b", "satu"), piece("1"));
    const second = withPiece(begin(2, "a/b", "dua", [answered]), piece("2"));
    const now = { model: "c/d", example: "Contoh?", settings: { ...settings, temperature: 1 } };
    const sent = requestOf({ model: "a/b", question: "dua" }, [answered], settings);
    expect(shownRequest({ ...now, draft: " " }, [answered, second])).toEqual({ kind: "sent", format, request: sent });
    expect(sent.messages.at(-1)).toEqual({ role: "user", content: "dua" });
  });

  it("is shown as code with the draft, or with an example before the first question", () => {
    const answered = withPiece(begin(1, "a/b", "satu"), piece("1"));
    const now = { model: "c/d", example: "Contoh?", settings };
    const next = requestOf({ model: "c/d", question: "dua" }, [answered], settings);
    expect(shownRequest({ ...now, draft: "dua " }, [answered])).toEqual({ kind: "next", format, request: next });
    const example = requestOf({ model: "c/d", question: "Contoh?" }, [], settings);
    expect(shownRequest({ ...now, draft: "" }, [])).toEqual({ kind: "example", format, request: example });
  });

  it("has nothing but its text for a vector, whatever was asked before", () => {
    const answered = withPiece(begin(1, "a/b", "satu"), piece("1"));
    const typed = { format: EMBEDDINGS, system: "Singkat.", temperature: 1, maxTokens: 5, isStreamed: true };
    expect(requestOf({ model: "a/v", question: "dua" }, [answered], typed)).toEqual({
      model: "a/v",
      messages: [{ role: "user", content: "dua" }],
    });
  });
});
