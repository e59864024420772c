import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startListener, type Listener } from "./child.ts";
import { runLoad } from "./load.ts";
import { costOfRequest } from "./price.ts";
import { meterProcesses } from "./process-meter.ts";
import { runSseLoad } from "./sse-load.ts";

let upstream: Listener;
let proxy: Listener;

beforeAll(async () => {
  upstream = await startListener("mock-upstream.ts");
  proxy = await startListener("reference-proxies.ts", ["raw", "--upstream", upstream.origin.href]);
});
afterAll(() => Promise.all([proxy.stop(), upstream.stop()]));

const load = () => ({
  origin: proxy.origin,
  keys: ["gw_test"],
  bodyKb: 0,
  connections: 4,
  warmUpSeconds: 0.1,
  seconds: 0.2,
  meter: () => meterProcesses({ root: proxy.pid }),
});

async function upstreamRequests(): Promise<number> {
  const counters = await (await fetch(new URL("/bench/counters", upstream.origin))).json();
  return Number(Object(counters).requests);
}

describe("the loads", () => {
  it("count every answer, none twice", async () => {
    const before = await upstreamRequests();
    const result = await runLoad(load());
    expect(result.failures.first).toBeNull();
    expect(result.completed).toBeGreaterThan(0);
    expect((await upstreamRequests()) - before).toBe(result.answered);
    expect(result.metered.cpuSeconds).toBeGreaterThan(0);
  });

  it("wait for their streams to end, and detect cut ones", async () => {
    await fetch(new URL("/bench/configure?chunks=5&delayMs=10&cutAfter=0", upstream.origin));
    const before = await upstreamRequests();
    const whole = await runSseLoad(load());
    expect(whole).toMatchObject({ truncated: 0, withoutUsage: 0 });
    expect((await upstreamRequests()) - before).toBe(whole.answered);
    await fetch(new URL("/bench/configure?cutAfter=2", upstream.origin));
    const cut = await runSseLoad(load());
    expect(cut.answered).toBe(0);
    expect(cut.failures.count).toBeGreaterThan(0);
  });
});

describe("the price", () => {
  it("equals the result by hand, rounded up", () => {
    // 112 × 5000 + 128 × 947.123457 + 300 × 15000 = 5 181 231.802496 rupiah per million, and as many micro-rupiah per
    // request.
    expect(costOfRequest()).toBe(5_181_232n);
  });
});
