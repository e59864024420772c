// Some upstreams of Responses send a text only at its end, where others repeat it.

import { afterAll, beforeAll, expect, it } from "vitest";
import { countTokens } from "../../src/gateway/metering/estimate.ts";
import { type ScriptedUpstream, startScriptedUpstream, stream } from "./scripted-upstream.ts";
import { chat, FakeSink, modelOf, openBench, upstreamOf } from "./support.ts";

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
});
afterAll(() => upstream.stop());

const TEXT = "The quick brown fox jumps over the lazy dog, and so do forty-two others of its kind. ".repeat(6);
const item = (text: string, status: string) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  status,
  content: text === "" ? [] : [{ type: "output_text", text, annotations: [] }],
});
const response = (output: object[], status: string) => ({
  id: "resp_1",
  object: "response",
  status,
  output,
  usage: null,
});
const place = { output_index: 0, content_index: 0, item_id: "msg_1" };
const CREATED = { type: "response.created", response: response([], "in_progress") };
const ADDED = { type: "response.output_item.added", output_index: 0, item: item("", "in_progress") };
const DONE = { type: "response.output_item.done", output_index: 0, item: item(TEXT, "completed") };
const COMPLETED = { type: "response.completed", response: response([item(TEXT, "completed")], "completed") };
const delta = (text: string) => ({ type: "response.output_text.delta", ...place, delta: text });

it.each<[string, readonly { readonly type: string }[]]>([
  ["in the response at its end", [CREATED, COMPLETED]],
  ["at the end of its item", [CREATED, ADDED, DONE, COMPLETED]],
  ["in part at its end", [CREATED, ADDED, delta(TEXT.slice(0, 100)), DONE, COMPLETED]],
  [
    "in pieces, and again at its end",
    [CREATED, ADDED, delta(TEXT.slice(0, 100)), delta(TEXT.slice(100)), DONE, COMPLETED],
  ],
])("an answer that no usage was reported for is estimated by its text, which came %s", async (_where, events) => {
  upstream.run(stream(...events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)));
  const bench = openBench({
    models: [modelOf("acme/m", { routes: [{ upstream: "gpt", model: "m" }] })],
    upstreams: [upstreamOf("gpt", upstream.baseUrl, { kind: "openai-responses" })],
  });
  const { outcome, sink } = await bench.send(chat("acme/m", "hi", { stream: true }), new FakeSink());
  expect(outcome).toBe("answered");
  expect(sink.text).toBe(TEXT);
  const tokens = await countTokens(TEXT);
  const { basis, outputTokens } = bench.ledger.settlement;
  expect(basis).toBe("estimated");
  expect(Math.abs(outputTokens - tokens)).toBeLessThanOrEqual(3);
  await bench.upstreams.close();
});
