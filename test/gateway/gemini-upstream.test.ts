// What is special about an upstream of Google's.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UpstreamFailure } from "../../src/gateway/upstreams/chat-upstream.ts";
import { createGeminiUpstream } from "../../src/gateway/upstreams/gemini/gemini-upstream.ts";
import { type FakeGemini, startFakeGemini } from "./fakes/gemini.ts";
import { upstreamOf } from "./support.ts";

let fake: FakeGemini;
beforeAll(async () => {
  fake = await startFakeGemini();
});
afterAll(async () => {
  await fake.stop();
});

type Call = { readonly model?: string; readonly stream?: boolean; readonly endpoint?: "embeddings" };

async function said(
  text: string,
  { model = "gemini-9", stream = false, ...more }: Call = {},
): Promise<UpstreamFailure | null> {
  const upstream = createGeminiUpstream(upstreamOf("google", fake.baseUrl), { apiKey: "AIza-1" });
  const body = { contents: [{ role: "user", parts: [{ text }] }], generationConfig: { maxOutputTokens: 64 } };
  const { promise, resolve } = Promise.withResolvers<UpstreamFailure | null>();
  upstream.call(
    { requestId: "r1", attempt: 1, model, stream, body: Buffer.from(JSON.stringify(body)), ...more },
    { onAnswer() {}, onData() {}, onEnd: () => resolve(null), onFailure: resolve },
  );
  const failure = await promise;
  await upstream.close();
  return failure;
}

describe("an upstream of Google's", () => {
  it("has the model and the stream in its path, and the key in its own header", async () => {
    expect(await said("hi")).toBeNull();
    expect(await said("hi", { stream: true })).toBeNull();
    expect(fake.requests.slice(-2).map(({ path }) => path)).toEqual([
      "/v1beta/models/gemini-9:generateContent",
      "/v1beta/models/gemini-9:streamGenerateContent?alt=sse",
    ]);
    expect(fake.requests.at(-1)?.headers).toMatchObject({ "x-goog-api-key": "AIza-1" });
    expect(fake.requests.at(-1)?.headers).not.toHaveProperty("authorization");
  });

  it("finds no other path by the name of a model", async () => {
    for (const model of ["tunedModels/own", "../files", "a?alt=b#c"]) await said("hi", { model });
    expect(fake.requests.slice(-3).map(({ path }) => path)).toEqual([
      "/v1beta/tunedModels/own:generateContent",
      "/v1beta/models/..%2Ffiles:generateContent",
      "/v1beta/models/a%3Falt%3Db%23c:generateContent",
    ]);
  });

  it("is asked for vectors by its compatible path", async () => {
    await said("hi", { endpoint: "embeddings" });
    expect(fake.requests.at(-1)).toMatchObject({
      path: "/v1beta/openai/embeddings",
      headers: { authorization: "Bearer AIza-1" },
    });
    expect(fake.requests.at(-1)?.headers).not.toHaveProperty("x-goog-api-key");
  });

  it("names in the error how long to wait", async () => {
    expect(await said("!429")).toMatchObject({ kind: "unbilled", retryAfterSeconds: 7 });
  });

  it("refuses a prompt that is too long, and is without a cost where its key is wrong", async () => {
    expect(await said("!long")).toMatchObject({ kind: "refused", refusedFor: "context_length_exceeded" });
    const failure = await said("!key");
    expect(failure).toMatchObject({ kind: "unbilled" });
    expect(failure).not.toHaveProperty("message");
  });
});
