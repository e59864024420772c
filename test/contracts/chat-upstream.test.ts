// What every adapter of an upstream promises, as its listener gets it. The demo answers by itself; the others call a server that
// plays the same situations over HTTP.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type {
  ChatUpstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamListener,
} from "../../src/gateway/upstreams/chat-upstream.ts";
import { createDemoUpstream } from "../../src/gateway/upstreams/demo/demo-upstream.ts";
import { createAnthropicUpstream } from "../../src/gateway/upstreams/anthropic/anthropic-upstream.ts";
import { createGeminiUpstream } from "../../src/gateway/upstreams/gemini/gemini-upstream.ts";
import { createOpenAiResponsesUpstream } from "../../src/gateway/upstreams/openai-responses/openai-responses-upstream.ts";
import { createOpenAiCompatibleUpstream } from "../../src/gateway/upstreams/openai-compatible/openai-compatible-upstream.ts";
import { type FakeAnthropic, startFakeAnthropic } from "../gateway/fakes/anthropic.ts";
import { type FakeGemini, startFakeGemini } from "../gateway/fakes/gemini.ts";
import { type FakeResponses, startFakeResponses } from "../gateway/fakes/responses.ts";
import { type Script, type ScriptedUpstream, startScriptedUpstream } from "../gateway/scripted-upstream.ts";
import { until, upstreamOf } from "../gateway/support.ts";
import { CHAT_WIRE, GEMINI_WIRE, MESSAGES_WIRE, RESPONSES_WIRE, type UpstreamWireTest } from "./upstream-wires.ts";

/** Follows a call and notes what may not be: an end twice, data after it, anything after an abort. */
class Ear implements UpstreamListener {
  readonly heard: string[] = [];
  readonly ended: Promise<UpstreamFailure | null>;
  isEventStream: boolean | null = null;
  call: UpstreamCall | null = null;
  onHeard: (what: string) => void = () => undefined;
  readonly #parts: Buffer[] = [];
  readonly #end: (failure: UpstreamFailure | null) => void;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<UpstreamFailure | null>();
    this.ended = promise;
    this.#end = resolve;
  }

  onAnswer(answer: { readonly isEventStream: boolean }): void {
    this.isEventStream = answer.isEventStream;
    this.#hear("answer");
  }
  onData(bytes: Buffer): void {
    this.#parts.push(Buffer.from(bytes));
    this.#hear("data");
  }
  onEnd(): void {
    this.#hear("end");
    this.#end(null);
  }
  onFailure(failure: UpstreamFailure): void {
    this.#hear(`failure ${failure.kind}`);
    this.#end(failure);
  }

  get text(): string {
    return Buffer.concat(this.#parts).toString("utf8");
  }

  #hear(what: string): void {
    this.heard.push(what);
    this.onHeard(what);
  }
}

/** The server behind the openai-compatible adapter: the demo's own answers over HTTP, and the ways in which HTTP fails. */
function demoOverHttp(): Script {
  const demo = createDemoUpstream("behind", { tokenIntervalMs: 0 });
  let calls = 0;
  return (response, { body }) => {
    const stream = body.includes('"stream":true');
    calls += 1;
    demo.call(
      { requestId: `r${calls}`, attempt: 1, model: "echo", body, stream },
      {
        onAnswer: ({ isEventStream }) =>
          void response.writeHead(200, { "content-type": isEventStream ? "text/event-stream" : "application/json" }),
        onData: (bytes) => void response.write(bytes),
        onEnd: () => void response.end(),
        onFailure: ({ kind }) => {
          if (response.headersSent) setImmediate(() => response.socket?.destroy());
          else if (kind === "refused") response.writeHead(400).end("{}");
          else response.writeHead(429, { "retry-after": "7" }).end("{}");
        },
      },
    );
  };
}

const state: {
  server: ScriptedUpstream | null;
  responses: FakeResponses | null;
  anthropic: FakeAnthropic | null;
  gemini: FakeGemini | null;
} = { server: null, responses: null, anthropic: null, gemini: null };
beforeAll(async () => {
  state.server = await startScriptedUpstream();
  state.responses = await startFakeResponses();
  state.anthropic = await startFakeAnthropic();
  state.gemini = await startFakeGemini();
});
afterAll(async () => {
  await state.server?.stop();
  await state.responses?.stop();
  await state.anthropic?.stop();
  await state.gemini?.stop();
});

const ADAPTERS: readonly [string, UpstreamWireTest, () => ChatUpstream][] = [
  ["demo", CHAT_WIRE, () => createDemoUpstream("demo", { tokenIntervalMs: 0 })],
  [
    "openai-compatible",
    CHAT_WIRE,
    () => {
      state.server?.run(demoOverHttp());
      return createOpenAiCompatibleUpstream(upstreamOf("local", state.server?.baseUrl ?? ""), { apiKey: null });
    },
  ],
  [
    "openai-responses",
    RESPONSES_WIRE,
    () => createOpenAiResponsesUpstream(upstreamOf("local", state.responses?.baseUrl ?? ""), { apiKey: null }),
  ],
  [
    "anthropic",
    MESSAGES_WIRE,
    () => createAnthropicUpstream(upstreamOf("local", state.anthropic?.baseUrl ?? ""), { apiKey: null }),
  ],
  [
    "gemini",
    GEMINI_WIRE,
    () => createGeminiUpstream(upstreamOf("local", state.gemini?.baseUrl ?? ""), { apiKey: null }),
  ],
];

