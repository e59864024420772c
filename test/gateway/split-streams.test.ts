import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { AnswerResponse } from "../../src/transport/rest/answer-response.ts";
import { ChatResponseSink } from "../../src/transport/rest/chat/chat-sink.ts";
import type { ChatUpstream } from "../../src/gateway/upstreams/chat-upstream.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { STREAMED } from "./playground.ts";
import { chunk, usageChunk, wire } from "./scripted-upstream.ts";
import { FakeSink, KEY, modelOf, openBench, shown } from "./support.ts";

const TEXTS = ["Pagi ☀️", "你好", "é̂ 🇮🇩 👩‍👧", "नम", '\\u0041 " \\ \n'];
const BEFORE = wire([...TEXTS.map((content) => chunk({ content })), chunk({}, "stop")]);
const SENT = Buffer.from(BEFORE + wire([usageChunk(), "[DONE]"]));
const REQUEST_ID = uuidv7();
const SHOWN = BEFORE + wire([usageChunk().replace(/\}\}\}$/, '},"cost_idr":"0.0838"}}'), "[DONE]"]);
const ALL_SHOWN = SHOWN.split("\n")
  .map((line) => shown(line, REQUEST_ID))
  .join("\n");

/** A gateway whose upstream sends the stream in two packets. Over a socket they might be joined again. */
function openGateway() {
  const cut = { at: 0 };
  const upstream: ChatUpstream = {
    id: "local",
    kind: "openai-compatible",
    outputCapField: "max_tokens",
    takesServiceTier: false,
    isAnthropic: false,
    call: (_request, listener) => {
      queueMicrotask(() => {
        listener.onAnswer({ isEventStream: true, upstreamRequestId: null });
        listener.onData(SENT.subarray(0, cut.at));
        listener.onData(SENT.subarray(cut.at));
        listener.onEnd();
      });
      return {
        sent: true,
        pause: () => undefined,
        resume: () => undefined,
        letGo: () => undefined,
        abort: () => undefined,
      };
    },
    close: () => Promise.resolve(),
    destroy: () => Promise.resolve(),
  };
  const open = () => [{ upstream, model: "m", timeouts: { firstByteTimeoutMs: 1_000, idleTimeoutMs: 1_000 } }];
  const deps = { upstreams: { open, markMixedUp: () => undefined, close: () => Promise.resolve() } };
  return { cut, bench: openBench({ models: [modelOf("local/m")], deps }) };
}

describe("a stream in many scripts, cut at every byte", () => {
  it("leaves the gateway byte for byte, the billed usage and [DONE] included", async () => {
    const { cut, bench } = openGateway();
    const results = new Set<string>();
    for (cut.at = 1; cut.at < SENT.length; cut.at += 1) {
      const { sink } = await bench.send(STREAMED, new FakeSink(), REQUEST_ID);
      expect(sink.ended).toBe(true);
      results.add(sink.bytes.toString("latin1"));
    }
    expect([...results].map((bytes) => Buffer.from(bytes, "latin1").toString())).toEqual([ALL_SHOWN]);
    expect(bench.ledger.settlements.every(({ basis, cost }) => basis === "exact" && cost === 83_800n)).toBe(true);
  });

  it("reaches a client over HTTP byte for byte", async () => {
    const { cut, bench } = openGateway();
    const server = createServer((_request, response) => {
      const requestId = REQUEST_ID;
      const call = { requestId, receivedAtMs: Date.now(), key: KEY, body: Buffer.from(JSON.stringify(STREAMED)) };
      void bench.gateway.answerChat(
        call,
        new ChatResponseSink(new AnswerResponse({ response, requestId, headers: {} })),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const results = new Set<string>();
    for (cut.at = 1; cut.at < SENT.length; cut.at += 1) results.add(await answerOf(port));
    await new Promise((resolve) => server.close(resolve));
    expect([...results].map((bytes) => Buffer.from(bytes, "latin1").toString())).toEqual([ALL_SHOWN]);
  });
});

function answerOf(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ port, host: "127.0.0.1" }, (response) => {
      let text = "";
      response.setEncoding("latin1");
      response.on("data", (part: string) => (text += part));
      response.on("end", () => resolve(text));
      response.on("error", reject);
    })
      .on("error", reject)
      .end();
  });
}
