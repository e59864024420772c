// The budget of a member as the member's programs meet it: refused in the form of each protocol over all keys, read at /v1/key, and it
// ends a stream.

import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { issueKey } from "../../../src/keys/issue-key.ts";
import { creditByOperator } from "../../setup/operator-credit.ts";
import { withTransaction } from "../../../src/database/transactions.ts";
import { idr } from "../../../src/kernel/money.ts";
import { chunk, completion, json, stream, usageChunk, wire } from "../../gateway/scripted-upstream.ts";
import { signInPerson } from "../../setup/session-rows.ts";
import { type ServedSaldo, serveSaldo } from "./served-saldo.ts";

// A token costs a rupiah.
const price = { input: "1000000", output: "1000000" };
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const MESSAGES = [{ role: "user", content: "Halo, apa kabar?" }];
const ASK = { model: "local/small", max_tokens: 5, messages: MESSAGES };

let served: ServedSaldo;
beforeAll(async () => {
  served = await serveSaldo({
    models: { small: { price, max_output_tokens: 20 }, long: { price, max_output_tokens: 16_000 } },
  });
});
afterAll(() => served.stop());

/** A person with an account, credit, a budget and two keys. */
async function limitedMember(...options: string[]) {
  const { database } = served;
  const { personId, email, ownAccountId: accountId } = await signInPerson(database.pool);
  const amount = idr(100_000n * 1_000_000n).units;
  await withTransaction(database, (client) => creditByOperator(client, { accountId, amount }));
  const maker = { personId, requireRole: async () => {} };
  const keys = [
    (await issueKey(database, { accountId, name: "first", maker })).secret,
    (await issueKey(database, { accountId, name: "second", maker })).secret,
  ] as const;
  const limit = (...words: string[]) =>
    served.saldo(["member", "budget", "--account", accountId, "--email", email, ...words]);
  await limit(...options);
  return { accountId, keys, limit };
}

function post(path: string, key: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${served.server.httpUrl}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

async function memberBudgetOf(key: string): Promise<Record<string, unknown>> {
  const answer = await fetch(`${served.baseUrl}/key`, { headers: { authorization: `Bearer ${key}` } });
  expect(answer.status).toBe(200);
  const { member_budget: budget } = (await answer.json()) as { member_budget: Record<string, unknown> };
  return budget;
}

test("what one key spends is missing at the other, and a request beyond it is refused in the form of each protocol", async () => {
  const { accountId, keys, limit } = await limitedMember("--budget", "100", "--budget-period", "month");
  const [first, second] = keys;
  expect(await memberBudgetOf(second)).toMatchObject({
    period: "month",
    limit_idr: "100",
    spent_idr: "0",
    held_idr: "0",
    left_idr: "100",
    resets_at: expect.stringMatching(/T17:00:00Z$/) as string,
  });
  served.upstream.run(json(completion({ usage: USAGE })));
  expect((await post("/v1/chat/completions", first, ASK)).status).toBe(200);
  await limit("--budget", "22");
  expect(await memberBudgetOf(second)).toMatchObject({ spent_idr: "15", left_idr: "7" });

  const asked = served.upstream.received.length;
  const facts = {
    left_idr: "7",
    needed_idr: expect.any(String),
    resets_at: expect.stringMatching(/T17:00:00.000Z$/),
  };
  const chat = await post("/v1/chat/completions", second, ASK);
  expect([chat.status, await chat.json()]).toMatchObject([402, { error: "member_budget_exceeded", ...facts }]);
  const openAi = await post("/v1/chat/completions", second, ASK, { "x-saldo-error-format": "openai" });
  const object = { code: "member_budget_exceeded", type: "insufficient_quota", ...facts };
  expect([openAi.status, await openAi.json()]).toMatchObject([402, { error: object }]);
  const messages = await post("/v1/messages", second, ASK);
  expect([messages.status, await messages.json()]).toMatchObject([402, { error: { type: "billing_error" } }]);
  const responses = await post("/v1/responses", second, { model: ASK.model, max_output_tokens: 5, input: "Halo" });
  expect([responses.status, await responses.json()]).toMatchObject([
    402,
    { error: { code: "member_budget_exceeded" } },
  ]);
  const gemini = await post(`/v1beta/models/${ASK.model}:generateContent`, second, {
    contents: [{ role: "user", parts: [{ text: "Halo" }] }],
    generationConfig: { maxOutputTokens: 5 },
  });
  expect([gemini.status, await gemini.json()]).toMatchObject([402, { error: { status: "FAILED_PRECONDITION" } }]);
  expect(served.upstream.received.length).toBe(asked);
  expect(await served.balance(accountId)).toMatchObject({ held: "0", posted: "99985" });
});

test("is refused over gRPC with its amounts", async () => {
  const { keys, limit } = await limitedMember("--budget", "100");
  const [first, second] = keys;
  served.upstream.run(json(completion({ usage: USAGE })));
  expect((await post("/v1/chat/completions", first, ASK)).status).toBe(200);
  await limit("--budget", "16");
  const transport = createGrpcTransport({ baseUrl: `http://${served.server.grpcAddress}` });
  const client = createClient(GatewayService, transport);
  const headers = { authorization: `Bearer ${second}` };
  const { key } = await client.getKey({}, { headers });
  expect(key?.memberBudget?.state).toMatchObject({ spentIdr: "15", leftIdr: "1" });
  const asked = client.createChatCompletion(
    { model: ASK.model, messages: [{ role: "user", content: "Halo" }] },
    { headers },
  );
  const error: unknown = await asked.catch((thrown: unknown) => thrown);
  expect(ConnectError.from(error).code).toBe(Code.FailedPrecondition);
  expect(ConnectError.from(error).findDetails(ErrorFactsSchema)[0]).toMatchObject({
    code: "member_budget_exceeded",
    budgetLeftIdr: "1",
  });
});

test("ends a stream that it cannot pay any further as a cap on the output does", async () => {
  const { keys } = await limitedMember("--budget", "5000");
  const words = Array.from({ length: 60 }, () => chunk({ content: "kata ".repeat(100) }));
  const usage = usageChunk({ prompt_tokens: 10, completion_tokens: 6_000, total_tokens: 6_010 });
  served.upstream.run(stream(wire([...words, chunk({}, "stop"), usage, "[DONE]"])));
  const body = { model: "local/long", messages: MESSAGES, stream: true, stream_options: { include_usage: true } };
  const text = await (await post("/v1/chat/completions", keys[0], body)).text();
  expect(text).toContain('"finish_reason":"length"');
  const budget = await memberBudgetOf(keys[1]);
  expect(Number(budget["spent_idr"])).toBeGreaterThan(4_000);
  expect(Number(budget["spent_idr"])).toBeLessThanOrEqual(5_000);
  expect(budget["held_idr"]).toBe("0");
});