describe.each(ADAPTERS)("the %s upstream", (_name, wire, open) => {
  let attempts = 0;
  function call(upstream: ChatUpstream, said: string, more: Record<string, unknown> = {}): Ear {
    const stream = more["stream"] === true;
    const members = { model: "echo", ...wire.bodyOf(said), ...more };
    const body = Buffer.from(JSON.stringify(wire.sent?.(members) ?? members));
    const ear = new Ear();
    attempts += 1;
    ear.call = upstream.call({ requestId: `q${attempts}`, attempt: 1, model: "echo", body, stream }, ear);
    expect(ear.heard).toEqual([]);
    return ear;
  }
  const kindsOf = (ear: Ear): string[] => ear.heard.filter((what, at) => what !== "data" || ear.heard[at - 1] !== what);

  it("answers whole: an answer, its bytes, an end", async () => {
    const upstream = open();
    const ear = call(upstream, "halo dunia");
    expect(await ear.ended).toBeNull();
    expect(kindsOf(ear)).toEqual(["answer", "data", "end"]);
    expect(ear.isEventStream).toBe(false);
    expect(JSON.parse(ear.text)).toMatchObject(wire.answerWith("halo dunia"));
    await upstream.close();
  });

  it("answers as a stream of events with its end and the usage", async () => {
    const upstream = open();
    const ear = call(upstream, "halo dunia", { stream: true, ...wire.wantsUsage });
    expect(await ear.ended).toBeNull();
    expect(kindsOf(ear)).toEqual(["answer", "data", "end"]);
    expect(ear.isEventStream).toBe(true);
    expect(ear.text.trimEnd()).toMatch(wire.lastEvent);
    expect(ear.text).toContain(wire.usageMember);
    await upstream.close();
  });

  it("honours the cap in its own field", async () => {
    const upstream = open();
    const ear = call(upstream, "!tokens=50", { [wire.capField ?? upstream.outputCapField]: 3 });
    expect(await ear.ended).toBeNull();
    expect(JSON.parse(ear.text)).toMatchObject(wire.cappedAt(3));
    await upstream.close();
  });

  it.each(["at once", "at the answer", "at the first bytes"])(
    "reports nothing more after an abort %s",
    async (stage) => {
      const upstream = open();
      const ear = call(upstream, "!tokens=2000", { stream: true });
      const stop = (): void => {
        ear.call?.abort();
        ear.heard.push("abort");
      };
      if (stage === "at once") stop();
      ear.onHeard = (what) => {
        if (!ear.heard.includes("abort") && what === (stage === "at the answer" ? "answer" : "data")) stop();
      };
      await until(() => ear.heard.includes("abort"));
      // Another call to its end: by then the aborted one would have spoken.
      await call(upstream, "!tokens=2000", { stream: true }).ended;
      expect(ear.heard.at(-1)).toBe("abort");
      ear.call?.abort();
      ear.call?.pause();
      ear.call?.resume();
      await upstream.close();
    },
  );

  it("waits while it is paused, loses nothing, and goes on", async () => {
    const upstream = open();
    const ear = call(upstream, "!tokens=20000", { stream: true });
    let pauses = 0;
    ear.onHeard = (what) => {
      if (what !== "data" || pauses >= 5) return;
      pauses += 1;
      ear.call?.pause();
      const heardBefore = ear.heard.length;
      setImmediate(() =>
        setImmediate(() => {
          // What undici had parsed already may still come, but not without end.
          expect(ear.heard.length - heardBefore).toBeLessThan(50);
          ear.call?.resume();
        }),
      );
    };
    expect(await ear.ended).toBeNull();
    expect(wire.textOf(ear.text).match(/ word/g)).toHaveLength(20_000);
    expect(pauses).toBe(5);
    await upstream.close();
  });

  it("ends or fails exactly once, also for many calls at a time", async () => {
    const upstream = open();
    const said = ["a", "!429", "!cut", "!tokens=30", "!503x", "b"];
    const ears = Array.from({ length: 60 }, (_, at) =>
      call(upstream, said[at % said.length] ?? "", { stream: at % 2 === 0 }),
    );
    await Promise.all(ears.map((ear) => ear.ended));
    for (const ear of ears) {
      expect(ear.heard.filter((what) => what === "end" || what.startsWith("failure"))).toHaveLength(1);
      expect(ear.heard.at(-1)).toMatch(/^(end|failure)/);
      expect(ear.call?.sent).toBe(true);
    }
    await upstream.close();
  });

  it.each<[string, object, UpstreamFailure["kind"]]>([
    ["!429", { retryAfterSeconds: 7 }, "unbilled"],
    ["!503x", {}, "unbilled"],
    ["!cut and more words to cut", {}, "perhaps_billed"],
  ])("says of %s whether it can have cost something", async (said, facts, kind) => {
    const upstream = open();
    for (const stream of [false, true]) {
      const failure = await call(upstream, said, { stream }).ended;
      expect(failure).toMatchObject({ kind, ...facts, reason: expect.any(String) });
    }
    await upstream.close();
  });
});
