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
const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }).filter((each) => each.isWellFormed());

/** The known members of a request, as a client of this protocol writes them. */
const inputPart = fc.oneof(
  text.map((said): Json => ({ type: "input_text", text: said })),
  fc.constant<Json>({ type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "high" }),
  fc.constant<Json>({ type: "input_image", image_url: "https://x.example/a.png" }),
  fc.constant<Json>({ type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" }),
);
const message = (role: string): fc.Arbitrary<Json> =>
  fc
    .array(
      role === "user"
        ? inputPart
        : text.map((said): Json => ({ type: role === "assistant" ? "output_text" : "input_text", text: said })),
      {
        minLength: 1,
        maxLength: 3,
      },
    )
    .map((content) => ({ type: "message", role, content }));
const toolOutput = fc.oneof(
  text.map((said): unknown => said),
  fc.array(inputPart, { minLength: 2, maxLength: 3 }),
);
/** Thinking, text and calls in one turn, with the results of the calls in their order. */
const step = fc
  .record({
    isThought: fc.boolean(),
    said: fc.option(message("assistant")),
    calls: fc.array(fc.tuple(fc.nat(2), text, toolOutput), { maxLength: 3 }),
  })
  .map(({ isThought, said, calls }) => (turn: number): Json[] => {
    const reasoning = {
      type: "reasoning",
      summary: [{ type: "summary_text", text: "hm" }],
      encrypted_content: "openai.gAAAA-_=",
    };
    const called = calls.map(([tool, input], at): Json => {
      const call_id = `call_${turn}_${at}`;
      if (tool === 1) return { type: "custom_tool_call", call_id, name: "apply_patch", input };
      const args = JSON.stringify({ input });
      if (tool === 2) return { type: "function_call", call_id, name: "wait", namespace: "agents", arguments: args };
      return { type: "function_call", call_id, name: "exec", arguments: args };
    });
    const results = calls.map(([tool, , result], at): Json => {
      const type = tool === 1 ? "custom_tool_call_output" : "function_call_output";
      return { type, call_id: `call_${turn}_${at}`, output: result };
    });
    const items = [...(said === null ? [] : [said]), ...called];
    return items.length === 0 ? [] : [...(isThought ? [reasoning] : []), ...items, ...results];
  });
const TOOLS: readonly Json[] = [
  { type: "function", name: "exec", description: "Runs.", parameters: { type: "object" }, strict: true },
  {
    type: "custom",
    name: "apply_patch",
    description: "Edits.",
    format: { type: "grammar", syntax: "lark", definition: "start: X" },
  },
  {
    type: "namespace",
    name: "agents",
    description: "Agents.",
    tools: [{ type: "function", name: "wait", parameters: { type: "object" }, strict: false }],
  },
];
const request = fc.record({
  instructions: text,
  rounds: fc.array(
    fc.record({
      first: fc.constantFrom("user", "developer"),
      asked: message("user"),
      told: message("developer"),
      step,
    }),
    {
      minLength: 1,
      maxLength: 3,
    },
  ),
  members: fc.record(
    {
      tool_choice: fc.constantFrom<unknown>(
        "auto",
        "required",
        "none",
        { type: "function", name: "exec" },
        { type: "custom", name: "apply_patch" },
        { type: "function", name: "wait", namespace: "agents" },
      ),
      parallel_tool_calls: fc.boolean(),
      temperature: fc.constantFrom(0, 0.5, 2),
      top_p: fc.constantFrom(0, 0.9),
      reasoning: fc.record(
        { effort: fc.constantFrom("none", "low", "xhigh"), summary: fc.constantFrom("auto", "detailed") },
        { requiredKeys: ["effort"] },
      ),
      text: fc.constantFrom<Json>(
        { verbosity: "low" },
        { format: { type: "json_object" } },
        { format: { type: "json_schema", name: "a", schema: { type: "object" }, strict: true }, verbosity: "high" },
      ),
      prompt_cache_key: text.filter((each) => each.length <= 64),
      stream: fc.constant(true),
    },
    { requiredKeys: [] },
  ),
});

/** The members of a request, and what an upstream gets for its items. */
type Sent = { readonly sent: Json; readonly input: readonly Json[] };

const sentRequest = request.map(({ instructions, rounds, members }): Sent => {
  const items = rounds.flatMap(({ first, asked, told, step: make }, turn) => [
    ...(first === "developer" && turn > 0 ? [told] : []),
    asked,
    ...make(turn),
  ]);
  const input = items.map((item): Json =>
    item["type"] === "reasoning" ? { ...item, encrypted_content: "gAAAA-_=" } : item,
  );
  return { sent: { instructions, input: items, tools: TOOLS, max_output_tokens: 64, ...members }, input };
});

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
