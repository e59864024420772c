// What is held for requests that reach upstreams of other protocols than chat.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costOf, inputTokensOf } from "../../billing/cost.ts";
import type { CatalogModel, UpstreamKind } from "../../catalog/catalog-model.ts";
import type { OtherPrices } from "../../kernel/token-prices.ts";
import { writeChatRequest } from "../conversation/chat/write-chat-request.ts";
import type { ClientRequest } from "../conversation/client-request.ts";
import { countConversation } from "../conversation/count-conversation.ts";
import { claudeCounts } from "../conversation/messages/claude-counts.ts";
import { messagesProtocol } from "../conversation/messages/messages-protocol.ts";
import { responsesProtocol } from "../conversation/responses/responses-protocol.ts";
import { type ChatRequest, readRequest } from "../request/read-request.ts";
import type { OpenRoute } from "../upstreams/upstreams.ts";
import { planHold, SLAB_TOKENS } from "./hold.ts";
import { holdAdditions } from "./hold-additions.ts";

const MODEL: CatalogModel = {
  id: "acme/m",
  name: "M",
  description: "",
  badge: null,
  inputModalities: ["text"],
  contextLength: 1_000_000,
  maxOutputTokens: 64_000,
  mediaTokens: { image: 4_096, audio: 16_384, video: 65_536 },
  kind: "chat",
  hiddenOutput: false,
  inputPrice: 5_000_000n,
  outputPrice: 25_000_000n,
  cacheHitPrice: 500_000n,
  otherPrices: { cacheWrite: 6_250_000n, cacheWrite1h: 10_000_000n },
  routes: [],
  createdAt: new Date(0),
};

const routesTo = (...kinds: UpstreamKind[]): OpenRoute[] =>
  kinds.map((kind) => ({ upstream: { id: kind, kind } as never, model: "m", timeouts: undefined as never }));

const BODY = { model: "acme/m", max_tokens: 32_000, stream: true, messages: [{ role: "user", content: "hi" }] };

function read(more: object): { readonly request: ChatRequest; readonly client: ClientRequest } {
  const body = Buffer.from(JSON.stringify({ ...BODY, ...more }));
  const { conversation, native = null } = messagesProtocol.read(body);
  const request = readRequest(writeChatRequest(conversation));
  return { request, client: { protocol: "messages", body, conversation, native } };
}

const planOf = (more: object, kinds: UpstreamKind[], model = MODEL) => {
  const { request, client } = read(more);
  return planHold(request, model, holdAdditions(request, client, routesTo(...kinds)));
};

const TOOL = { name: "look", input_schema: { type: "object" } };
const EFFORT = { output_config: { effort: "high" } };

describe("the hold", () => {
  it("has the provider's own prompt where there are tools", () => {
    const [plain, own] = [planOf({ tools: [TOOL] }, ["demo"]), planOf({ tools: [TOOL] }, ["demo", "anthropic"])];
    expect(own.inputTokens - plain.inputTokens).toBeGreaterThanOrEqual(1_024);
    expect(own.inputBound - plain.inputBound).toBeGreaterThanOrEqual(1_024);
    expect(planOf({}, ["anthropic"]).inputTokens - planOf({}, ["demo"]).inputTokens).toBeLessThan(100);
    const turns = [
      ...BODY.messages,
      { role: "assistant", content: [{ type: "tool_use", id: "a", name: "look", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "x" }] },
    ];
    const [called, calledThere] = [planOf({ messages: turns }, ["demo"]), planOf({ messages: turns }, ["anthropic"])];
    expect(calledThere.inputBound - called.inputBound).toBeGreaterThanOrEqual(1_024);
  });

  it.each<[string, object, UpstreamKind[], number]>([
    ["a slab where all output is seen", {}, ["anthropic"], SLAB_TOKENS],
    ["the whole bound where the model thinks", { thinking: { type: "adaptive" } }, ["anthropic"], 32_000],
    ["the whole bound where it thinks with an effort", EFFORT, ["anthropic"], 32_000],
    ["a slab where it must not think", { thinking: { type: "disabled" } }, ["anthropic"], SLAB_TOKENS],
    ["a slab where a chat upstream answers, whatever is asked for", EFFORT, ["openai-compatible"], SLAB_TOKENS],
    ["the whole bound where any of its routes may think unseen", {}, ["openai-compatible", "openai-responses"], 32_000],
  ])("is %s", (_name, more, kinds, tokens) => {
    expect(planOf(more, kinds).heldOutput).toBe(tokens);
  });

  it("has the price of an hour where the client's bytes ask for it, and only at upstreams that get them", () => {
    const marked = (ttl: string) => ({
      system: [{ type: "text", text: "a".repeat(9_000), cache_control: { type: "ephemeral", ttl } }],
    });
    const perToken = (more: object, kinds: UpstreamKind[]): number => {
      const plan = planOf({ ...more, max_tokens: 1 }, kinds);
      return Number(plan.amount - 25n) / plan.inputTokens;
    };
    expect(perToken(marked("1h"), ["anthropic"])).toBeCloseTo(10, 2);
    expect(perToken(marked("5m"), ["anthropic"])).toBeCloseTo(6.25, 2);
    expect(perToken(marked("1h"), ["openai-compatible"])).toBeCloseTo(6.25, 2);
  });

  it("has a token for each byte of what only a server of Responses reads", () => {
    const tools = [{ type: "function", name: "a", output_schema: { enum: ["0123456789".repeat(400)] } }];
    const body = Buffer.from(JSON.stringify({ model: "acme/m", input: "hi", max_output_tokens: 9, tools }));
    const { conversation, native = null } = responsesProtocol.read(body);
    const request = readRequest(writeChatRequest(conversation));
    const client: ClientRequest = { protocol: "responses", body, conversation, native };
    const tokensAt = (kind: UpstreamKind): number =>
      planHold(request, MODEL, holdAdditions(request, client, routesTo(kind))).inputTokens;
    expect(tokensAt("openai-responses") - tokensAt("demo")).toBeGreaterThanOrEqual(4_000);
    expect(tokensAt("anthropic") - tokensAt("demo")).toBeLessThan(4_000);
  });

  it("has a token for each byte of the examples of a tool, which only its own upstream reads", () => {
    const tools = [{ ...TOOL, input_examples: [{ a: "0123456789".repeat(400) }] }];
    expect(planOf({ tools }, ["anthropic"]).inputTokens - planOf({ tools }, ["demo"]).inputTokens).toBeGreaterThan(
      5_024,
    );
  });

  it("has the thoughts that only its own upstream reads", () => {
    const thought = { type: "thinking", thinking: "", signature: "A".repeat(8_000) };
    const messages = [...BODY.messages, { role: "assistant", content: [thought, { type: "text", text: "b" }] }];
    const go = { messages: [...messages, { role: "user", content: "go" }] };
    expect(planOf(go, ["anthropic"]).inputTokens - planOf(go, ["demo"]).inputTokens).toBeGreaterThan(3_900);
  });
});

