// What an upstream of the same protocol gets of a Responses request.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../request/field-rules.ts";
import { ownCacheKey } from "../cache-key.ts";
import type { NativeFacts, NativeRequest } from "../native-request.ts";
import { responsesProtocol } from "./responses-protocol.ts";

const FACTS: NativeFacts = {
  origin: "openai",
  model: "gpt-1",
  outputBound: 64,
  userTag: "tag",
  takesServiceTier: false,
  knowsSafeguards: false,
  headers: {},
  contextLength: 200_000,
  canThink: true,
  accepts: null,
};
const ENCRYPTED = "reasoning.encrypted_content";

function requestOf(json: string): NativeRequest | null {
  const body = Buffer.from(json);
  return responsesProtocol.read(body).native ?? null;
}
function nativeOf(json: string, facts: Partial<NativeFacts> = {}): string {
  const written = requestOf(json)?.write({ ...FACTS, ...facts });
  expect(written?.headers).toEqual([]);
  return String(written?.body);
}
const parsedOf = (body: JsonObject, facts: Partial<NativeFacts> = {}): JsonObject =>
  JSON.parse(nativeOf(JSON.stringify({ model: "acme/m", input: "hi", ...body }), facts)) as JsonObject;

/** What is written over the members of a client. */
const WRITTEN = '"model":"gpt-1","max_output_tokens":64,"store":false,"safety_identifier":"tag"';

describe("the body", () => {
  it("is the client's byte for byte, but for the model, the bound, the tier, the cache and the tag", () => {
    const rest = `"instructions" : "\\u00e9\\/ é", "truncation":"auto","top_p":1.0e0,"stream_options":{ "include_obfuscation" : false},
      "text":{"verbosity":"low"} ,"reasoning" : {"effort":"max","context":"all_turns", "summary":"auto"}`;
    const input = `"input":[ {"role":"user","content":"a \\"model\\" of max_output_tokens"} ,
      {"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"b","annotations":[]}]}]`;
    type Written = Readonly<Record<"model" | "bound" | "tier" | "key" | "user" | "store" | "include", string>>;
    const bodyOf = ({ model, bound, tier, key, user, store, include }: Written): string =>
      `{ "m\\u006fdel":"${model}" ,"max_output_tokens":${bound},${rest},"service_tier" :"${tier}" ,${input},"prompt_cache_key": "${key}",` +
      `"safety_identifier":"${user}","store":${store}, "include":[${include}] }`;
    const own = { model: "acme/m", bound: "100000", tier: "auto", key: "chat 1", user: "me@x.test", store: "true" };
    const written = { model: "gpt-1", bound: "64", tier: "default", key: "tag.chat 1", user: "tag", store: "false" };
    expect(nativeOf(bodyOf({ ...own, include: "" }))).toBe(bodyOf({ ...written, include: `"${ENCRYPTED}"` }));
  });

  it("has the bound that is held, keeps nothing at the provider and names the customer where its client sends none of it", () => {
    expect(nativeOf('{"model":"a","input":"hi"}')).toBe(
      `{"max_output_tokens":64,"store":false,"safety_identifier":"tag","include":["${ENCRYPTED}"],"model":"gpt-1","input":"hi"}`,
    );
  });

  it("names the standard tier where the upstream knows tiers and its client names none", () => {
    const takesServiceTier = true;
    expect(parsedOf({}, { takesServiceTier })).toMatchObject({ service_tier: "default" });
    expect(parsedOf({ service_tier: null }, { takesServiceTier })).toMatchObject({ service_tier: "default" });
    expect(parsedOf({})).not.toHaveProperty("service_tier");
  });

  it("has no member that ends here: tags of the client, and what other services know", () => {
    const ending = {
      user: "me",
      metadata: { order: "1" },
      client_metadata: { device: "mine" },
      seed: 1,
      n: 1,
      background: false,
      previous_response_id: null,
      speed: "standard",
      context_management: [],
      next_month: null,
    };
    const sent = Object.entries(ending).flatMap((member) => [
      JSON.stringify(Object.fromEntries([member])).slice(1, -1),
    ]);
    const [first = "", ...others] = sent;
    expect(nativeOf(`{${first}, ${WRITTEN} ,"include":["${ENCRYPTED}"],${others.join(",")},"input":"hi"}`)).toBe(
      `{${WRITTEN} ,"include":["${ENCRYPTED}"],"input":"hi"}`,
    );
  });

  it("shares a prompt cache with no other customer", () => {
    expect(parsedOf({ prompt_cache_key: "k".repeat(64) })).toMatchObject({
      prompt_cache_key: ownCacheKey("tag", "k".repeat(64)),
    });
    expect(parsedOf({ prompt_cache_key: "" })).not.toHaveProperty("prompt_cache_key");
  });

  it("asks for what thinking needs, and for nothing of it where the model does not think", () => {
    const asked = {
      reasoning: { effort: "low" },
      include: ["message.output_text.logprobs", "file_search_call.results"],
    };
    const [LOGPROBS] = asked.include;
    expect(parsedOf(asked)).toMatchObject({ reasoning: asked.reasoning, include: [LOGPROBS, ENCRYPTED] });
    const plain = parsedOf(asked, { canThink: false });
    expect(plain).toMatchObject({ include: [LOGPROBS] });
    expect(plain).not.toHaveProperty("reasoning");
    expect(parsedOf({ include: [ENCRYPTED] }, { canThink: false })).not.toHaveProperty("include");
  });

  it("means the same for every JSON", () => {
    const settings = fc.record(
      {
        instructions: fc.string(),
        temperature: fc.double({ min: 0, max: 2, noNaN: true }),
        parallel_tool_calls: fc.boolean(),
        text: fc.record({ format: fc.record({ type: fc.constant("text"), free: fc.jsonValue() }) }),
        truncation: fc.constantFrom("auto", "disabled"),
        tools: fc.constant([{ type: "function", name: "a", parameters: { Type: ["{", "\\"] } }]),
      },
      { requiredKeys: [] },
    );
    const hasProto = (value: unknown): boolean => JSON.stringify(value).includes("__proto__");
    fc.assert(
      fc.property(settings, fc.boolean(), (members, isSpaced) => {
        if (hasProto(members)) return;
        const body = JSON.parse(JSON.stringify({ model: "a", input: "hi", ...members })) as JsonObject;
        const written = { model: "gpt-1", max_output_tokens: 64, store: false, safety_identifier: "tag" };
        expect(JSON.parse(nativeOf(JSON.stringify(body, null, isSpaced ? 2 : 0)))).toEqual({
          ...body,
          ...written,
          include: [ENCRYPTED],
        });
      }),
    );
  });
});

