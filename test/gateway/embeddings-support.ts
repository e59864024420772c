// A bench with an embeddings model of a scripted upstream.

import { afterAll, beforeAll, beforeEach } from "vitest";
import type { ChatOutcome } from "../../src/gateway/chat.ts";
import { encodeVector } from "../../src/gateway/embeddings/vectors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { json, type Script, type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";
import { type Bench, FakeSink, KEY, modelOf, openBench, upstreamOf } from "./support.ts";

export const RUPIAH = 1_000_000n;
export const CONTEXT = 1_000;
/** One rupiah a token, so that tokens and money are the same digits. */
export const EMBED = modelOf("local/embed", {
  kind: "embeddings",
  contextLength: CONTEXT,
  maxOutputTokens: 0,
  inputPrice: 1_000_000n * RUPIAH,
  outputPrice: 0n,
  cacheHitPrice: null,
});

export const VECTOR = [0.5, -0.25, 1];
export const BASE64 = encodeVector(VECTOR);
export const USAGE = { prompt_tokens: 5, total_tokens: 5 };

/** An upstream's answer with these vectors. */
export function answer(vectors: readonly unknown[], more: Record<string, unknown> = { usage: USAGE }): Script {
  const data = vectors.map((embedding, index) => ({ object: "embedding", index, embedding }));
  return json(JSON.stringify({ object: "list", data, model: "embed-2026", ...more }));
}

/** A fresh bench for each test of a file, on one upstream. */
export function useEmbeddings() {
  let upstream: ScriptedUpstream;
  let bench: Bench;
  const upstreams = () => [upstreamOf("local", upstream.baseUrl), upstreamOf("demo", "demo:", { kind: "demo" })];
  const demo = { ...EMBED, id: "demo/embed", routes: [{ upstream: "demo", model: "embed" }] };
  beforeAll(async () => {
    upstream = await startScriptedUpstream();
  });
  beforeEach(() => {
    bench = openBench({ models: [EMBED, modelOf("local/chat"), demo], upstreams: upstreams() });
  });
  afterAll(() => upstream.stop());

  async function embedBytes(body: Buffer, sink = new FakeSink()) {
    const call = { endpoint: "embeddings", requestId: uuidv7(), receivedAtMs: Date.now(), key: KEY, body } as const;
    let [outcome, error]: [ChatOutcome | null, unknown] = [null, null];
    try {
      outcome = await bench.gateway.answerChat(call, sink);
    } catch (thrown) {
      error = thrown;
    }
    return { sink, outcome, error };
  }

  return {
    get upstream() {
      return upstream;
    },
    get bench() {
      return bench;
    },
    /** From now on the bench sells this model alone. */
    sell(model: typeof EMBED): void {
      bench = openBench({ models: [model], upstreams: upstreams() });
    },
    embedBytes,
    embed: (fields: Record<string, unknown>, sink = new FakeSink()) =>
      embedBytes(Buffer.from(JSON.stringify({ model: "local/embed", ...fields })), sink),
  };
}
