// The Responses protocol over RPC, through the gateway to an upstream of chat.

import { create, type JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createHandlerContext, createRouterTransport } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { ResponseRequestSchema, ResponsesService } from "#gen/saldo/gateway/v1/responses_service_pb.ts";
import { createCountWindows } from "../../src/gateway/conversation/count-window.ts";
import { createResponsesService } from "../../src/gateway/responses-service.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { createOpenInterceptors } from "../../src/transport/calls/interceptors.ts";
import { createLogMemory } from "../transport/fakes.ts";
import { type Bench, KEY, openBench, RATE } from "./support.ts";

const interceptors = createOpenInterceptors({ logger: createLogMemory().logger });
const TOOLS: JsonObject[] = [
  { type: "function", name: "look", description: "Looks.", parameters: { type: "object" } },
  { type: "web_search" },
];

function serviceOf({ gateway }: Bench, requestId: string) {
  const keys = { takeSlot: async () => RATE };
  return createResponsesService({
    gateway,
    keys,
    allowedModelsOf: () => null,
    ...createCountWindows(),
    caller: async () => ({ key: KEY, requestId, receivedAtMs: Date.now() }),
  });
}

function clientOf(bench: Bench) {
  const requestId = uuidv7();
  const router = createRouterTransport(({ service }) =>
    service(ResponsesService, serviceOf(bench, requestId), { interceptors }),
  );
  return { client: createClient(ResponsesService, router), requestId };
}

const ask = (words: string, more: object = {}) => ({
  model: "demo/small",
  input: { kind: { case: "stringValue" as const, value: words } },
  ...more,
});

describe("ResponsesService", () => {
  it("answers a typed request, billed like any other", async () => {
    const bench = openBench();
    const { client, requestId } = clientOf(bench);
    const answer = await client.createResponse(ask("hello", { maxOutputTokens: 4, tools: TOOLS, extra: { seed: 5 } }));
    expect(answer).toMatchObject({
      id: `resp_${requestId}`,
      object: "response",
      model: "demo/small",
      status: "incomplete",
      incompleteDetails: { reason: "max_output_tokens" },
      store: false,
      output: [{ type: "message", role: "assistant" }],
    });
    expect(answer.usage).toMatchObject({ outputTokens: 4, costIdr: expect.stringMatching(/^0\.\d+$/) });
    expect(bench.ledger.settlement).toMatchObject({ basis: "exact", streamed: false, outputTokens: 4 });
  });

  it("streams the events of an answer, the last with its usage", async () => {
    const bench = openBench();
    const { client } = clientOf(bench);
    const events = await Array.fromAsync(client.streamResponse(ask("hello")));
    expect(events.map(({ sequenceNumber }) => sequenceNumber)).toEqual(events.map((_, index) => index));
    expect([events.at(0)?.type, events.at(-1)?.type]).toEqual(["response.created", "response.completed"]);
    const deltas = events.filter(({ type }) => type === "response.output_text.delta");
    const done = events.find(({ type }) => type === "response.output_text.done");
    const text = deltas.map(({ event }) => (typeof event?.["delta"] === "string" ? event["delta"] : ""));
    expect(text.join("")).toBe(done?.event?.["text"]);
    expect(events.at(-1)?.event?.["response"]).toMatchObject({
      usage: { cost_idr: expect.stringMatching(/^0\.\d+$/) },
    });
    expect(bench.ledger.settlement).toMatchObject({ basis: "exact", streamed: true });
  });

  it("counts the input for nothing", async () => {
    const bench = openBench();
    const { client } = clientOf(bench);
    const { object, inputTokens } = await client.countInputTokens(
      ask("The quick brown fox.", { instructions: "Be brief." }),
    );
    expect(object).toBe("response.input_tokens");
    expect(inputTokens).toBeGreaterThan(8);
    expect(inputTokens).toBeLessThan(40);
    expect(bench.ledger.settlements).toEqual([]);
  });

  it.each([false, true])("refuses what needs a stored answer, streamed or not: %s", async (streamed) => {
    const bench = openBench();
    const { client } = clientOf(bench);
    const request = ask("hello", { extra: { previous_response_id: "resp_1" } });
    const answer = streamed ? Array.fromAsync(client.streamResponse(request)) : client.createResponse(request);
    const error = await answer.then(
      () => null,
      (thrown: unknown) => ConnectError.from(thrown),
    );
    expect(error?.code).toBe(Code.InvalidArgument);
    expect(error?.message).toContain("previous_response_id");
    expect(bench.ledger.settlements).toEqual([]);
  });

  it("ends quietly when its caller has left: a canceled call is no fault", async () => {
    const bench = openBench();
    const caller = new AbortController();
    const context = createHandlerContext({
      service: ResponsesService,
      method: ResponsesService.method.createResponse,
      protocolName: "connect",
      requestMethod: "POST",
      url: "http://localhost/",
      requestSignal: caller.signal,
    });
    bench.ledger.admitWith = ({ amount }) => {
      caller.abort();
      return { outcome: "granted", amount, rate: RATE };
    };
    const request = create(ResponseRequestSchema, ask("hello"));
    const ended = Promise.resolve(serviceOf(bench, uuidv7()).createResponse(request, context));
    await expect(ended).rejects.toMatchObject({ code: Code.Canceled });
    expect(bench.ledger.settlement.basis).toBe("free");
  });
});