const word = fc.constantFrom("money ", "sebelum ", "42 ", "=> ", "{} ", "é ", "\u65e5\u672c ", "\u{1F642} ");
const text = fc.array(word, { minLength: 1, maxLength: 60 }).map((words) => words.join(""));
const mark = fc.constantFrom(
  {},
  { cache_control: { type: "ephemeral" } },
  { cache_control: { type: "ephemeral", ttl: "1h" } },
);
const requests = fc.record(
  {
    system: fc.array(
      fc.tuple(text, mark).map(([said, marked]) => ({ type: "text", text: said, ...marked })),
      { minLength: 1, maxLength: 3 },
    ),
    tools: fc.array(
      text.map((description) => ({ ...TOOL, description })),
      { minLength: 1, maxLength: 1 },
    ),
    messages: text.map((content) => [{ role: "user", content }]),
    thinking: fc.constantFrom({ type: "adaptive" }, { type: "disabled" }, { type: "enabled", budget_tokens: 2_000 }),
    stream: fc.boolean(),
    max_tokens: fc.integer({ min: 1, max: 100_000 }),
  },
  { requiredKeys: ["messages", "max_tokens"] },
);
const kindLists = fc.uniqueArray(
  fc.constantFrom<UpstreamKind>("demo", "openai-compatible", "anthropic", "openai-responses"),
  { minLength: 1, maxLength: 3 },
);
const price = fc.bigInt({ min: 0n, max: 10n ** 12n });
const models = fc
  .record({
    inputPrice: price,
    outputPrice: price,
    cacheHitPrice: fc.option(price),
    otherPrices: fc.option(fc.record<OtherPrices>({ cacheWrite: price, cacheWrite1h: price }, { requiredKeys: [] })),
  })
  .map((prices): CatalogModel => ({ ...MODEL, ...prices }));
const share = fc.double({ min: 0, max: 1, noNaN: true });

describe("every charge within its bounds", () => {
  it("is held for, however the input was cached", () => {
    fc.assert(
      fc.property(
        requests,
        kindLists,
        models,
        fc.array(share, { minLength: 5, maxLength: 5 }),
        (more, kinds, model, shares) => {
          const plan = planOf(more, kinds, model);
          const [whole = 0, cached = 0, written = 0, long = 0, output = 0] = shares;
          const input = Math.floor(plan.inputTokens * whole);
          const inputTokensCached = Math.floor(input * cached);
          const writes = Math.floor((input - inputTokensCached) * written);
          // What nothing asks for is written by no provider.
          const asksForLong = kinds.includes("anthropic") && JSON.stringify(more).includes('"1h"');
          const cacheWrite1h = asksForLong ? Math.floor(writes * long) : 0;
          const counts = {
            inputTokensUncached: input - inputTokensCached - writes,
            inputTokensCached,
            outputTokens: Math.floor(plan.heldOutput * output),
            otherTokens: { cacheWrite: writes - cacheWrite1h, cacheWrite1h },
          };
          expect(inputTokensOf(counts)).toBe(input);
          expect(costOf(counts, plan.prices)).toBeLessThanOrEqual(plan.amount);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("has no more input than our own count and the most that a provider is known to add", async () => {
    await fc.assert(
      fc.asyncProperty(requests, async (more) => {
        const { client } = read(more);
        const added = "tools" in more ? 804 : 0;
        const { rules } = claudeCounts("claude-opus-4-7");
        const tokens = (await countConversation(client.conversation, rules)) + added;
        expect(tokens).toBeLessThanOrEqual(planOf(more, ["anthropic"]).inputTokens);
      }),
      { numRuns: 300 },
    );
  });
});
