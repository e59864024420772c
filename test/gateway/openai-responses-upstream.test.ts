// What is special about an upstream with Responses: encrypted reasoning of another account, and its errors.

import { afterEach, describe, expect, it } from "vitest";
import type { UpstreamFailure } from "../../src/gateway/upstreams/chat-upstream.ts";
import { createOpenAiResponsesUpstream } from "../../src/gateway/upstreams/openai-responses/openai-responses-upstream.ts";
import { type FakeResponses, startFakeResponses } from "./fakes/responses.ts";
import type { Json } from "./fakes/responses-wire.ts";
import { upstreamOf } from "./support.ts";

const fakes: FakeResponses[] = [];
afterEach(async () => {
  for (const fake of fakes.splice(0)) await fake.stop();
});

async function open() {
  const fake = await startFakeResponses();
  fakes.push(fake);
  const upstream = createOpenAiResponsesUpstream(upstreamOf("openai", fake.baseUrl), { apiKey: "sk-1" });
  return { fake, upstream, call };

  /** The answer, or the failure. */
  async function call(
    input: readonly Json[],
  ): Promise<{ readonly text: string; readonly failure: UpstreamFailure | null }> {
    const body = Buffer.from(JSON.stringify({ model: "gpt", input, max_output_tokens: 64, store: false }));
    const parts: Buffer[] = [];
    const { promise, resolve } = Promise.withResolvers<UpstreamFailure | null>();
    upstream.call(
      { requestId: "r1", attempt: 1, model: "gpt", body, stream: false },
      {
        onAnswer: () => undefined,
        onData: (bytes) => void parts.push(bytes),
        onEnd: () => resolve(null),
        onFailure: resolve,
      },
    );
    return { failure: await promise, text: Buffer.concat(parts).toString("utf8") };
  }
}

const asked = (text: string): Json => ({ role: "user", content: text });
const reasoning = (encrypted: string): Json => ({ type: "reasoning", summary: [], encrypted_content: encrypted });
const said: Json = { role: "assistant", content: [{ type: "output_text", text: "ok" }] };

describe("an upstream with Responses", () => {
  it("is called under its path with its credential", async () => {
    const { fake, call } = await open();
    await call([asked("hi")]);
    expect(fake.requests[0]).toMatchObject({ path: "/v1/responses", headers: { authorization: "Bearer sk-1" } });
  });

  it("gets a request once more without reasoning that another account has encrypted", async () => {
    const { fake, call } = await open();
    const { failure, text } = await call([asked("hi"), reasoning("gAAAA-foreign"), said, asked("again")]);
    expect(failure).toBeNull();
    expect(text).toContain("again");
    expect(fake.requests.map(({ body }) => (body["input"] as Json[]).length)).toEqual([4, 3]);
    expect(fake.truths).toHaveLength(1);
  });

  it("keeps its own reasoning, and gets a request that it refuses for another reason once", async () => {
    const { fake, call } = await open();
    const { output } = JSON.parse((await call([asked("!think")])).text) as { output: Json[] };
    const [own = {}] = output.filter(({ type }) => type === "reasoning");
    const { failure } = await call([asked("!think"), reasoning(String(own["encrypted_content"])), said, asked("hi")]);
    expect(failure).toBeNull();
    const wrong = await call([asked("hi"), { role: "wizard", content: "x" }, asked("hi")]);
    expect(wrong.failure).toMatchObject({ kind: "refused", message: "Invalid role: wizard" });
    expect(fake.requests).toHaveLength(3);
  });

  it.each<[string, object]>([
    ["!429", { kind: "unbilled", retryAfterSeconds: 7 }],
    ["!429quota", { kind: "unbilled" }],
    ["!503", { kind: "unbilled" }],
    ["!long", { kind: "refused", refusedFor: "context_length_exceeded" }],
  ])("that answers %s has failed", async (word, failure) => {
    const { call } = await open();
    expect(await call([asked(word)])).toMatchObject({ failure });
  });
});
