// A gateway over the scripted upstream, for the tests of what upstreams do.

import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { type Script, type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";
import { type Bench, chat, FakeSink, modelOf, openBench, upstreamOf } from "./support.ts";

export const WHOLE = chat("local/m", "hi");
export const STREAMED = chat("local/m", "hi", { stream: true, stream_options: { include_usage: true } });

/** Sets up one upstream per file and a fresh gateway per test. */
export function usePlayground() {
  const state: { upstream: ScriptedUpstream | null; bench: Bench | null } = { upstream: null, bench: null };
  beforeAll(async () => {
    state.upstream = await startScriptedUpstream();
  });
  afterAll(async () => {
    await state.bench?.upstreams.close();
    await state.upstream?.stop();
  });
  const playground = {
    get upstream(): ScriptedUpstream {
      if (state.upstream === null) throw new Error("the upstream is not up yet");
      return state.upstream;
    },
    get bench(): Bench {
      if (state.bench === null) throw new Error("the gateway is not up yet");
      return state.bench;
    },
    set bench(bench: Bench) {
      state.bench = bench;
    },
    /** Runs one request against a script; its hold is settled exactly once in every case. */
    async play(script: Script, body: unknown = WHOLE, sink = new FakeSink()) {
      playground.upstream.run(script);
      const result = await playground.bench.send(body, sink);
      const { ledger } = playground.bench;
      expect(ledger.open.size).toBe(0);
      expect(ledger.settlements).toHaveLength(1);
      return { ...result, calls: playground.upstream.received.length, settlement: ledger.settlement };
    },
  };
  beforeEach(() => {
    const config = { firstByteTimeoutMs: 300, idleTimeoutMs: 300, apiKeyEnv: "LOCAL_API_KEY" };
    playground.bench = openBench({
      models: [modelOf("local/m"), modelOf("local/embed", { kind: "embeddings" })],
      upstreams: [upstreamOf("local", playground.upstream.baseUrl, config)],
      deps: { slowestTokensPerSecond: 1e9 },
    });
  });
  return playground;
}
