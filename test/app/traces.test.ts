// Traces of the real service, as a collector and an upstream get them.

import { Client, credentials } from "@grpc/grpc-js";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import {
  ordinaryEvents,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
  wire,
} from "../gateway/scripted-upstream.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import { createTestDatabase } from "../setup/test-database.ts";
import { callUnary } from "./clients/grpc-calls.ts";
import { type ServedSaldo, serveSaldo } from "./clients/served-saldo.ts";

type Value = { stringValue?: string; intValue?: number; doubleValue?: number; boolValue?: boolean };
type Span = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: Value }[];
  readonly links?: readonly { readonly traceId: string }[];
  readonly status: { readonly code?: number };
};
const [SERVER, CLIENT] = [2, 3];
const THEIRS = "4bf92f3577b34da6a3ce929d0e0e4736";
const MARKER = "marker-of-a-secret-text";

let collector: ScriptedUpstream;
let served: ServedSaldo;
const sent: string[] = [];
beforeAll(async () => {
  collector = await startScriptedUpstream();
  collector.run((response, { body }) => {
    sent.push(body.toString());
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  served = await serveSaldo({
    models: { m: { price: { input: "5000", output: "15000", cache_hit: "950" } } },
    settings: {
      SALDO_TRACES_ENDPOINT: `${collector.baseUrl}/traces`,
      SALDO_TRACES_PERCENT: "100",
      SALDO_LOG_LEVEL: "info",
    },
  });
});
afterAll(async () => {
  await served.stop();
  await collector.stop();
});

function spans(): Span[] {
  type Export = { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
  return sent.flatMap((text) =>
    (JSON.parse(text) as Export).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((each) => each.spans)),
  );
}
const attributesOf = ({ attributes }: Span): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/** The spans of a request, once all of them have come. */
async function traceOf(requestId: string, parts: number): Promise<Span[]> {
  const rootOf = (): Span | undefined => spans().find((each) => attributesOf(each)["saldo.request_id"] === requestId);
  await expect.poll(rootOf).toBeDefined();
  const ofTrace = (): Span[] => spans().filter(({ traceId }) => traceId === rootOf()?.traceId);
  // They may come in several pieces.
  await expect.poll(() => ofTrace().length).toBe(parts);
  return ofTrace();
}

describe("traces", () => {
  it("show a streamed request from its headers to its settlement, and nothing of its content", async () => {
    const customer = await served.customer();
    served.upstream.run(stream(wire(ordinaryEvents())));
    const answer = await fetch(`${served.baseUrl}/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${customer.key}`,
        "content-type": "application/json",
        traceparent: `00-${THEIRS}-00f067aa0ba902b7-01`,
        tracestate: `vendor=${MARKER}`,
        baggage: `customer=${MARKER}`,
      },
      body: JSON.stringify({ model: "local/m", stream: true, messages: [{ role: "user", content: MARKER }] }),
    });
    expect(await answer.text()).toContain("[DONE]");
    const requestId = answer.headers.get("x-request-id") ?? "";
    const trace = await traceOf(requestId, 4);
    expect(trace.map(({ name }) => name).toSorted()).toEqual([
      "admit",
      "chat m-2026",
      "saldo.gateway.v1.GatewayService/CreateChatCompletion",
      "settle",
    ]);
    const [root] = trace.filter(({ kind }) => kind === SERVER);
    expect(root?.traceId).not.toBe(THEIRS);
    expect(root?.links?.map(({ traceId }) => traceId)).toEqual([THEIRS]);
    const parents = trace.flatMap((each) => (each === root ? [] : [each.parentSpanId]));
    expect(parents).toEqual([root?.spanId, root?.spanId, root?.spanId]);
    const [attempt] = trace.filter(({ kind }) => kind === CLIENT);
    expect(attempt === undefined ? {} : attributesOf(attempt)).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "m-2026",
      "gen_ai.request.stream": true,
      "gen_ai.usage.input_tokens": 11,
      "gen_ai.usage.output_tokens": 3,
      "saldo.upstream": "local",
    });

    // The upstream gets the place in the trace alone.
    const [received] = served.upstream.received;
    expect(received?.headers["traceparent"]).toBe(`00-${attempt?.traceId}-${attempt?.spanId}-01`);
    expect(received?.headers["tracestate"]).toBeUndefined();
    expect(received?.headers["baggage"]).toBeUndefined();
    const exported = sent.join("\n");
    expect(exported).toContain(requestId);
    for (const secret of [MARKER, customer.key, "@test.example"]) expect(exported).not.toContain(secret);

    const line = served.server.log.find((each) => each["event"] === "call.ended" && each["requestId"] === requestId);
    expect(line?.["traceId"]).toBe(root?.traceId);
  });

  it("show each attempt of a request that fails, over gRPC, and why", async () => {
    const customer = await served.customer();
    served.upstream.run((response) => void response.writeHead(503).end(`{"error":"${MARKER}"}`));
    const client = new Client(served.server.grpcAddress, credentials.createInsecure());
    const request = { model: "local/m", messages: [{ role: "user", content: MARKER }] };
    const calling = callUnary(client, GatewayService.method.createChatCompletion, { request, key: customer.key });
    await expect(calling).rejects.toThrow();
    client.close();
    const failedRoot = (): Span | undefined => spans().find(({ kind, status }) => kind === SERVER && status.code === 2);
    await expect.poll(failedRoot).toBeDefined();
    const failed = spans().filter(({ traceId, status }) => traceId === failedRoot()?.traceId && status.code === 2);
    const attempts = failed.filter(({ kind }) => kind === CLIENT).map(attributesOf);
    expect(attempts.map((each) => [each["saldo.attempt"], each["error.type"]])).toEqual([
      [1, "unbilled"],
      [2, "unbilled"],
    ]);
    const [root] = failed.filter(({ kind }) => kind === SERVER).map(attributesOf);
    expect(root?.["error.type"]).toBe("upstream_busy");
    expect(sent.join("\n")).not.toContain(MARKER);
  });

  it("are named by the latency of sampled requests, in OpenMetrics alone", async () => {
    const customer = await served.customer();
    served.upstream.run(stream(wire(ordinaryEvents())));
    const answer = await fetch(`${served.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${customer.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "local/m", stream: true, messages: [{ role: "user", content: "hello" }] }),
    });
    await answer.text();
    const [root] = (await traceOf(answer.headers.get("x-request-id") ?? "", 4)).filter(({ kind }) => kind === SERVER);
    const scrape = async (accept: string) => {
      const scraped = await fetch(`${served.server.metricsUrl}/metrics`, { headers: { accept } });
      return { type: scraped.headers.get("content-type"), text: await scraped.text() };
    };
    const open = await scrape("application/openmetrics-text;version=1.0.0,text/plain;q=0.5");
    expect(open.type).toMatch(/^application\/openmetrics-text; version=1\.0\.0/);
    expect(open.text).toMatch(
      new RegExp(
        `^saldo_chat_duration_seconds_bucket\\{le="[\\d.+Inf]+"\\} \\d+ # \\{trace_id="${root?.traceId}"\\} `,
        "m",
      ),
    );
    expect(open.text).toMatch(/\n# EOF\n$/);
    const plain = await scrape("text/plain");
    expect(plain.type).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(plain.text).toMatch(/^saldo_chat_requests_total\{outcome="answered"\} \d+$/m);
    expect(plain.text).not.toContain("trace_id");
  });

  it("show background work and calls of REST", async () => {
    const customer = await served.customer();
    const url = `${served.baseUrl}/balance`;
    expect((await fetch(url, { headers: { authorization: `Bearer ${customer.key}` } })).status).toBe(200);
    const names = (): string[] => spans().map(({ name }) => name);
    await expect.poll(names).toContain("saldo.billing.v1.BillingService/GetBalance");
    await expect.poll(names).toContain("job watch the database");
  });
});

