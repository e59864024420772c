import { describe, expect, it } from "vitest";
import { UpstreamBusy, ValidationError } from "../../src/kernel/errors.ts";
import { STREAMED, usePlayground } from "./playground.ts";
import { completion, json, type Script, stream, wire } from "./scripted-upstream.ts";
import { modelOf, openBench, upstreamOf } from "./support.ts";

const playground = usePlayground();
const cutSocket: Script = (response) => void response.socket?.destroy();

describe("failures before anything reached the client", () => {
  const html = "<html><body>Sign in to the network</body></html>";
  it.each<[string, Script, number]>([
    ["429", json("{}", 429, { "retry-after": "17" }), 17],
    ["429 with a wait far too long", json("{}", 429, { "retry-after": "86400" }), 60],
    ["429 with a wait in milliseconds", json("{}", 429, { "retry-after-ms": "1500" }), 2],
    ["401", json('{"error":{"message":"bad key sk-secret"}}', 401), 5],
    ["403", json("{}", 403), 5],
    ["404", json("{}", 404), 5],
    ["500", json("{}", 500), 5],
    ["503", json("{}", 503), 5],
    ["a redirect", json("", 302, { location: "http://169.254.169.254/" }), 5],
    [
      "a page with status 200",
      (response) => void response.writeHead(200, { "content-type": "text/html" }).end(html),
      5,
    ],
    ["an error with status 200", json('{"error":{"message":"overloaded","code":502}}'), 5],
  ])("are retried once and then told as upstream_busy: %s", async (_name, script, seconds) => {
    const { error, sink, calls, settlement } = await playground.play(script);
    expect(error).toBeInstanceOf(UpstreamBusy);
    expect(error).toMatchObject({ retryAfterSeconds: seconds });
    expect(calls).toBe(2);
    expect(sink.head).toBeNull();
    expect(settlement).toMatchObject({ basis: "free", cost: 0n });
  });

  it.each<[string, Script]>([
    ["the connection is reset after the request", cutSocket],
    ["the first byte does not come in time", () => undefined],
    [
      "the body is cut",
      (response) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": "500" });
        response.write(completion().slice(0, 80), () => response.socket?.destroy());
      },
    ],
    ["the answer is no completion", json("{}")],
    ["the answer is empty", json("")],
    [
      "the answer ended in an error",
      json(completion({ choices: [{ index: 0, message: { content: "" }, finish_reason: "error" }] })),
    ],
  ])("are not retried when they may have been billed, and cost the client nothing: %s", async (_name, script) => {
    const { error, calls, settlement } = await playground.play(script);
    expect(error).toBeInstanceOf(UpstreamBusy);
    expect(calls).toBe(1);
    expect(settlement).toMatchObject({ basis: "free", cost: 0n });
  });

  it.each([400, 413, 422])("become our 400 with the upstream's message, scrubbed: %i", async (status) => {
    const message = "Too long, see https://api.example.com/limits?k=1, key sk-live_abcdef0123456789 at 10.0.0.7:8080";
    const { error, calls, settlement } = await playground.play(json(JSON.stringify({ error: { message } }), status));
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as ValidationError).details).toEqual([
      { field: "", rule: "upstream", message: "Too long, see [address] key [secret] at [address]" },
    ]);
    expect(calls).toBe(1);
    expect(settlement.basis).toBe("free");
  });

  it("are hidden when the retry succeeds", async () => {
    const { error, calls, settlement } = await playground.play((response, received, call) =>
      call === 1 ? json("{}", 503)(response, received, call) : json(completion())(response, received, call),
    );
    expect(error).toBeNull();
    expect(calls).toBe(2);
    expect(settlement.basis).toBe("exact");
  });

  it("fall over to the next route, also from an upstream that cannot be reached", async () => {
    playground.bench = openBench({
      models: [
        modelOf("local/m", {
          routes: [
            { upstream: "gone", model: "x" },
            { upstream: "local", model: "y" },
          ],
        }),
      ],
      upstreams: [upstreamOf("gone", "http://127.0.0.1:1/v1"), upstreamOf("local", playground.upstream.baseUrl)],
    });
    const { error, settlement } = await playground.play(json(completion()));
    expect(error).toBeNull();
    expect(settlement).toMatchObject({ upstream: "local", upstreamModel: "y" });
  });

  it("keep a stream from starting: an error as the first event is retried", async () => {
    const { error, sink, calls } = await playground.play(
      stream(wire(['{"error":{"message":"no capacity"}}'])),
      STREAMED,
    );
    expect(error).toBeInstanceOf(UpstreamBusy);
    expect(sink.head).toBeNull();
    expect(calls).toBe(2);
  });

  it("refuse a private address that the operator has not allowed, without a call", async () => {
    playground.bench = openBench({
      models: [modelOf("local/m")],
      upstreams: [
        upstreamOf("local", playground.upstream.baseUrl.replace("127.0.0.1", "localhost"), {
          allowPrivateAddress: false,
        }),
      ],
    });
    const { error, calls } = await playground.play(json(completion()));
    expect(error).toBeInstanceOf(UpstreamBusy);
    expect(calls).toBe(0);
    expect(JSON.stringify(playground.bench.events)).toContain("SALDO_PRIVATE_ADDRESS");
  });
});
