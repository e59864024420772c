// What an upstream of the same protocol gets of a Messages request.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readStrictObject } from "../../request/read-json.ts";
import type { Conversation } from "../conversation.ts";
import type { NativeFacts } from "../native-request.ts";
import { nativeMessages } from "./native-messages.ts";

const FACTS: NativeFacts = {
  origin: "claude",
  model: "opus-1",
  outputBound: 64,
  userTag: "tag",
  takesServiceTier: false,
  knowsSafeguards: true,
  headers: {},
  contextLength: 200_000,
  canThink: true,
  accepts: null,
};
/** Most bodies here are no whole requests, and no conversation is read of them. */
const UNREAD = { effort: null, toolChoice: null } as Conversation;
const requestOf = (body: Buffer, conversation = UNREAD) => nativeMessages(readStrictObject(body), body, conversation);
const callOf = (body: Buffer, facts = FACTS) => requestOf(body).write(facts);
const nativeOf = (json: string): string => callOf(Buffer.from(json)).body.toString("utf8");

describe("the body", () => {
  it("is the client's byte for byte, but for the model, the bound, the tier and the tag", () => {
    const rest = `"system" : [{"type":"text","text":"\\u00e9\\/ é","cache_control":{"type":"ephemeral","ttl":"1h"}}],
      "context_management":{"edits":[{"type":"clear_thinking_20251015"}]},"top_p":1.0e0, "next_month" : [1e2 , 12345678901234567890]`;
    const messages = `"messages":[ {"role":"user","content":"a \\"model\\" of max_tokens"} ,
      {"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"EqQB+/=="},{"type":"text","text":"b"}]}]`;
    const bodyOf = (model: string, bound: number, tier: string, user: string): string =>
      `{ "m\\u006fdel":"${model}" ,"max_tokens":${bound},${rest},"service_tier" :"${tier}" ,${messages},"metadata":${user}}`;
    const own = bodyOf("acme/opus", 100_000, "auto", '{"user_id":"{\\"device_id\\":\\"d\\"}"}');
    expect(nativeOf(own)).toBe(bodyOf("opus-1", 64, "standard_only", '{"user_id":"tag"}'));
  });

  it("names the customer where the client names no user", () => {
    expect(nativeOf('{"model":"a","max_tokens":1}')).toBe(
      '{"metadata":{"user_id":"tag"},"model":"opus-1","max_tokens":64}',
    );
  });

  it("has safeguards only at Anthropic itself: they have paths of the user's machine", () => {
    const rest = '"model":"opus-1","max_tokens":64,"metadata":{"user_id":"tag"}';
    const own = `{${rest},"safeguards":[{"path":"a.txt"}], "top_p":1}`;
    expect(nativeOf(own)).toBe(own);
    const elsewhere = { ...FACTS, knowsSafeguards: false };
    expect(callOf(Buffer.from(own), elsewhere).body.toString("utf8")).toBe(`{${rest}, "top_p":1}`);
  });

  it("names the standard tier where the upstream knows tiers and the client names none, and keeps all other bytes", () => {
    const facts = { ...FACTS, takesServiceTier: true };
    const sent = (json: string): string => callOf(Buffer.from(json), facts).body.toString("utf8");
    const rest = '"model":"opus-1","max_tokens":64, "next_month" : [1e2]}';
    expect(sent(`{${rest}`)).toBe(`{"service_tier":"standard_only","metadata":{"user_id":"tag"},${rest}`);
    expect(sent(`{"service_tier" :null,"metadata":{"user_id":"tag"},${rest}`)).toBe(
      `{"service_tier" :"standard_only","metadata":{"user_id":"tag"},${rest}`,
    );
  });

  it("means the same for every JSON", () => {
    const member = fc.tuple(
      fc.string({ minLength: 1 }).filter((name) => !NAMES.has(name) && name !== "__proto__"),
      fc.jsonValue().filter((value) => !JSON.stringify(value).includes("__proto__")),
    );
    fc.assert(
      fc.property(fc.array(member, { maxLength: 5 }), fc.boolean(), (members, isSpaced) => {
        const body = { model: "a", ...Object.fromEntries(members), max_tokens: 5, messages: [] };
        const sent = { ...body, model: "opus-1", max_tokens: 64, metadata: { user_id: "tag" } };
        expect(JSON.parse(nativeOf(JSON.stringify(body, null, isSpaced ? 2 : 0)))).toEqual(
          JSON.parse(JSON.stringify(sent)),
        );
      }),
    );
  });

  it("has no thoughts of upstreams of other protocols, and all others as they are", () => {
    const thought = (signature: string): string =>
      `{"type": "thinking","thinking":"é\\u00e9 ]}","signature":"${signature}"}`;
    const mine = '{"role":"assistant","content":[ {"type":"text","text":"[{"} ]}';
    const bodyOf = (...messages: string[]): string =>
      `{"model":"opus-1","max_tokens":64,"metadata":{"user_id":"tag"},"messages":[${messages.join(",")}]}`;
    const own = bodyOf(
      '{"role":"user","content":"hi"}',
      `{"content":[ ${thought("openai.gAAAA")}, ${thought("EqQB+/==")} , {"type":"text","text":"saldo.unsigned"}],"role":"assistant"}`,
      '{"role":"user","content":[{"type":"text","text":"go on"}]}',
      `{"role":"assistant","content":[${thought("saldo.unsigned")}]}`,
      mine,
    );
    expect(nativeOf(own)).toBe(
      bodyOf(
        '{"role":"user","content":"hi"}',
        `{"content":[${thought("EqQB+/==")},{"type":"text","text":"saldo.unsigned"}],"role":"assistant"}`,
        '{"role":"user","content":[{"type":"text","text":"go on"}]}',
        mine,
      ),
    );
  });
});

