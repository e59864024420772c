// What a client of Responses sends is what a Responses upstream gets, and what that upstream answers is what the client gets: in the
// form between them nothing that is known is lost.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ResponsesAnswerReader,
  readResponsesAnswer,
} from "../../src/gateway/conversation/responses/read-responses-answer.ts";
import { readResponsesRequest } from "../../src/gateway/conversation/responses/read-responses-request.ts";
import { responsesProtocol } from "../../src/gateway/conversation/responses/responses-protocol.ts";
import { writeResponsesRequest } from "../../src/gateway/conversation/responses/write-responses-request.ts";
import { ownCacheKey } from "../../src/gateway/conversation/cache-key.ts";
import type { AnswerEvent } from "../../src/gateway/conversation/answer-events.ts";
import { dataOf, EventCutter, splitEvents } from "../../src/gateway/stream/sse.ts";
import { eventsOf, type Json, sseOf } from "./fakes/responses-wire.ts";
import { sentRequest, text, TOOLS } from "./responses-requests.ts";

const TARGET = { upstream: "openai", model: "gpt", outputCap: 64, thinks: true, takesServiceTier: false };
/** The same target, where the client's bytes pass. */
const FACTS = {
  origin: TARGET.upstream,
  model: TARGET.model,
  outputBound: TARGET.outputCap,
  userTag: "tag",
  takesServiceTier: true,
  knowsSafeguards: false,
  headers: {},
  contextLength: 200_000,
  canThink: TARGET.thinks,
  accepts: null,
};
describe("a request in its own protocol", () => {
  it("keeps every known member on its way through the form", () => {
    fc.assert(
      fc.property(sentRequest, ({ sent, input }) => {
        const { conversation } = readResponsesRequest({ model: "acme/m", ...sent });
        const written = JSON.parse(writeResponsesRequest(conversation, TARGET).toString("utf8")) as Json;
        const added = { model: "gpt", include: ["reasoning.encrypted_content"], store: false };
        expect(written).toEqual({ ...sent, input, ...added });
      }),
    );
  });

  it("keeps every known member on its way past the form, and each that the form has no name for", () => {
    const only = fc.record(
      {
        truncation: fc.constantFrom("auto", "disabled"),
        max_tool_calls: fc.nat(9),
        top_logprobs: fc.nat(20),
        stream_options: fc.record({ include_obfuscation: fc.boolean() }),
        text: fc.record({ verbosity: fc.constantFrom("low", "high"), format: fc.constant({ type: "text" }) }),
        reasoning: fc.record({ effort: fc.constant("max"), context: fc.constantFrom("auto", "all_turns") }),
        service_tier: fc.constant("auto"),
      },
      { requiredKeys: [] },
    );
    const marked = (item: Json): Json => ({ ...item, status: "completed", ...phaseOf(item) });
    fc.assert(
      fc.property(sentRequest, only, fc.boolean(), ({ sent, input }, more, isSpaced) => {
        const items = (sent["input"] as Json[]).map((item, at) => ({ id: `item_${at}`, ...marked(item) }));
        const own: Json = { ...sent, input: items, ...more };
        const body = Buffer.from(JSON.stringify({ model: "acme/m", ...own }, null, isSpaced ? 2 : 0));
        const { native } = responsesProtocol.read(body);
        native?.check({ accepts: null, outputBound: 64 });
        const written = JSON.parse(String(native?.write(FACTS).body)) as Json;
        const { prompt_cache_key: key, ...kept } = own;
        const added = {
          model: "gpt",
          include: ["reasoning.encrypted_content"],
          store: false,
          safety_identifier: "tag",
        };
        expect(written).toEqual({
          ...kept,
          input: input.map(marked),
          ...added,
          service_tier: "default",
          ...(typeof key === "string" ? { prompt_cache_key: ownCacheKey("tag", key) } : {}),
        });
      }),
    );
  });
});

function phaseOf({ role }: Json): Json {
  return role === "assistant" ? { phase: "commentary" } : {};
}