/** The body of a client whose other members are as they are written. */
const around = (members: string): string => `{${WRITTEN},"include":["${ENCRYPTED}"],${members}}`;
const bodyOf = (...items: string[]): string => around(`"input":[${items.join(",")}]`);
const thought = (encrypted: string, more = ""): string =>
  `{${more}"type":"reasoning" ,"summary":[{"type":"summary_text","text":"]} \\u00e9"}],"content":null,"encrypted_content": "${encrypted}"}`;
const MINE = ' {"role":"user","content":"go [{ on"}';
const SAID = '{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}';
const callOf = (id: string, more = ""): string =>
  `{"type":"function_call",${more}"name":"look","arguments":"{}","call_id":"${id}"}`;
const resultOf = (id: string, more = ""): string =>
  `{${more}"type":"function_call_output","call_id":"${id}","output":[{"type":"input_text","text":"é"}]}`;

describe("the items", () => {
  it("have no ids: another server may have made them, and nothing is stored under them", () => {
    const id = '"id":"msg_1",';
    const sent = bodyOf(
      MINE,
      thought("openai.gAAA", id),
      callOf("call_1", id),
      ` {"id" : "fco_1" , "type":"function_call_output","output":"a","call_id":"call_1" , "internal_chat_message_metadata_passthrough":{"turn_id":"1"}}`,
    );
    expect(nativeOf(sent)).toBe(
      bodyOf(
        MINE,
        thought("gAAA"),
        callOf("call_1"),
        ' {"type":"function_call_output","output":"a","call_id":"call_1" }',
      ),
    );
  });

  it("have the reasoning that this upstream has made, and none of another or of an unknown one", () => {
    const sent = bodyOf(
      thought("other.gAAA"),
      ` ${thought("openai.gAAA.1-_=")} `,
      thought("claude.EqQB"),
      SAID,
      MINE,
      thought("gAAA"),
      '{"type":"reasoning","summary":[],"encrypted_content":null}',
      SAID,
    );
    expect(nativeOf(sent)).toBe(bodyOf(thought("gAAA.1-_="), SAID, MINE, SAID));
    expect(
      parsedOf({ input: JSON.parse(`[${MINE},${thought("openai.gAAA")},${SAID}]`) }, { origin: "other" }),
    ).toMatchObject({
      input: [{ role: "user" }, { type: "message", role: "assistant" }],
    });
  });

  it("have no reasoning without the output that followed it, as in an answer that was cut", () => {
    const own = thought("openai.gAAA");
    expect(nativeOf(bodyOf(MINE, own, own, MINE, own, callOf("c"), own, resultOf("c"), own))).toBe(
      bodyOf(MINE, MINE, thought("gAAA"), callOf("c"), resultOf("c")),
    );
    expect(parsedOf({ input: JSON.parse(`[${own}]`) })).toMatchObject({ input: [] });
  });

  it("have no reasoning for a model that does not think, though its upstream has made it", () => {
    const input = JSON.parse(`[${MINE},${thought("openai.gAAA")},${SAID}]`) as JsonObject[];
    expect(parsedOf({ input }, { canThink: false })).toMatchObject({
      input: [{ role: "user" }, { type: "message", role: "assistant" }],
    });
  });

  it("name calls as every provider takes them: ids of other protocols are longer", () => {
    const long = `call_1.saldo.google.${"x".repeat(90)}`;
    expect(nativeOf(bodyOf(callOf(long), resultOf(long)))).toBe(bodyOf(callOf("call_1"), resultOf("call_1")));
    const odd = "functions.look:0";
    const [call, result] = parsedOf({ input: JSON.parse(`[${callOf(odd)},${resultOf(odd)}]`) })[
      "input"
    ] as JsonObject[];
    expect(call?.["call_id"]).toMatch(/^call_[0-9a-f]{32}$/);
    expect(result?.["call_id"]).toBe(call?.["call_id"]);
  });

  it("have no search that a provider ran, and those of the client for its tools", () => {
    const search = (execution: string): string =>
      `{"type":"tool_search_call","call_id":"ts_1","execution":"${execution}","arguments":{"Query":"a"}}`;
    const found =
      '{"type":"tool_search_output","call_id":"ts_1","execution":"client","tools":[{"type":"function","name":"b"}]}';
    const web = '{"type":"web_search_call","status":"completed"}';
    const own = thought("openai.gAAA");
    const sent = bodyOf(web, MINE, own, web, search("client"), found, search("server"), web);
    expect(nativeOf(sent)).toBe(bodyOf(MINE.trimStart(), thought("gAAA"), search("client"), found));
  });
});

