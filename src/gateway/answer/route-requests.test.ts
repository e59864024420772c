import { describe, expect, it } from "vitest";
import type { CatalogModel, UpstreamKind } from "../../catalog/catalog-model.ts";
import { customerTag } from "../request/customer-tag.ts";
import { readRequest } from "../request/read-request.ts";
import type { OpenRoute } from "../upstreams/upstreams.ts";
import { RouteRequests } from "./route-requests.ts";

const KEY = { keyId: "key", accountId: "account", rateLimit: 60 };
const MODEL = { id: "acme/m", maxOutputTokens: 100, contextLength: 1_000, hiddenOutput: true } as CatalogModel;
const BODY = { model: "acme/m", messages: [{ role: "user", content: "hi" }], prompt_cache_key: "conversation" };

const routeTo = (kind: UpstreamKind): OpenRoute => ({
  upstream: { id: "there", kind, outputCapField: "max_tokens" } as never,
  model: "m",
  timeouts: undefined as never,
});

function requestsFor(more: object = {}): RouteRequests {
  const body = Buffer.from(JSON.stringify({ ...BODY, ...more }));
  return new RouteRequests({ requestId: "r", receivedAtMs: 0, key: KEY, body }, readRequest(body), MODEL);
}

const bodyFor = (kind: UpstreamKind, more: object = {}) =>
  JSON.parse(requestsFor(more).for(routeTo(kind), 64).body.toString("utf8")) as object;

describe("a chat request", () => {
  it.each<[UpstreamKind, object]>([
    ["openai-compatible", { model: "m", max_tokens: 64, messages: BODY.messages }],
    ["anthropic", { model: "m", max_tokens: 64, messages: [{ role: "user", content: [{ text: "hi" }] }] }],
    ["openai-responses", { model: "m", max_output_tokens: 64, store: false, input: [{ role: "user" }] }],
    ["gemini", { generationConfig: { maxOutputTokens: 64 }, contents: [{ role: "user", parts: [{ text: "hi" }] }] }],
  ])("has the words of %s, and the bound that is held", (kind, expected) => {
    expect(bodyFor(kind)).toMatchObject(expected);
  });

  it("names its customer by a tag, and shares no prompt cache with another customer", () => {
    const tag = customerTag(KEY.accountId);
    expect(bodyFor("openai-responses")).toMatchObject({
      safety_identifier: tag,
      prompt_cache_key: `${tag}.conversation`,
    });
    expect(bodyFor("openai-compatible")).toMatchObject({ prompt_cache_key: `${tag}.conversation` });
    expect(bodyFor("anthropic")).toMatchObject({ metadata: { user_id: tag } });
    expect(customerTag("another account")).not.toBe(tag);
  });

  it("is written once for its check and its call, unless their bounds differ", () => {
    const requests = requestsFor({ max_tokens: 64 });
    const route = routeTo("anthropic");
    expect(requests.refusalBy(route)).toBeNull();
    const { body } = requests.for(route, 64);
    expect(requests.for(route, 64).body).toBe(body);
    expect(requests.for(route, 32).body.toString("utf8")).toContain('"max_tokens":32');
  });

  it.each<[UpstreamKind, object, string]>([
    ["openai-responses", { stop: ["a"] }, "stop"],
    ["anthropic", { n: 2 }, "n"],
    ["gemini", { stop: ["a", "b", "c", "d"], logprobs: true }, "logprobs"],
  ])("is refused by its field where %s has no form for it", (kind, more, field) => {
    expect(requestsFor(more).refusalBy(routeTo(kind))?.details).toMatchObject([{ field }]);
    expect(requestsFor(more).refusalBy(routeTo("openai-compatible"))).toBeNull();
  });
});
