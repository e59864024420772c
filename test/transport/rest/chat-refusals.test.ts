// Requests that are not valid, in the two shapes an error can have.

import { afterEach, expect, test } from "vitest";
import type { Gateway } from "../../../src/gateway/chat.ts";
import { CHAT_FORMAT } from "../../../src/gateway/formats/chat/chat-format.ts";
import { UpstreamBusy, ValidationError } from "../../../src/kernel/errors.ts";
import { BEARER, RATE, startServers, type Running } from "../fakes.ts";

let running: Running | undefined;
afterEach(async () => {
  await running?.servers.close(1_000);
  running = undefined;
});

/** The body of a chat request that the gateway refuses with an error. */
async function refusal(error: ValidationError, headers: Record<string, string> = {}): Promise<unknown> {
  const answerChat = async (): Promise<never> => {
    throw error;
  };
  running ??= await startServers({ gateway: { answerChat } });
  const response = await ask(running, headers);
  expect(response.status).toBe(400);
  return response.json();
}

function ask({ http }: Running, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${http}/v1/chat/completions`, {
    method: "POST",
    body: "{}",
    headers: { "content-type": "application/json", authorization: BEARER, ...headers },
  });
}

const OPENAI = { "x-saldo-error-format": "openai" };

test.each(["context_length_exceeded", "content_policy_violation"] as const)(
  "%s is the code of a request that is not valid, in both shapes",
  async (reason) => {
    const error = new ValidationError([{ field: "", rule: "upstream", message: "No" }], { reason });
    expect(await refusal(error)).toMatchObject({ error: "validation_error", code: reason });
    expect(await refusal(error, OPENAI)).toMatchObject({ error: { type: "invalid_request_error", code: reason } });
  },
);

test("any other request that is not valid has no such code", async () => {
  const error = new ValidationError([{ field: "n", rule: "range", message: "No" }]);
  expect(await refusal(error)).not.toHaveProperty("code");
  expect(await refusal(error, OPENAI)).toMatchObject({ error: { code: "validation_error", param: "n" } });
});

test("an error inside a stream has a message, a code and its facts, and no end of the answer", async () => {
  const answerChat: Gateway["answerChat"] = async (_call, sink) => {
    sink.begin({ rate: RATE, demo: false, origin: "demo" });
    sink.pass(Buffer.from("data: 1\n\n"), CHAT_FORMAT);
    sink.keepAlive();
    sink.fail(new UpstreamBusy(7));
    return "upstream_busy";
  };
  running = await startServers({ gateway: { answerChat } });
  const response = await ask(running);
  const [passed, comment, error, ...rest] = (await response.text()).split("\n\n");
  expect([response.status, passed, comment, rest]).toEqual([200, "data: 1", ": keep-alive", [""]]);
  expect(JSON.parse(error?.replace("data: ", "") ?? "")).toEqual({
    error: { message: expect.any(String), type: "server_error", code: "upstream_busy", retry_after: 7 },
  });
});
