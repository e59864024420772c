// Whatever a client of any protocol asks for, and whatever an upstream of any kind reports within the bounds of that request: the charge is
// within the hold. The reports are read and metered as those of real answers are.

import fc from "fast-check";
import { expect, it } from "vitest";
import { costOf } from "../../billing/cost.ts";
import type { CatalogModel, UpstreamKind } from "../../catalog/catalog-model.ts";
import type { OtherPrices } from "../../kernel/token-prices.ts";
import { writeChatRequest } from "../conversation/chat/write-chat-request.ts";
import { readChatConversation } from "../conversation/chat/read-chat-conversation.ts";
import type { ClientRequest } from "../conversation/client-request.ts";
import { countConversation } from "../conversation/count-conversation.ts";
import { geminiProtocol } from "../conversation/gemini/gemini-protocol.ts";
import { claudeCounts } from "../conversation/messages/claude-counts.ts";
import { messagesProtocol } from "../conversation/messages/messages-protocol.ts";
import type { ClientProtocol } from "../conversation/protocol.ts";
import { responsesProtocol } from "../conversation/responses/responses-protocol.ts";
import { formatOf } from "../formats/formats.ts";
import { meter } from "../metering/meter.ts";
import { NOTHING_RELAYED } from "../metering/relayed-answer.ts";
import type { JsonObject } from "../request/field-rules.ts";
import { type ChatRequest, readRequest } from "../request/read-request.ts";
import type { OpenRoute } from "../upstreams/upstreams.ts";
import { type HoldPlan, planHold, usageBounds } from "./hold.ts";
import { holdAdditions } from "./hold-additions.ts";

const KINDS: readonly UpstreamKind[] = ["openai-compatible", "anthropic", "openai-responses", "gemini"];
const SCHEMA = { type: "object" };
const MARK = { cache_control: { type: "ephemeral" } };
const MARK_1H = { cache_control: { type: "ephemeral", ttl: "1h" } };

type Asked = {
  readonly text: string;
  readonly hasTools: boolean;
  readonly thinks: boolean;
  readonly mark: object;
  readonly cap: number;
  readonly stream: boolean;
};
type Client = {
  readonly bodyOf: (asked: Asked) => JsonObject;
  /** Null: chat. */
  readonly protocolOf: ((asked: Asked) => ClientProtocol) | null;
};

const CLIENTS: readonly Client[] = [
  {
    protocolOf: null,
    bodyOf: ({ text, hasTools, thinks, mark, cap, stream }) => ({
      model: "acme/m",
      max_tokens: cap,
      messages: [{ role: "user", content: [{ type: "text", text, ...mark }] }],
      ...(hasTools ? { tools: [{ type: "function", function: { name: "look", parameters: SCHEMA } }] } : {}),
      ...(thinks ? { reasoning_effort: "high" } : {}),
      stream,
    }),
  },
  {
    protocolOf: () => messagesProtocol,
    bodyOf: ({ text, hasTools, thinks, mark, cap, stream }) => ({
      model: "acme/m",
      max_tokens: cap,
      messages: [{ role: "user", content: [{ type: "text", text, ...mark }] }],
      ...(hasTools ? { tools: [{ name: "look", input_schema: SCHEMA }] } : {}),
      ...(thinks ? { thinking: { type: "enabled", budget_tokens: 1_024 } } : {}),
      stream,
    }),
  },
  {
    protocolOf: () => responsesProtocol,
    bodyOf: ({ text, hasTools, thinks, cap, stream }) => ({
      model: "acme/m",
      max_output_tokens: cap,
      input: text,
      ...(hasTools ? { tools: [{ type: "function", name: "look", parameters: SCHEMA }] } : {}),
      ...(thinks ? { reasoning: { effort: "high" } } : {}),
      stream,
    }),
  },
  {
    protocolOf: ({ stream }) => geminiProtocol({ model: "acme/m", stream }),
    bodyOf: ({ text, hasTools, thinks, cap }) => ({
      contents: [{ role: "user", parts: [{ text }] }],
      ...(hasTools ? { tools: [{ functionDeclarations: [{ name: "look", parametersJsonSchema: SCHEMA }] }] } : {}),
      generationConfig: { maxOutputTokens: cap, ...(thinks ? { thinkingConfig: { thinkingLevel: "HIGH" } } : {}) },
    }),
  },
];

function read({ protocolOf, bodyOf }: Client, asked: Asked): { request: ChatRequest; client: ClientRequest | null } {
  const body = Buffer.from(JSON.stringify(bodyOf(asked)));
  if (protocolOf === null) return { request: readRequest(body), client: null };
  const protocol = protocolOf(asked);
  const { conversation, native = null } = protocol.read(body);
  const request = readRequest(writeChatRequest(conversation));
  return { request, client: { protocol: protocol.name, body, conversation, native } };
}

/** Shares of the tokens that are within bounds. */
type Shares = Readonly<Record<"input" | "cached" | "written" | "long" | "results" | "output" | "thought", number>>;

/** Whether an upstream may charge for thoughts that it does not show. Else the relayed text shows what more has to be held. */
function mayHide(kind: UpstreamKind, { thinks }: Asked): boolean {
  return kind === "openai-responses" || kind === "gemini" || (kind === "anthropic" && thinks);
}

type Tokens = Readonly<Record<"input" | "cached" | "written" | "long" | "results" | "output" | "thought", number>>;