describe("a process without traces", () => {
  it("loads nothing of OpenTelemetry's SDK, and one with traces does", async () => {
    const opened = await createTestDatabase();
    const folder = await mkdtemp(join(tmpdir(), "saldo-traces-"));
    const recorder = new URL("../setup/record-imports.ts", import.meta.url).href;
    const settings = {
      DATABASE_URL: opened.url,
      SALDO_DATA_DIR: folder,
      SALDO_TEST_IMPORTS: join(folder, "imports"),
      NODE_OPTIONS: `--import=${recorder}`,
    };
    const loaded = async (more: Record<string, string>): Promise<number> => {
      const saldo = await SaldoProcess.start({ ...settings, ...more });
      expect(await saldo.stop()).toBe(0);
      const urls = (await readFile(join(folder, "imports"), "utf8")).split("\n");
      expect(urls.length).toBeGreaterThan(100);
      return urls.filter((url) => /\/@opentelemetry\/(?!api\/|semantic-conventions\/)/.test(url)).length;
    };
    expect(await loaded({})).toBe(0);
    expect(await loaded({ SALDO_TRACES_ENDPOINT: "http://127.0.0.1:9/v1/traces" })).toBeGreaterThan(10);
    await opened.drop();
    await rm(folder, { recursive: true });
  });
});
