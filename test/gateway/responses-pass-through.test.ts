// What an upstream of Responses gets of a client of Responses, and what is refused before.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ValidationError } from "../../src/kernel/errors.ts";
import { codexRequests } from "./codex-requests.ts";
import type { Json } from "./fakes/responses-wire.ts";
import { HI, lastBody, RESPONSE, send, startUpstreams, streamed, TAG } from "./pass-responses.ts";
import { completion, json } from "./scripted-upstream.ts";
import { RATE } from "./support.ts";

let upstreams: Awaited<ReturnType<typeof startUpstreams>>;
beforeAll(async () => {
  upstreams = await startUpstreams();
});
afterAll(() => upstreams.stop());

describe("the request", () => {
  it("is the client's, with the bound that is held", async () => {
    upstreams.raw.run(json(JSON.stringify(RESPONSE)));
    const bench = upstreams.open(["raw"]);
    bench.ledger.admitWith = ({ leastAmount }) => ({ outcome: "granted", amount: leastAmount, rate: RATE });
    const bodyOf = (model: string, bound: number, tag: string): string =>
      `{"input":[ {"role":"user","content":[{"type":"input_text","text":"\\u00e9"}]}], "model" : "${model}","max_output_tokens":${bound},
        "store":false,"service_tier":"default","safety_identifier":"${tag}","include":["reasoning.encrypted_content"],"top_p":1.0}`;
    expect(await send(bench, bodyOf("acme/m", 9_000, "me"))).toBe("answered");
    expect(String(upstreams.raw.received[0]?.body)).toBe(bodyOf("gpt-9", 256, TAG));
  });

  it.each(Object.keys(codexRequests("")))("of Codex passes: %s", async (name) => {
    const bench = upstreams.open(["gpt"]);
    const given = await streamed(bench, { input: "!think", reasoning: { effort: "low" } });
    const thought = JSON.stringify(given.events.at(-1)).match(/gpt\.gAAAA[^"]+/)?.[0] ?? "";
    const body = codexRequests(thought)[name] ?? {};
    const { events } = await streamed(upstreams.open(["gpt"]), body);
    expect(events.at(-1)).toMatchObject({ type: "response.completed" });
    const { tools = [], input, reasoning, text, parallel_tool_calls } = lastBody(upstreams.gpt);
    const sent = JSON.parse(JSON.stringify(body).replace("gpt.gAAAA", "gAAAA")) as Json;
    const isSold = ({ type }: Json): boolean => type !== "web_search";
    expect({ reasoning, text, parallel_tool_calls, tools, input }).toEqual({
      reasoning: sent["reasoning"],
      text: sent["text"],
      parallel_tool_calls: sent["parallel_tool_calls"],
      tools: ((sent["tools"] ?? []) as Json[]).filter(isSold),
      input: (sent["input"] as Json[]).map(({ id: _id, ...item }) => item),
    });
    const asked = JSON.stringify(lastBody(upstreams.gpt));
    expect(asked).not.toContain("installation");
    expect(asked).toContain(`"prompt_cache_key":`);
    expect(asked).not.toContain(`"prompt_cache_key":${JSON.stringify(sent["prompt_cache_key"])}`);
  });

  it.each([
    ["next_month", "unknown", { next_month: 1 }],
    ["reasoning.next_month", "unknown", { reasoning: { next_month: 1 } }],
    ["reasoning.mode", "unpriced", { reasoning: { mode: "pro" } }],
  ])("is refused where %s is not known or sold here, so that nothing unpriced passes", async (field, rule, more) => {
    upstreams.raw.run(json(completion()));
    const bench = upstreams.open(["raw"]);
    const error = await send(bench, { ...HI, ...more });
    expect(error).toBeInstanceOf(ValidationError);
    expect(error).toMatchObject({ details: [{ field, rule }] });
    expect([bench.ledger.admissions, upstreams.raw.received]).toEqual([[], []]);
    expect(await send(upstreams.open(["raw", "chat"]), { ...HI, ...more })).toBe("answered");
    expect(upstreams.raw.received).toHaveLength(1);
  });

  it.each<[string, Json]>([
    ["previous_response_id", { previous_response_id: "resp_1" }],
    ["conversation", { conversation: "conv_1" }],
    ["prompt", { prompt: { id: "pmpt_1" } }],
    ["background", { background: true }],
    ["service_tier", { service_tier: "priority" }],
    ["prompt_cache_options", { prompt_cache_options: { ttl: "12h" } }],
    ["context_management", { context_management: [{ type: "compaction" }] }],
    ["tools[0].type", { tools: [{ type: "code_interpreter", container: { type: "auto" } }] }],
    ["tools[0].type", { tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] }],
    ["tools[0].type", { tools: [{ type: "mcp", server_label: "x", server_url: "https://x.test" }] }],
    ["input[0].type", { input: [{ type: "item_reference", id: "msg_1" }] }],
    ["input[0].type", { input: [{ type: "compaction", encrypted_content: "x" }] }],
    [
      "input[0].content[0].file_id",
      { input: [{ role: "user", content: [{ type: "input_file", file_id: "file_1" }] }] },
    ],
    [
      "input[0].content[0].file_id",
      { input: [{ role: "user", content: [{ type: "input_image", file_id: "file_1" }] }] },
    ],
    [
      "input[0].content[0].prompt_cache_breakpoint",
      {
        input: [
          { role: "user", content: [{ type: "input_text", text: "a", prompt_cache_breakpoint: { mode: "explicit" } }] },
        ],
      },
    ],
  ])(
    "is refused by %s, and nothing is held or asked, where a provider would keep or charge for something",
    async (field, body) => {
      upstreams.raw.run(json(JSON.stringify(RESPONSE)));
      const bench = upstreams.open(["raw"]);
      const error = await send(bench, { ...HI, ...body });
      expect(error).toBeInstanceOf(ValidationError);
      expect((error as ValidationError).details.map((each) => each.field)).toContain(field);
      expect([bench.ledger.admissions, upstreams.raw.received]).toEqual([[], []]);
    },
  );

  it("has nothing about thoughts for a model that does not think", async () => {
    upstreams.raw.run(json(JSON.stringify(RESPONSE)));
    const body = { ...HI, reasoning: { effort: "high" }, include: ["reasoning.encrypted_content"] };
    expect(await send(upstreams.open(["raw"], { hiddenOutput: false }), body)).toBe("answered");
    expect(JSON.parse(String(upstreams.raw.received[0]?.body))).not.toHaveProperty("reasoning");
    expect(JSON.parse(String(upstreams.raw.received[0]?.body))).not.toHaveProperty("include");
  });

  it("is written from its conversation where OpenAI would not take it as it is", async () => {
    const call = { type: "function_call", call_id: "a", name: "look", arguments: "{}" };
    const bench = upstreams.open(["gpt"]);
    expect(await send(bench, { input: [...(HI["input"] as Json[]), call, { role: "user", content: "go on" }] })).toBe(
      "answered",
    );
    expect(lastBody(upstreams.gpt)["input"]).toMatchObject([{}, call, { call_id: "a", output: "no result" }, {}]);
  });
});