const NAMES: ReadonlySet<string> = new Set(["model", "max_tokens", "service_tier", "metadata", "messages"]);

describe("what it asks for", () => {
  it.each<[string, object, object]>([
    ["nothing", {}, { thinks: false, cacheWrites: "none", cacheField: "" }],
    ["thinking", { thinking: { type: "adaptive", display: "omitted" } }, { thinks: true }],
    ["no thinking", { thinking: { type: "disabled" } }, { thinks: false }],
    [
      "a cache for minutes",
      { cache_control: { type: "ephemeral" } },
      { cacheWrites: "short", cacheField: "cache_control" },
    ],
    [
      "a cache for an hour in a result",
      { messages: [{ content: [{ type: "tool_result", content: [{ cache_control: { ttl: "1h" } }] }] }] },
      { cacheWrites: "long", cacheField: "messages[0].content[0].content[0].cache_control" },
    ],
    ["a cache for its tools", { tools: [{ cache_control: {} }] }, { cacheWrites: "short" }],
  ])("is %s", (_name, body, expected) => {
    expect(requestOf(Buffer.from(JSON.stringify(body)))).toMatchObject(expected);
  });
});

describe("the headers", () => {
  const headersOf = (headers: Record<string, string>, contextLength = 200_000) =>
    callOf(Buffer.from("{}"), { ...FACTS, headers, contextLength }).headers;

  it("are the version, and the betas that change no price and open nothing that is refused", () => {
    const beta = "claude-code-20250219, files-api-2025-04-14,fast-mode-2026-01-01,effort-2025-11-24";
    expect(headersOf({ "anthropic-version": "2026-10-21", "anthropic-beta": beta })).toEqual([
      "anthropic-version",
      "2026-10-21",
      "anthropic-beta",
      "claude-code-20250219,effort-2025-11-24",
    ]);
  });

  it("ask for a long context where the catalog sells one", () => {
    const beta = { "anthropic-beta": "context-1m-2025-08-07" };
    expect(headersOf(beta)).toEqual([]);
    expect(headersOf(beta, 1_000_000)).toEqual(["anthropic-beta", "context-1m-2025-08-07"]);
  });

  it.each([
    {},
    { "anthropic-version": "x\r\ny: z", "anthropic-beta": "a b" },
    { "anthropic-beta": "mcp-client-2025-04-04" },
    { "anthropic-beta": "advisor-tool-2026-03-01,managed-agents-2026-04-01,oauth-2025-04-20" },
  ])("are none for %j", (headers) => {
    expect(headersOf(headers)).toEqual([]);
  });
});
