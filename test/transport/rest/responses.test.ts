// The Responses routes with OpenAI's own client, through the gateway to the demo upstream.

import OpenAI, { APIError } from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCountWindows } from "../../../src/gateway/conversation/count-window.ts";
import { createResponsesService } from "../../../src/gateway/responses-service.ts";
import { uuidv7 } from "../../../src/kernel/ids.ts";
import { type Bench, KEY, openBench } from "../../gateway/support.ts";
import { createKeys, implementations, type Running, SECRET, startServers } from "../fakes.ts";

let bench: Bench;
let running: Running;
let client: OpenAI;

beforeEach(async () => {
  bench = openBench();
  const keys = createKeys();
  const responses = createResponsesService({
    gateway: bench.gateway,
    keys,
    allowedModelsOf: () => null,
    ...createCountWindows(),
    caller: async () => ({ key: KEY, requestId: uuidv7(), receivedAtMs: Date.now() }),
  });
  running = await startServers({ gateway: bench.gateway, implementations: { ...implementations, responses } });
  client = new OpenAI({ baseURL: `${running.http}/v1`, apiKey: SECRET, maxRetries: 0 });
});
afterEach(() => running.servers.close(1_000));

const ASKED = { model: "demo/small", input: "hello" };

async function errorOf(work: Promise<unknown>): Promise<APIError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof APIError) return error;
  throw new Error("the client was given an answer");
}

describe("POST /v1/responses", () => {
  it("gives a whole answer, billed", async () => {
    const response = await client.responses.create({ ...ASKED, max_output_tokens: 4 });
    expect(response).toMatchObject({ status: "incomplete", store: false, usage: { output_tokens: 4 } });
    expect(response.id).toMatch(/^resp_/);
    expect(bench.ledger.settlement).toMatchObject({ streamed: false, outputTokens: 4 });
  });

  it("gives a stream that the client's helper accepts", async () => {
    const response = await client.responses.stream({ ...ASKED, instructions: "Be brief." }).finalResponse();
    expect(response.status).toBe("completed");
    expect(response.output_text).not.toBe("");
    expect(bench.ledger.settlement).toMatchObject({ streamed: true });
  });

  it("refuses in OpenAI's form", async () => {
    const stored = await errorOf(client.responses.create({ ...ASKED, previous_response_id: "resp_1" }));
    expect([stored.status, stored.type, stored.code, stored.param]).toEqual([
      400,
      "invalid_request_error",
      "validation_error",
      "previous_response_id",
    ]);
    const unknown = await errorOf(client.responses.create({ ...ASKED, model: "nobody/knows" }));
    expect([unknown.status, unknown.code]).toEqual([404, "model_not_found"]);
    expect(bench.ledger.settlements).toEqual([]);
  });

  it("has no stored answers", async () => {
    expect((await errorOf(client.responses.retrieve("resp_1"))).status).toBe(404);
  });
});

describe("POST /v1/responses/input_tokens", () => {
  it("counts for nothing", async () => {
    const schema = { type: "object", properties: { depth: { type: "integer", maximum: 12 } } };
    const tools: OpenAI.Responses.Tool[] = [{ type: "function", name: "look", parameters: schema, strict: false }];
    const plain = await client.responses.inputTokens.count(ASKED);
    const { object, input_tokens: tokens } = await client.responses.inputTokens.count({
      ...ASKED,
      input: [{ role: "user", content: [{ type: "input_text", text: "hello" }] }],
      tools,
    });
    expect(object).toBe("response.input_tokens");
    expect(plain.input_tokens).toBeGreaterThan(0);
    expect(tokens).toBeGreaterThan(plain.input_tokens + 8);
    expect(bench.ledger.settlements).toEqual([]);
  });

  it("has a bound of its own", async () => {
    const counts = await Promise.allSettled(
      Array.from({ length: 301 }, () => client.responses.inputTokens.count(ASKED)),
    );
    const refused = counts.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(1);
    expect(refused[0]).toMatchObject({ reason: { status: 429, code: "rate_limit_exceeded" } });
  });

  it("refuses in OpenAI's form", async () => {
    const error = await errorOf(client.responses.inputTokens.count({ ...ASKED, temperature: 9 } as object));
    expect([error.status, error.type]).toEqual([400, "invalid_request_error"]);
  });
});
