// GET /v1/models as each client reads it: the libraries of OpenAI and of Anthropic, Claude Code's discovery, and Codex. Which models
// answer what is asked of them.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Catalog } from "../../../src/catalog/catalog.ts";
import { createGatewayService } from "../../../src/gateway/service.ts";
import { usePlayground } from "../../gateway/playground.ts";
import { KEY, modelOf, UNLIMITED } from "../../gateway/support.ts";
import { type Running, SECRET, startServers } from "../fakes.ts";

const playground = usePlayground();
const SOLD = [
  modelOf("acme/claude-9", { name: "Claude 9", contextLength: 200_000 }),
  modelOf("acme/embed", { kind: "embeddings" }),
  modelOf("acme/vision", { inputModalities: ["text", "image", "video"] }),
];
let running: Running;
beforeEach(async () => {
  const { gateway } = playground.bench;
  const models = new Map(SOLD.map((model) => [model.id, model]));
  const catalog = { snapshot: async () => ({ models, upstreams: new Map(), takenAtMs: 0 }) } as unknown as Catalog;
  const caller = async () => ({ key: KEY, requestId: "00000000-0000-7000-8000-000000000000", receivedAtMs: 0 });
  running = await startServers({
    gateway,
    implementations: { gateway: createGatewayService({ ...UNLIMITED, gateway, catalog, caller }) },
  });
});
afterEach(() => running.servers.close(1_000));

type List = Record<string, unknown> & { readonly data: Record<string, unknown>[]; readonly models?: unknown[] };

async function get(path: string, headers: Record<string, string> = { authorization: `Bearer ${SECRET}` }) {
  const response = await fetch(running.http + path, { headers, redirect: "manual" });
  expect(response.status).toBe(200);
  return (await response.json()) as List;
}

describe("the list of models", () => {
  it("has what OpenAI's and Anthropic's libraries read, and is complete at once", async () => {
    const list = await get("/v1/models");
    const ids = SOLD.map(({ id }) => id);
    expect(list).toMatchObject({ object: "list", has_more: false, first_id: ids.at(0), last_id: ids.at(-1) });
    expect(list.data.map(({ id }) => id)).toEqual(ids);
    for (const model of list.data) {
      expect(model).toMatchObject({ object: "model", type: "model", owned_by: "acme", created: 0 });
      expect(Date.parse(String(model["created_at"]))).toBe(0);
      expect(model["display_name"]).toBe(model["name"]);
    }
    expect(list.models ?? []).toEqual([]);
  });

  it("is found by Claude Code, which sends both credentials and follows no redirect", async () => {
    const headers = { authorization: `Bearer ${SECRET}`, "x-api-key": SECRET, "anthropic-version": "2023-06-01" };
    const { data } = await get("/v1/models?limit=1000", headers);
    expect(data.filter(({ id }) => /claude|anthropic/.test(String(id)))).toMatchObject([
      { id: "acme/claude-9", display_name: "Claude 9" },
    ]);
  });

  it("has every member that Codex requires once it names its version, for models that chat", async () => {
    const { models = [] } = await get("/v1/models?client_version=0.169.0");
    expect(models).toMatchObject([
      { slug: "acme/claude-9", context_window: 200_000, input_modalities: ["text"] },
      { slug: "acme/vision", input_modalities: ["text", "image"] },
    ]);
    for (const model of models) {
      expect(model).toMatchObject({
        display_name: expect.any(String) as unknown,
        base_instructions: expect.stringMatching(/./) as unknown,
        supported_reasoning_levels: [],
        shell_type: "unified_exec",
        visibility: "list",
        supported_in_api: true,
        priority: expect.any(Number) as unknown,
        support_verbosity: false,
        truncation_policy: { mode: "tokens", limit: expect.any(Number) as unknown },
        experimental_supported_tools: [],
      });
    }
  });

  it("has a model by its id, in the same form", async () => {
    const { data } = await get("/v1/models");
    expect(await get("/v1/models/acme/claude-9")).toEqual(data[0]);
  });
});

describe("a model of another kind", () => {
  it.each<[string, object, string, string]>([
    ["/v1/chat/completions", { messages: [{ role: "user", content: "hi" }] }, "local/embed", "/v1/embeddings"],
    ["/v1/messages", { max_tokens: 5, messages: [{ role: "user", content: "hi" }] }, "local/embed", "/v1/embeddings"],
    ["/v1/responses", { input: "hi" }, "local/embed", "/v1/embeddings"],
    ["/v1/embeddings", { input: "hi" }, "local/m", "/v1/chat/completions"],
  ])("is refused at %s, with where to send the request", async (path, body, model, right) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${SECRET}` };
    const response = await fetch(running.http + path, {
      method: "POST",
      headers,
      body: JSON.stringify({ ...body, model }),
    });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(`send it to ${right}`)]);
    expect(playground.upstream.received).toHaveLength(0);
    expect(playground.bench.ledger.admissions).toEqual([]);
  });
});
