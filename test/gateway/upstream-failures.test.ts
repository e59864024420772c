import { describe, expect, it } from "vitest";
import { UpstreamBusy, ValidationError } from "../../src/kernel/errors.ts";
import { STREAMED, usePlayground, WHOLE } from "./playground.ts";
import { chunk, completion, json, type Script, stream, usageChunk, wire } from "./scripted-upstream.ts";
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
  ])("are retried once and then answered with upstream_busy: %s", async (_name, script, seconds) => {
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

  const ROLE = chunk({ role: "assistant", content: "" });
  const usage = { prompt_tokens: 11, completion_tokens: 0, total_tokens: 11 };
  const overloaded = { message: "overloaded", code: 502 };
  const ERROR = JSON.stringify({ error: overloaded });
  it.each<[string, Script, unknown]>([
    ["504, where something in front of it gave up waiting", json("{}", 504), WHOLE],
    ["524", json("<html></html>", 524), WHOLE],
    ["504 for a stream", json("{}", 504), STREAMED],
    ["an error 504 with status 200", json('{"error":{"message":"timeout","code":504}}'), WHOLE],
    ["an error 524 in a stream", stream(wire(['{"error":{"message":"timeout","code":524}}'])), STREAMED],
    ["an error beside usage", json(JSON.stringify({ error: overloaded, usage })), WHOLE],
    ["an error behind usage", stream(wire([chunk({ role: "assistant" }, null, { usage }), ERROR])), STREAMED],
    ["an error behind usage alone", stream(wire([ROLE, usageChunk(usage), ERROR])), STREAMED],
    ["an error beside usage in a stream", stream(wire([ROLE, JSON.stringify({ error: overloaded, usage })])), STREAMED],
    ["a cut inside a comment", stream(": OPENROUTER PROCESSING\n\n: OPENROUTER PROC"), STREAMED],
    ["a cut inside the first comment", stream(": OPEN"), STREAMED],
    ["a cut inside the name of a field", stream(": OPENROUTER PROCESSING\n\nda"), STREAMED],
    ["a cut inside an event without data", stream("event: message\n"), STREAMED],
  ])("are not retried when the upstream has perhaps worked on the request: %s", async (_name, script, body) => {
    const played = await playground.play(script, body);
    expect(played.error).toBeInstanceOf(UpstreamBusy);
    expect(played.calls).toBe(1);
    expect(played.settlement).toMatchObject({ basis: "free", cost: 0n });
    expect(played.settlement.unbilledCost).toBeGreaterThan(0n);
  });

  it.each<[string, Script]>([
    ["an error behind a role", stream(wire([ROLE, ERROR]))],
    ["an error behind usage of nothing", stream(wire([usageChunk({ prompt_tokens: 0, completion_tokens: 0 }), ERROR]))],
    ["a page where events were announced", stream("<html><body>Sign in</body></html>")],
    ["words where events were announced", stream("error: no healthy upstream")],
  ])("are retried in a stream where no model has worked on the request: %s", async (_name, script) => {
    const { error, calls, settlement } = await playground.play(script, STREAMED);
    expect(error).toBeInstanceOf(UpstreamBusy);
    expect(calls).toBe(2);
    expect(settlement.unbilledCost ?? 0n).toBe(0n);
  });

  it.each([400, 413, 422])("become our 400 with the upstream's message, scrubbed: %i", async (status) => {
    const message = "Too long, see https://api.example.com/limits?k=1, key sk-live_abcdef0123456789 at 10.0.0.7:8080";
    const { error, calls, settlement } = await playground.play(json(JSON.stringify({ error: { message } }), status));
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as ValidationError).details).toEqual([
      { field: "", rule: "upstream", message: "Too long, see [address], key [secret] at [address]" },
    ]);
    expect(calls).toBe(1);
    expect(settlement.basis).toBe("free");
  });

  it.each([
    ["context_length_exceeded", 400, { message: "Too long", code: "context_length_exceeded" }],
    ["content_policy_violation", 400, { message: "Content Exists Risk" }],
    ["content_policy_violation", 403, { message: "Flagged", metadata: { flagged_input: "x" } }],
  ])("have the reason %s of the upstream, with %i, whole and streamed", async (reason, status, told) => {
    const script = json(JSON.stringify({ error: told }), status);
    const { error, calls, settlement } = await playground.play(script);
    expect(error).toBeInstanceOf(ValidationError);
    expect(error).toMatchObject({ code: "validation_error", reason });
    expect(calls).toBe(1);
    expect(settlement).toMatchObject({ basis: "free", cost: 0n });
    const streamed = await playground.bench.send(STREAMED);
    expect(streamed.error).toMatchObject({ code: "validation_error", reason });
    expect(streamed.sink.head).toBeNull();
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
