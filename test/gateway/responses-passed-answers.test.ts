// What a client of Responses is shown of the answer of an upstream of Responses.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RESPONSES_FORMAT } from "../../src/gateway/formats/responses/responses-format.ts";
import { eventsOf, type Json, sseOf } from "./fakes/responses-wire.ts";
import {
  HI,
  ITEMS,
  lastBody,
  PassedBytes,
  RESPONSE,
  send,
  startUpstreams,
  streamed,
  TAG,
  USAGE,
} from "./pass-responses.ts";
import { relayed } from "./relayed-format.ts";
import { json } from "./scripted-upstream.ts";
import type { Bench } from "./support.ts";

let upstreams: Awaited<ReturnType<typeof startUpstreams>>;
beforeAll(async () => {
  upstreams = await startUpstreams();
});
afterAll(() => upstreams.stop());

/** A request with what the answer repeats of it. */
const ASKED: Json = { ...HI, max_output_tokens: 4_096, metadata: { order: "7" }, prompt_cache_key: "mine" };
const shownOf = (bench: Bench, response: Json): Json => {
  const { requestId, cost } = bench.ledger.settlement;
  return {
    ...response,
    id: `resp_${requestId}`,
    model: "acme/m",
    metadata: { order: "7" },
    prompt_cache_key: "mine",
    safety_identifier: null,
    billing: null,
    asked_by: null,
    run_by: null,
    output: [{ ...ITEMS[0], encrypted_content: "raw.gAAA-_=" }, ITEMS[1]],
    usage: { ...USAGE, cost_idr: String(Number(cost) / 1e6) },
  };
};

