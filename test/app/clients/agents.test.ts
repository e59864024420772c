import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownCacheKey } from "../../../src/gateway/conversation/cache-key.ts";
import { customerTag } from "../../../src/gateway/request/customer-tag.ts";
import { ordinaryEvents, completion, json, stream, wire } from "../../gateway/scripted-upstream.ts";
import { agentRequests } from "./agent-requests.ts";
import { type Customer, type ServedSaldo, serveSaldo } from "./served-saldo.ts";

/** The most tokens that the model writes. */
const MAX_OUTPUT_TOKENS = 16_384;

let served: ServedSaldo;
let customer: Customer;

beforeAll(async () => {
  served = await serveSaldo({ models: { coder: { price: { input: "5000", output: "15000", cache_hit: "950" } } } });
  customer = await served.customer({ rateLimit: 0 });
});
afterAll(() => served.stop());

describe("the service accepts the requests of", () => {
  test.each(Object.entries(agentRequests))("%s", async (_agent, requests) => {
    for (const request of requests) {
      const streamed = request["stream"] === true;
      served.upstream.run(streamed ? stream(wire(ordinaryEvents())) : json(completion()));
      const response = await served.chat(customer.key, { model: "local/coder", ...request });
      const body = await response.text();
      expect({ status: response.status, body }).toMatchObject({
        status: 200,
        body: expect.stringContaining(streamed ? "data: [DONE]" : "Halo!"),
      });
      // The upstream gets what the agent sent, under its own name for the model, with the bound in the field that it reads,
      // a prompt cache of the customer's own, no person's name and nothing that it would keep.
      const [received] = served.upstream.received;
      const { max_tokens, max_completion_tokens, ...others } = request;
      const bound = Math.min(Number(max_tokens ?? max_completion_tokens ?? Infinity), MAX_OUTPUT_TOKENS);
      const cache = request["prompt_cache_key"];
      const tag = customerTag(customer.accountId);
      const key = typeof cache === "string" ? ownCacheKey(tag, cache) : undefined;
      const ofCache = key === undefined ? {} : { prompt_cache_key: key };
      const changed = Object.entries({ user: tag, metadata: null }).filter(([name]) => request[name] !== undefined);
      const sent = { ...others, ...ofCache, ...Object.fromEntries(changed), model: "coder-2026", max_tokens: bound };
      expect(JSON.parse(received?.body.toString("utf8") ?? "")).toEqual(sent);
    }
  });

  test("an agent that lists the models first, with a query string", async () => {
    const response = await fetch(`${served.baseUrl}/models?limit=1000&beta=true`, {
      headers: { authorization: `Bearer ${customer.key}`, "x-stainless-retry-count": "0" },
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ object: "list" });
  });
});

test("every request was billed, and no hold is left", async () => {
  const sent = Object.values(agentRequests).flat().length;
  const records = await served.usage(customer.accountId);
  expect(records).toHaveLength(sent);
  expect(records.every(({ basis, charge }) => basis === "exact" && Number(charge) > 0)).toBe(true);
  expect(await served.balance(customer.accountId)).toMatchObject({ held: "0" });
});