/** The items of an answer, as an upstream gives them. */
const part = fc.oneof(
  text.map((said): Json => ({ type: "output_text", text: said, annotations: [], logprobs: [] })),
  text.map((said): Json => ({ type: "refusal", refusal: said })),
);
const item = fc.oneof(
  fc
    .array(part, { minLength: 1, maxLength: 2 })
    .map((content): Json => ({ type: "message", role: "assistant", status: "completed", content })),
  fc.tuple(fc.array(text, { maxLength: 1 }), fc.boolean()).map(([texts, isSealed]): Json => {
    const summary = texts.map((said) => ({ type: "summary_text", text: said }));
    return { type: "reasoning", summary, ...(isSealed ? { encrypted_content: "gAAAA-_=" } : {}) };
  }),
  text.map((input): Json => ({ type: "custom_tool_call", name: "apply_patch", input, status: "completed" })),
  text.map((said): Json => ({
    type: "function_call",
    name: "exec",
    arguments: JSON.stringify({ said }),
    status: "completed",
  })),
  fc.constant<Json>({ type: "function_call", name: "wait", namespace: "agents", arguments: "{}", status: "completed" }),
);
const answer = fc.array(item, { minLength: 1, maxLength: 5 }).map((items): Json => {
  const output = items.map((each, at): Json => ({
    id: `i${at}`,
    ...(String(each["type"]).endsWith("call") ? { call_id: `call_${at}` } : {}),
    ...each,
  }));
  const usage = { input_tokens: 10, input_tokens_details: { cached_tokens: 4 }, output_tokens: 5, total_tokens: 15 };
  return { id: "resp_1", object: "response", status: "completed", output, usage };
});

function writer() {
  const body = Buffer.from(JSON.stringify({ model: "acme/m", input: "hi", tools: TOOLS }));
  return responsesProtocol
    .read(body)
    .writer({ requestId: "0193a8c0-0000-7000-8000-000000000000", createdAtMs: 0, inputTokens: 1 });
}

/** The text, the arguments and the opaque texts of an answer, each joined as one client would read them. */
function contentOf(events: readonly AnswerEvent[]): readonly Json[] {
  const content: Record<string, unknown>[] = [];
  for (const event of events) {
    const last = content.at(-1);
    if (event.kind === "input") {
      const call = content.find((each) => each["kind"] === "call" && each["call"] === event.call);
      if (call !== undefined) call["input"] = `${typeof call["input"] === "string" ? call["input"] : ""}${event.text}`;
    } else if (
      (event.kind === "text" || event.kind === "refusal" || event.kind === "reasoning") &&
      last?.["kind"] === event.kind
    ) {
      last["text"] = String(last["text"]) + event.text;
    } else content.push({ ...event });
  }
  // Half a pair of a character outside the first plane is escaped, which means the same.
  for (const call of content) {
    if (call["name"] === "apply_patch") call["input"] = JSON.parse(String(call["input"])) as unknown;
  }
  return content;
}

describe("a stream in its own protocol", () => {
  it("is the same in text, arguments and opaque text, whole or in pieces, split at every byte", () => {
    fc.assert(
      fc.property(answer, fc.integer({ min: 1, max: 9 }), (response, pieceSize) => {
        const bytes = Buffer.from(eventsOf(response, pieceSize).map(sseOf).join(""));
        const cutter = new EventCutter();
        const reader = new ResponsesAnswerReader("openai");
        const events: AnswerEvent[] = [];
        for (const byte of bytes) {
          for (const event of splitEvents(cutter.push(Buffer.of(byte)) ?? Buffer.alloc(0))) {
            events.push(...reader.read(JSON.parse(dataOf(event) ?? "{}") as Json));
          }
        }
        events.push(...reader.end());
        const whole = readResponsesAnswer(JSON.stringify(response), "openai") ?? [];
        expect(contentOf(events)).toEqual(contentOf(whole));
        const written = writer();
        const shown = [...written.begin(), ...events.flatMap((event) => written.write(event)), ...written.end()];
        const again = new ResponsesAnswerReader("saldo");
        const back = shown.flatMap(({ data }) => again.read({ ...data })).concat(again.end());
        const tagged = contentOf(whole).map((each) =>
          each["kind"] === "opaque" ? { ...each, origin: "saldo", blob: `openai.${String(each["blob"])}` } : each,
        );
        expect(contentOf(back)).toEqual(tagged);
      }),
    );
  });
});