describe("the answer", () => {
  it("passes as it is, but for the names, what is hidden and the bill, where it is whole", async () => {
    upstreams.raw.run(json(JSON.stringify(RESPONSE)));
    const bench = upstreams.open(["raw"]);
    const output = new PassedBytes();
    expect(await send(bench, ASKED, output)).toBe("answered");
    expect(bench.ledger.settlement).toMatchObject({ basis: "exact", inputTokensUncached: 15, outputTokens: 9 });
    expect(output.wholeAnswer).toEqual(shownOf(bench, RESPONSE));
    expect(upstreams.raw.received[0]?.body.includes('"order"')).toBe(false);
  });

  /** What only OpenAI's own clients know, what is not known yet, and JSON that no library writes like this. */
  const MIDDLE = [
    '{"type":"response.output_text.delta","output_index":1,"item_id":"msg_1" , "content_index":0,"delta":"\\u00e9","logprobs":[1.0e0],"obfuscation":"x","sequence_number":3}',
    '{ "type":"response.of_next_month","at":[1e2,12345678901234567890],"sequence_number":4}',
    '{"type":"response.output_item.done","output_index":1,"of_next_month":1.0,"item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAA-_=","f":1.0},"sequence_number":5}',
  ];
  const HIDDEN = [
    `{"type":"response.of_next_month","for":{"tag":"${TAG}"},"sequence_number":6}`,
    '{"type":"response.routed","to":"gpt-9-mini","sequence_number":7}',
    '{"type":"rate_limits.updated","plan":"team"}',
  ];
  const named = (text: string): string => `event: ${String((JSON.parse(text) as Json)["type"])}\ndata: ${text}\n\n`;

  it("passes as it is, but for the names, what is hidden and the bill, where it is streamed", async () => {
    const [created = {}] = eventsOf(RESPONSE);
    upstreams.raw.run((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const last = { type: "response.completed", response: RESPONSE, sequence_number: 8 };
      const middle = [...MIDDLE, ...HIDDEN].map((each) => `data: ${each}\r\n\r\n`);
      response.end([sseOf(created), ...middle, sseOf(last)].join(""));
    });
    const bench = upstreams.open(["raw"]);
    const { bytes, events } = await streamed(bench, ASKED);
    expect(bench.ledger.settlement).toMatchObject({ basis: "exact", inputTokensUncached: 15, outputTokens: 9 });
    expect(bytes).toContain(MIDDLE.map(named).join("").replace('"gAAA-_="', '"raw.gAAA-_="'));
    for (const hidden of [TAG, "gpt-9", "developer", "rate_limits", "resp_theirs"]) expect(bytes).not.toContain(hidden);
    const shown = shownOf(bench, RESPONSE);
    const begun = { ...shown, status: "in_progress", output: [], usage: null, incomplete_details: null, error: null };
    expect(events.at(0)).toEqual({ ...created, response: begun });
    expect(events.at(-1)).toEqual({ type: "response.completed", response: shown, sequence_number: 8 });
    expect(events).toHaveLength(2 + MIDDLE.length);
  });

  it("passes its numbers as they are written, also in the response itself", async () => {
    const text = JSON.stringify(RESPONSE)
      .replace("1790000000", "1790000000.0")
      .replace("[1]", "[1.50, 12345678901234567890]");
    upstreams.raw.run((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(named(`{"type":"response.completed","response": ${text}}`));
    });
    const { bytes } = await streamed(upstreams.open(["raw"]), HI);
    expect(bytes).toContain('"created_at":1790000000.0');
    expect(bytes).toContain('"of_next_month":[1.50, 12345678901234567890]');
  });

  it("is nested as deep as the tools of its request, and still has our names", async () => {
    const deep = (depth: number): unknown => (depth === 0 ? "gpt" : [deep(depth - 1)]);
    const response = { ...RESPONSE, tools: [{ type: "function", name: "a", parameters: { enum: deep(100) } }] };
    upstreams.raw.run((answer) => {
      answer.writeHead(200, { "content-type": "text/event-stream" });
      answer.end(eventsOf(response).map(sseOf).join(""));
    });
    const bench = upstreams.open(["raw"]);
    const { bytes, events } = await streamed(bench, ASKED);
    expect(events.at(-1)).toMatchObject({ response: shownOf(bench, response) });
    for (const hidden of [TAG, "gpt-9", "developer"]) expect(bytes).not.toContain(hidden);
  });

  it("has none of the upstream's names, also in its items and events, and what the model wrote about them", async () => {
    const said = `I am gpt-9-mini, "gpt-9" to my friends.`;
    const content = [{ type: "output_text", text: said, annotations: [] }];
    const more = { model: "gpt-9", safety_identifier: TAG, by: { tag: TAG }, of_next_month: [1] };
    const output = [{ ...ITEMS[1], content, ...more }];
    const events = eventsOf({ ...RESPONSE, output }).map((event): Json =>
      event["response"] === undefined ? { ...event, ...more } : event,
    );
    upstreams.raw.run((answer) => {
      answer.writeHead(200, { "content-type": "text/event-stream" });
      answer.end(events.map(sseOf).join(""));
    });
    const { bytes, events: shown } = await streamed(upstreams.open(["raw"]), HI);
    const changed = { model: "acme/m", safety_identifier: null, by: null, of_next_month: [1] };
    const last = shown.at(-1)?.["response"] as { readonly output: readonly Json[] } | undefined;
    const item = last?.output[0];
    expect(item).toEqual({ ...ITEMS[1], content, ...changed });
    expect(shown.find(({ type }) => type === "response.output_item.done")).toMatchObject({ item, ...changed });
    expect(shown.find(({ type }) => type === "response.output_text.done")).toMatchObject({ text: said, ...changed });
    expect(bytes).not.toContain(TAG);
    const diagnostics = { prompt_cache_diagnostics: { key: `${TAG}.mine` } };
    upstreams.raw.run(json(JSON.stringify({ ...RESPONSE, output, ...diagnostics })));
    const whole = new PassedBytes();
    expect(await send(upstreams.open(["raw"]), HI, whole)).toBe("answered");
    expect(whole.wholeAnswer).toMatchObject({ output: [item], prompt_cache_diagnostics: null });
  });

  it("has none of the upstream's names where its members come twice", async () => {
    upstreams.raw.run((answer) => {
      answer.writeHead(200, { "content-type": "text/event-stream" });
      answer.end(
        named(`{"type":"response.completed","response":{"model":"gpt-9"},"response":${JSON.stringify(RESPONSE)}}`),
      );
    });
    const { bytes } = await streamed(upstreams.open(["raw"]), HI);
    expect(bytes).toContain('"model":"acme/m"');
    expect(bytes).not.toContain("gpt-9");
  });

  it.each([1, 40, 90])(
    "ends as the protocol does where it breaks off, and is billed for what came: %s",
    async (size) => {
      const output = [
        { ...ITEMS[1], content: [{ type: "output_text", text: "Hello there. ".repeat(size), annotations: [] }] },
      ];
      const events = eventsOf({ ...RESPONSE, output }).slice(0, -3);
      upstreams.raw.run((response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(events.map(sseOf).join(""), () => response.destroy());
      });
      const bench = upstreams.open(["raw"]);
      const given = await streamed(bench, HI);
      const last = given.events.at(-1);
      expect(last).toMatchObject({
        type: "response.failed",
        response: {
          id: `resp_${bench.ledger.settlement.requestId}`,
          model: "acme/m",
          error: { code: "server_is_overloaded" },
        },
      });
      expect(given.events.map((event) => event["sequence_number"])).toEqual(given.events.map((_, at) => at));
      expect(bench.ledger.settlement).toMatchObject({ basis: "estimated" });
      expect(bench.ledger.settlement.outputTokens).toBeGreaterThanOrEqual(3 * size);
    },
  );

  it("goes on with the conversation: thoughts return to their maker, and to no other upstream", async () => {
    const body: Json = {
      input: "!think !call",
      reasoning: { effort: "low" },
      tools: [{ type: "function", name: "look", parameters: {} }],
    };
    const output = new PassedBytes();
    expect(await send(upstreams.open(["gpt"]), body, output)).toBe("answered");
    const answered = (output.wholeAnswer as { readonly output: readonly Json[] }).output;
    expect(answered.map(({ type }) => type)).toEqual(["reasoning", "function_call"]);
    expect(answered[0]?.["encrypted_content"]).toMatch(/^gpt\.gAAAAAB/);
    const result = { type: "function_call_output", call_id: answered[1]?.["call_id"], output: "done" };
    const next = { ...body, input: [{ role: "user", content: "hi" }, ...answered, result] };
    expect(await send(upstreams.open(["gpt"]), next)).toBe("answered");
    const [, thought] = lastBody(upstreams.gpt)["input"] as Json[];
    expect(thought?.["encrypted_content"]).toMatch(/^gAAAAAB/);
    upstreams.raw.run(json(JSON.stringify(RESPONSE)));
    expect(await send(upstreams.open(["raw"]), next)).toBe("answered");
    expect(String(upstreams.raw.received[0]?.body)).not.toContain("gAAAAAB");
    expect(JSON.parse(String(upstreams.raw.received[0]?.body))).toMatchObject({
      input: [{}, { type: "function_call" }, {}],
    });
  });
});