describe("the tools", () => {
  const LOOK = ' {"type":"function","name":"look","description":"] }","parameters":{"type":"object"}, "strict" : null}';
  const WEB = '{"type":"web_search","external_web_access":true}';
  const toolSearch = (execution: string): string => `{"type":"tool_search"${execution},"parameters":{}}`;

  it("are the client's without those that a provider runs, also where they lie in the input", () => {
    const own = toolSearch(',"execution":"client"');
    const toolsOf = (tools: string): string => around(`"tools":[${tools}],"input":"hi"`);
    expect(nativeOf(toolsOf(`${LOOK},${WEB} , ${own},${toolSearch("")}`))).toBe(toolsOf(`${LOOK} , ${own}`));
    const item = (tools: string): string => `{"type":"additional_tools","role":"developer","tools":[${tools}]}`;
    expect(nativeOf(bodyOf(item(`${WEB}, ${LOOK}`), MINE))).toBe(bodyOf(item(LOOK.trimStart()), MINE));
    expect(parsedOf({ tools: [{ type: "web_search" }] })).toMatchObject({ tools: [] });
  });
});

describe("a request that OpenAI would not take as it is", () => {
  it.each<[string, string]>([
    ["with a call without a result", bodyOf(MINE, callOf("a"))],
    ["with a call twice", bodyOf(callOf("a"), resultOf("a"), callOf("b"), callOf("b"), resultOf("b"))],
    [
      "with a result of another kind",
      bodyOf(callOf("a"), '{"type":"custom_tool_call_output","call_id":"a","output":"x"}'),
    ],
    [
      "with an answer in the form of a prompt",
      bodyOf('{"role":"assistant","content":[{"type":"input_text","text":"x"}]}', MINE),
    ],
    [
      "with the cache mark of another protocol",
      bodyOf('{"role":"user","content":[{"type":"input_text","text":"x","cache_control":{"type":"ephemeral"}}]}'),
    ],
  ])("is written from its conversation: %s", (_name, body) => {
    expect(requestOf(body)).toBeNull();
  });
});

describe("what it asks for", () => {
  it.each<[string, JsonObject, object]>([
    ["nothing", {}, { cacheWrites: "none", cacheField: "", isSealed: false, thoughtBudget: 0 }],
    [
      "a cache for minutes",
      {
        input: [
          { role: "user", content: [{ type: "input_text", text: "a", prompt_cache_breakpoint: { mode: "explicit" } }] },
        ],
      },
      { cacheWrites: "short", cacheField: "input[0].content[0].prompt_cache_breakpoint" },
    ],
    [
      "a cache for a day",
      { prompt_cache_retention: "24h" },
      { cacheWrites: "short", cacheField: "prompt_cache_retention" },
    ],
    [
      "what its answer repeats",
      { max_output_tokens: 90, metadata: { a: "b" }, prompt_cache_key: "k" },
      { repeated: { max_output_tokens: 90, metadata: { a: "b" }, prompt_cache_key: "k" } },
    ],
  ])("is %s", (_name, members, expected) => {
    expect(requestOf(JSON.stringify({ model: "a", input: "hi", ...members }))).toMatchObject(expected);
  });
});