function tokensOf(kind: UpstreamKind, { plan, shares, what }: { plan: HoldPlan; shares: Shares; what: Asked }): Tokens {
  const input = Math.floor(plan.inputTokens * shares.input);
  const output = Math.floor((mayHide(kind, what) ? plan.outputBound : plan.heldOutput) * shares.output);
  const cached = Math.floor(input * shares.cached);
  const written = Math.floor((input - cached) * shares.written);
  const long = Math.floor(written * shares.long);
  const thought = Math.floor(output * shares.thought);
  const results = Math.floor((input - cached) * shares.results);
  return { input, cached, written, long, results, output, thought };
}

const chatUsage = ({ input, cached, written, output, thought }: Tokens): JsonObject => ({
  prompt_tokens: input,
  prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
  completion_tokens: output,
  completion_tokens_details: { reasoning_tokens: thought },
  total_tokens: input + output,
});

/** The usage objects of the kinds of upstreams. */
const USAGES: Readonly<Record<UpstreamKind, (tokens: Tokens) => JsonObject>> = {
  demo: chatUsage,
  "openai-compatible": chatUsage,
  anthropic: ({ input, cached, written, long, output, thought }) => ({
    input_tokens: input - cached - written,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
    cache_creation: { ephemeral_5m_input_tokens: written - long, ephemeral_1h_input_tokens: long },
    output_tokens: output,
    output_tokens_details: { thinking_tokens: thought },
  }),
  "openai-responses": ({ input, cached, written, long, output, thought }) => ({
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: written,
      cache_write_tokens_details: { ttl_12h_tokens: long },
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: thought },
    total_tokens: input + output,
  }),
  gemini: ({ input, cached, results, output, thought }) => ({
    promptTokenCount: input - results,
    cachedContentTokenCount: cached,
    toolUsePromptTokenCount: results,
    candidatesTokenCount: output - thought,
    thoughtsTokenCount: thought,
    totalTokenCount: input + output,
  }),
};

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
  inputPrice: 0n,
  outputPrice: 0n,
  cacheHitPrice: null,
  routes: [],
  createdAt: new Date(0),
};
const price = fc.bigInt({ min: 0n, max: 10n ** 12n });
const tier = fc.record({ above: fc.integer({ min: 1, max: 5_000 }), input: price, output: price });
const models = fc
  .record({
    inputPrice: price,
    outputPrice: price,
    cacheHitPrice: fc.option(price),
    hiddenOutput: fc.boolean(),
    otherPrices: fc.option(
      fc.record<OtherPrices>(
        { cacheWrite: price, cacheWrite1h: price, perRequest: price, longContext: tier.map((each) => [each]) as never },
        { requiredKeys: [] },
      ),
    ),
  })
  .map((prices): CatalogModel => ({ ...MODEL, ...prices }));
const asked: fc.Arbitrary<Asked> = fc.record({
  text: fc.string({ unit: fc.constantFrom("a", "word ", "é", "\u65e5", "\u{1F642}"), minLength: 1, maxLength: 300 }),
  hasTools: fc.boolean(),
  thinks: fc.boolean(),
  mark: fc.constantFrom({}, MARK, MARK_1H),
  cap: fc.integer({ min: 2_000, max: 100_000 }),
  stream: fc.boolean(),
});
// The dearest reports have the most of everything.
const share = fc.oneof(
  { weight: 3, arbitrary: fc.constant(1) },
  { weight: 1, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
);
const shares = fc.record({
  input: share,
  cached: share,
  written: share,
  long: share,
  results: share,
  output: share,
  thought: share,
});

const routesTo = (kinds: readonly UpstreamKind[]): OpenRoute[] =>
  kinds.map((kind) => ({ upstream: { id: kind, kind } as never, model: "m", timeouts: undefined as never }));
const someKinds = fc.uniqueArray(fc.constantFrom(...KINDS), { minLength: 1 });

/** The most that a provider is known to put before a prompt with tools. */
const MOST_ADDED: Readonly<Partial<Record<UpstreamKind, number>>> = { anthropic: 804 };

it("an input has no more tokens than its hold, by our own count and what providers are known to add", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...CLIENTS), asked, someKinds, async (from, what, kinds) => {
      const { request, client } = read(from, what);
      const { inputTokens } = planHold(request, MODEL, holdAdditions(request, client, routesTo(kinds)));
      const conversation = client?.conversation ?? readChatConversation(request).conversation;
      const tokens = await countConversation(conversation, claudeCounts("claude-opus-4-7").rules);
      for (const kind of kinds) {
        expect(tokens + (what.hasTools ? (MOST_ADDED[kind] ?? 0) : 0)).toBeLessThanOrEqual(inputTokens);
      }
    }),
    { numRuns: 200 },
  );
});

it("a charge is within its hold, whatever the client speaks and whichever upstream reports it", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...CLIENTS),
      asked,
      someKinds,
      models,
      shares,
      async (from, what, kinds, model, reported) => {
        const { request, client } = read(from, what);
        const plan = planHold(request, model, holdAdditions(request, client, routesTo(kinds)));
        for (const kind of kinds) {
          const usage = USAGES[kind](tokensOf(kind, { plan, shares: reported, what }));
          const { counts } = await meter(
            { usage, isStale: false, reader: formatOf(kind) },
            {
              bounds: usageBounds(plan, null),
              relayed: NOTHING_RELAYED,
              isComplete: true,
              estimateInput: async () => plan.inputTokens,
              assumeCached: () => 0,
            },
          );
          expect(costOf(counts, plan.prices)).toBeLessThanOrEqual(plan.amount);
        }
      },
    ),
    { numRuns: 1_000 },
  );
});
