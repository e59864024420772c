// OpenAI's own client reads what the writer of Responses makes: its stream helper refuses events in a wrong order.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import OpenAI from "openai";
import type { Response } from "openai/resources/responses/responses";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AnswerEvent } from "../../src/gateway/conversation/answer-events.ts";
import { responsesProtocol } from "../../src/gateway/conversation/responses/responses-protocol.ts";
import { UpstreamBusy } from "../../src/kernel/errors.ts";

const FACTS = { requestId: "01a20a18-90e1-71af-abb6-25530962f602", createdAtMs: 1_795_392_000_000, inputTokens: 7 };
const TOOLS: OpenAI.Responses.Tool[] = [
  { type: "function", name: "exec", parameters: { type: "object" }, strict: false },
  { type: "custom", name: "apply_patch" },
  {
    type: "namespace",
    name: "agents",
    description: "Agents.",
    tools: [{ type: "function", name: "wait", parameters: { type: "object" } }],
  },
];
const USAGE: AnswerEvent = {
  kind: "usage",
  usage: { input: 150, cached: 30, written: 0, written1h: 0, output: 12, reasoning: 4, costIdr: "0.105" },
};

let events: readonly AnswerEvent[] = [];
let breaksOff = false;

/** Answers each request with the events of the test. */
const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const { conversation, writer } = responsesProtocol.read(Buffer.concat(parts));
    const answer = writer(FACTS);
    if (!conversation.stream) {
      response.setHeader("content-type", "application/json").end(JSON.stringify(answer.whole(events)));
      return;
    }
    response.setHeader("content-type", "text/event-stream");
    const last = breaksOff ? () => answer.fail(new UpstreamBusy()) : () => answer.end();
    for (const { name, data } of [...answer.begin(), ...events.flatMap((event) => answer.write(event)), ...last()]) {
      response.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
    }
    response.end();
  });
});
let client: OpenAI;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  client = new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: "key", maxRetries: 0 });
});
afterAll(() => server.close());

async function streamed(...answer: readonly AnswerEvent[]): Promise<Response> {
  events = answer;
  return client.responses.stream({ model: "acme/large", input: "hi", tools: TOOLS }).finalResponse();
}

describe("the client of OpenAI", () => {
  it("reads a stream of reasoning, text and calls of every kind", async () => {
    const response = await streamed(
      { kind: "reasoning", text: "hm" },
      { kind: "text", text: "I run " },
      { kind: "text", text: "it." },
      { kind: "call", call: 0, id: "call_0", name: "exec" },
      { kind: "input", call: 0, text: '{"cmd":' },
      { kind: "call", call: 1, id: "call_1", name: "apply_patch" },
      { kind: "input", call: 1, text: '{"input":"*** Begin"}' },
      { kind: "input", call: 0, text: '"ls"}' },
      { kind: "call", call: 2, id: "call_2", name: "agents__wait" },
      { kind: "finish", reason: "calls" },
      USAGE,
    );
    expect(response.status).toBe("completed");
    expect(response.output_text).toBe("I run it.");
    expect(response.usage?.total_tokens).toBe(162);
    expect(response.output).toMatchObject([
      { type: "reasoning", summary: [{ text: "hm" }] },
      { type: "message" },
      { type: "function_call", name: "exec", arguments: '{"cmd":"ls"}' },
      { type: "custom_tool_call", name: "apply_patch", input: "*** Begin" },
      { type: "function_call", name: "wait", namespace: "agents", arguments: "{}" },
    ]);
  });

  it("reads a refusal", async () => {
    const response = await streamed({ kind: "refusal", text: "No." }, { kind: "finish", reason: "stop" }, USAGE);
    expect(response.output).toMatchObject([{ content: [{ type: "refusal", refusal: "No." }] }]);
  });

  it("sees why an answer is incomplete", async () => {
    const response = await streamed({ kind: "text", text: "par" }, { kind: "finish", reason: "length" }, USAGE);
    expect(response).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
  });

  it("sees that a stream broke off", async () => {
    breaksOff = true;
    try {
      const response = await streamed({ kind: "text", text: "par" });
      expect(response).toMatchObject({ status: "failed", error: { code: "server_is_overloaded" } });
    } finally {
      breaksOff = false;
    }
  });

  it("reads a whole answer", async () => {
    events = [{ kind: "text", text: "Hello" }, { kind: "finish", reason: "stop" }, USAGE];
    const response = await client.responses.create({ model: "acme/large", input: "hi" });
    expect([response.output_text, response.id]).toEqual(["Hello", `resp_${FACTS.requestId}`]);
  });
});
