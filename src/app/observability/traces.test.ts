import { InMemorySpanExporter } from "@opentelemetry/sdk-trace";
import { afterEach, describe, expect, it } from "vitest";
import { RateLimited } from "../../kernel/errors.ts";
import { traced, type TracedPort } from "../../kernel/tracing.ts";
import type { TraceSettings } from "../config/traces.ts";
import { openTraces, type Traces, withTraceIds } from "./traces.ts";

const THEIRS = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";
const header = (flags: string): string => `00-${THEIRS}-${PARENT}-${flags}`;
const exporter = new InMemorySpanExporter();
const logged: unknown[] = [];
const logger = { warn: (facts: unknown) => void logged.push(facts) };
let traces: Traces;

function open({ share, trusts = [] }: { share: number; trusts?: TracedPort[] }): Traces {
  const settings: TraceSettings = { endpoint: "console", headers: {}, share, trusts: new Set(trusts) };
  exporter.reset();
  traces = openTraces(settings, { logger, exporter: Object.assign(exporter, { shutdown: () => Promise.resolve() }) });
  return traces;
}
afterEach(() => traces.stop());

const call = (traceparent: string | null, port: TracedPort = "http") => ({
  method: "saldo.gateway.v1.GatewayService/ListModels",
  requestId: "r",
  port,
  traceparent,
});

describe("a caller that is not trusted", () => {
  it("cannot have its calls sampled", () => {
    open({ share: 0, trusts: ["grpc"] });
    expect(traces.receive(call(header("01")))).toBeNull();
  });

  it("gets a trace of ours that links to its own, whatever its flag", async () => {
    for (const flags of ["00", "01"]) {
      open({ share: 1 });
      traces.receive(call(header(flags)))?.end();
      await traces.stop();
      const [span] = exporter.getFinishedSpans();
      expect(span?.spanContext().traceId).not.toBe(THEIRS);
      expect(span?.parentSpanContext).toBeUndefined();
      expect(span?.links).toMatchObject([{ context: { traceId: THEIRS, spanId: PARENT } }]);
    }
  });

  it("is not believed a header that is no traceparent", async () => {
    const zero = "0".repeat(32);
    const wrong = [
      "",
      "x",
      `00-${zero}-${PARENT}-01`,
      `ff-${THEIRS}-${PARENT}-01`,
      `${header("01")}-x`,
      header("01").toUpperCase(),
    ];
    open({ share: 1, trusts: ["http"] });
    for (const each of wrong) traces.receive(call(each))?.end();
    await traces.stop();
    const spans = exporter.getFinishedSpans();
    expect(spans).toHaveLength(wrong.length);
    for (const span of spans) expect([span.links, span.parentSpanContext]).toEqual([[], undefined]);
  });
});

describe("a caller of a trusted port", () => {
  it("continues its trace, and decides whether it is sampled", async () => {
    open({ share: 0, trusts: ["grpc"] });
    expect(traces.receive(call(header("00"), "grpc"))).toBeNull();
    traces.receive(call(header("01"), "grpc"))?.end();
    await traces.stop();
    const [span] = exporter.getFinishedSpans();
    expect(span?.spanContext().traceId).toBe(THEIRS);
    expect(span?.parentSpanContext).toMatchObject({ traceId: THEIRS, spanId: PARENT, isRemote: true });
  });

  it("is sampled by the share without a trace of its own", () => {
    open({ share: 0, trusts: ["grpc"] });
    expect(traces.receive(call(null, "grpc"))).toBeNull();
    expect(open({ share: 1, trusts: ["grpc"] }).receive(call(null, "grpc"))).not.toBeNull();
  });
});

describe("a trace", () => {
  it("has parts that say why they failed, and attributes until its end", async () => {
    open({ share: 1 });
    const span = traces.receive(call(null));
    const failing = traced(span, "admit", () => Promise.reject(new RateLimited({ retryAfterSeconds: 1, limit: 1 })));
    await expect(failing).rejects.toThrow(RateLimited);
    expect(await traced(span, "settle", () => Promise.resolve(7))).toBe(7);
    const attempt = span?.begin("chat m", "client");
    attempt?.stop("stream_broken");
    attempt?.set({ "gen_ai.usage.output_tokens": 3 });
    attempt?.end();
    span?.end();
    await traces.stop();
    const spans = exporter.getFinishedSpans();
    expect(spans.map(({ name, attributes }) => [name, attributes["error.type"]])).toEqual([
      ["admit", "rate_limit"],
      ["settle", undefined],
      ["chat m", "stream_broken"],
      ["saldo.gateway.v1.GatewayService/ListModels", undefined],
    ]);
    expect(spans[2]?.attributes["gen_ai.usage.output_tokens"]).toBe(3);
    const root = spans[3]?.spanContext();
    expect(spans.slice(0, 3).map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual([
      root?.spanId,
      root?.spanId,
      root?.spanId,
    ]);
  });

  it("is in the lines of the log that name its call, while it runs", () => {
    open({ share: 1 });
    const span = traces.receive(call(null));
    const lines: unknown[] = [];
    const write = (facts: unknown): void => void lines.push(facts);
    const log = withTraceIds({ info: write, warn: write, error: write, fatal: write }, traces.traceIdOf);
    log.info({ event: "call.ended", requestId: "r" }, "call");
    log.error({ event: "call.fault", requestId: "another" }, "fault");
    span?.end();
    log.warn({ event: "job.failed", requestId: "r" }, "ended");
    const traceId = span?.traceparent.split("-")[1];
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(lines).toEqual([
      { event: "call.ended", requestId: "r", traceId },
      { event: "call.fault", requestId: "another" },
      { event: "job.failed", requestId: "r" },
    ]);
  });
});
