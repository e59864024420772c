import { expect, it } from "vitest";
import { loggableEvent, scrubSecrets } from "./loggable-event.ts";

it("has the causes of a failure down to the first", () => {
  const refused = Object.assign(new Error("connect ECONNREFUSED 10.0.0.7:443"), { code: "ECONNREFUSED" });
  const cause = new Error("the call failed", { cause: refused });
  const failure = { kind: "unbilled", reason: "before the request was sent", cause } as const;
  const line = JSON.parse(
    JSON.stringify(loggableEvent({ kind: "attempt_failed", requestId: "r", upstream: "local", failure })),
  ) as unknown;
  expect(line).toMatchObject({
    kind: "attempt_failed",
    requestId: "r",
    upstream: "local",
    failure: "unbilled",
    reason: "before the request was sent",
    err: {
      type: "Error",
      message: "the call failed",
      stack: expect.stringContaining("loggable-event.test"),
      cause: { code: "ECONNREFUSED", message: "connect ECONNREFUSED 10.0.0.7:443" },
    },
  });
});

it("has a cause that is no error, and ends where causes go in a circle", () => {
  expect(loggableEvent({ kind: "settlement_failed", requestId: "r", cause: "gone" })).toMatchObject({
    err: { message: "gone" },
  });
  const circle = new Error("round");
  circle.cause = circle;
  expect(JSON.stringify(loggableEvent({ kind: "answer_failed", requestId: "r", cause: circle }))).toContain("round");
});

it.each([
  ["https://user:hunter2@api.example.com/v1 is away", "https://[secret]@api.example.com/v1 is away"],
  ["https://user@corp:hunter2@api.example.com is away", "https://[secret]@api.example.com is away"],
  ["a://:// b://c://d@e", "a://:// b://c://[secret]@e"],
  ["postgres://saldo:p%40ss@db:5432/saldo", "postgres://[secret]@db:5432/saldo"],
  ["GET /v1?key=AIzaSyD-abcdefgh&x=1", "GET /v1?key=[secret]&x=1"],
  ["authorization: Bearer sk-live_0123456789", "authorization: Bearer [secret]"],
  ["bad key gw_0123456789abcdef", "bad key [secret]"],
  ["connect ECONNREFUSED 127.0.0.1:9102", "connect ECONNREFUSED 127.0.0.1:9102"],
])("leaves no credential in %s", (text, clean) => {
  expect(scrubSecrets(text)).toBe(clean);
});

it("cuts a long text before it looks at it, and shows no credential that the cut has parted", () => {
  expect(scrubSecrets("a-".repeat(500_000))).toBe("a-".repeat(2_000));
  const parted = `${"sk-".padEnd(1_999, "x")} `.repeat(4).slice(0, 7_990);
  expect(scrubSecrets(`${parted} https://user:hunter2hunter2@api.example.com`)).toMatch(
    /^(?:\[secret\] ?){4} https:\/\/\[secret\]$/,
  );
});
