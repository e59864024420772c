import { describe, expect, it } from "vitest";
import { failureOfStatus } from "../../src/gateway/upstreams/http/failures.ts";
import { scrub } from "../../src/gateway/upstreams/http/scrub.ts";
import { AGAINST_POLICY, NEITHER, nested, TOO_LONG } from "./refusal-bodies.ts";

const failureOf = (status: number, body: unknown) =>
  failureOfStatus(status, typeof body === "string" ? body : JSON.stringify(body), undefined);

describe("a refusal", () => {
  it.each(TOO_LONG)("reports that the input is too long: %s, %i", (_upstream, status, body) => {
    expect(failureOf(status, body)).toMatchObject({ kind: "refused", refusedFor: "context_length_exceeded" });
  });

  it.each(AGAINST_POLICY)("reports that its content is refused: %s, %i", (_upstream, status, body) => {
    expect(failureOf(status, body)).toMatchObject({ kind: "refused", refusedFor: "content_policy_violation" });
  });

  it.each(NEITHER)("has no such reason: %s, %i", (_upstream, status, body) => {
    const failure = failureOf(status, body);
    expect(failure.kind).toBe("refused");
    expect(failure).not.toHaveProperty("refusedFor");
  });

  it("is none where a 403 is about our own credential or account", () => {
    for (const message of ["Invalid API key", "Your account was flagged for violating our usage policies"]) {
      expect(failureOf(403, nested({ message })).kind).toBe("unbilled");
    }
  });

  it("has the message of the provider behind a gateway", () => {
    const raw = '{"error":{"message":"Content Exists Risk"}}';
    const body = nested({ message: "Provider returned error", code: 400, metadata: { raw } });
    expect(failureOf(400, body).message).toBe("Content Exists Risk");
  });

  it("is read in little time, whatever the upstream sends", () => {
    const startedAt = performance.now();
    failureOf(400, nested({ message: "exceed only maximum ".repeat(3_000) }));
    expect(performance.now() - startedAt).toBeLessThan(500);
  });
});

describe("a message that is shown", () => {
  it("holds no address, also of a host without a well-known ending", () => {
    expect(scrub("connect to internal.corp:8080 failed, see localhost:3000 for messages[0].content: 5")).toBe(
      "connect to [address] failed, see [address] for messages[0].content: 5",
    );
  });

  it.each([
    ["dial tcp [::1]:9000: connection refused", "dial tcp [address]: connection refused"],
    ["to [fe80::1%eth0]:80, fd00::7 and 2001:db8::1.", "to [address], [address] and [address]"],
    ["host=db:5432 user=x", "host=[address] user=x"],
    ['"vllm-7.gpu:8000/v1/chat" is away', '"[address]" is away'],
    ["no route to vllm.gpu.rack, 10.0.0.7 or 10.0.0.8:8080.", "no route to [address], [address] or [address]"],
    ["resolve gateway.svc.cluster.local: NXDOMAIN", "resolve [address]: NXDOMAIN"],
    ["müller.örtlich:8443 and xn--mller-kva.example", "[address] and [address]"],
    ["mail ops@provider.example.", "mail [address]"],
    ["see (https://docs.corp/a?b=(c)&d), please.", "see ([address]), please"],
    ["postgres://u:p@db/x failed", "[address] failed"],
    ["File '/usr/lib/python3/engine.py', line 12", "File '[path]', line 12"],
    ["in ~/models/x and C:\\models\\x", "in [path] and [path]"],
    ["Incorrect API key: sk-a***xyz9.", "Incorrect API key: [secret]"],
    ["Authorization: Bearer abc.def, ok", "Authorization: Bearer [secret] ok"],
    ["token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx", "token [secret]"],
    ["a\u0000b\r\n  c\t", "a b c"],
    ["  ", null],
  ])("leaves no address, path or key in %j", (text, shown) => {
    expect(scrub(text)).toBe(shown);
  });

  it.each([
    "messages[0].content: 5 tokens, tools.0.function.name and response_format.json_schema are wrong",
    "llama-3.1-8b-instruct takes 0.5 to 2.0, e.g. at 12:30:05, 16:9 or v1.2.3",
    "the model meta/llama-3.1 takes either and/or both; wrong value.Please change 'max_tokens' (400)",
  ])("can still be read: %s", (text) => {
    expect(scrub(text)).toBe(text);
  });

  it("is cut, also where what is behind the cut is half a key", () => {
    expect(scrub("word ".repeat(1_000))).toBe(`${"word ".repeat(60)}…`);
    const before = `${"10.0.0.1 ".repeat(221)}abcdef`;
    expect(scrub(`${before}sk-${"x".repeat(40)}`)).not.toContain("sk-");
  });
});