describe("a stream that the network cuts", () => {
  const native = { origin: "raw", repeated: { metadata: { order: "7" } }, hidden: [TAG, "gpt-9"] };
  const call = { id: "fc_1", type: "function_call", call_id: "call_1", name: "look", arguments: '{"at":"é\\n"}' };
  const bytes = Buffer.from(
    eventsOf({ ...RESPONSE, output: [...ITEMS, call] })
      .map((event) => sseOf(event).replaceAll("\n", "\r\n"))
      .join(""),
  );

  it("is shown the same, wherever it is cut", async () => {
    const whole = await relayed(RESPONSES_FORMAT, [bytes], native);
    expect(String(whole.before)).toContain('"encrypted_content":"raw.gAAA-_="');
    expect(String(whole.after)).toContain('"metadata":{"order":"7"}');
    for (let at = 1; at < bytes.length; at += 1) {
      expect(await relayed(RESPONSES_FORMAT, [bytes.subarray(0, at), bytes.subarray(at)], native)).toEqual(whole);
    }
    const alone = [...bytes].map((byte) => Buffer.of(byte));
    expect(await relayed(RESPONSES_FORMAT, alone, native)).toEqual(whole);
  });

  it("shows whole events alone, and no end, wherever it breaks off", async () => {
    const { before } = await relayed(RESPONSES_FORMAT, [bytes], native);
    const end = bytes.lastIndexOf("data:");
    for (let at = 1; at < end; at += 1) {
      const cut = await relayed(RESPONSES_FORMAT, [bytes.subarray(0, at)], native);
      expect(cut.after).toBeNull();
      expect(before.subarray(0, cut.before.length).equals(cut.before)).toBe(true);
      expect(cut.before.length === 0 || String(cut.before).endsWith("}\n\n")).toBe(true);
    }
  });
});
