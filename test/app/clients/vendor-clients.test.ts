// The packages of Anthropic, OpenAI and Google, and libraries in front of them, against one server: what a program with them
// meets, and what it pays.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatMoney, idr } from "../../../src/kernel/money.ts";
import {
  chunk,
  completion,
  json,
  ordinaryEvents,
  stream,
  USAGE,
  usageChunk,
  wire,
} from "../../gateway/scripted-upstream.ts";
import { LIBRARY_CLIENTS } from "./library-clients.ts";
import { type ServedSaldo, serveSaldo } from "./served-saldo.ts";
import { anthropicOf, type OpenClient, VENDOR_CLIENTS } from "./vendor-clients.ts";

const MODEL = "local/chat";
/** Millionths of a rupiah for a token. */
const PRICE = { input: 5_000, output: 15_000, cache_hit: 500 };
const TOKENS = [USAGE.prompt_tokens, USAGE.completion_tokens];
const WITH_ESTIMATE = [expect.any(Number), USAGE.completion_tokens];
const { cached_tokens: cached } = USAGE.prompt_tokens_details;
const CHARGE = formatMoney(
  idr(
    BigInt((USAGE.prompt_tokens - cached) * PRICE.input) +
      BigInt(cached * PRICE.cache_hit + USAGE.completion_tokens * PRICE.output),
  ),
);
const CALLS = ["sun", "rain"].map((name, index) => ({
  index,
  id: `call_${name}`,
  type: "function",
  function: { name, arguments: JSON.stringify({ city: name }) },
}));

let served: ServedSaldo;
beforeAll(async () => {
  const price = { input: String(PRICE.input), output: String(PRICE.output), cache_hit: String(PRICE.cache_hit) };
  served = await serveSaldo({
    models: { chat: { price }, narrow: { price, context_length: 600, max_output_tokens: 300 } },
  });
});
afterAll(() => served.stop());

/** The error of a call, with the status that the package read. */
async function refusalOf(call: Promise<unknown>): Promise<{ readonly status?: number; readonly message: string }> {
  return call.then(
    () => Promise.reject(new Error("the call was answered")),
    (error: Error) => error,
  );
}

const answerIn = (message: object) =>
  json(completion({ choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop" }] }));

async function openAs<C>(open: OpenClient<C>, fields: Parameters<ServedSaldo["customer"]>[0] = {}) {
  const customer = await served.customer({ rateLimit: 0, ...fields });
  const chargesOf = async () => (await served.usage(customer.accountId)).map(({ basis, charge }) => [basis, charge]);
  return { ...customer, chargesOf, client: open(served.server.httpUrl, customer.key) };
}

const EVERY_CLIENT: readonly (readonly [name: string, open: OpenClient])[] = [...VENDOR_CLIENTS, ...LIBRARY_CLIENTS];

describe.each(EVERY_CLIENT)("%s", (_name, open) => {
  const opened = (fields?: Parameters<ServedSaldo["customer"]>[0]) => openAs(open, fields);

  it("reads texts and thoughts, whole and streamed, each billed exactly", async () => {
    const { client, chargesOf } = await opened();
    served.upstream.run(answerIn({ content: "Halo!", reasoning_content: "A greeting." }));
    const question = { model: MODEL, said: "Hi", thinks: true };
    expect(await client.whole(question)).toEqual({ text: "Halo!", thought: "A greeting.", tokens: TOKENS });
    const [first = "", ...others] = ordinaryEvents();
    served.upstream.run(stream(wire([first, chunk({ reasoning_content: "A greeting." }), ...others])));
    const tokens = client.readsEstimate === true ? WITH_ESTIMATE : TOKENS;
    expect(await client.streamed(question)).toEqual({ text: "Halo dunia", thought: "A greeting.", tokens });
    await expect.poll(chargesOf).toEqual([CHARGE, CHARGE].map((charge) => ["exact", charge]));
  });

  it("calls two tools at once and gets the answer from their results in another order", async () => {
    const { client, chargesOf } = await opened();
    const called = [chunk({ role: "assistant", tool_calls: CALLS }), chunk({}, "tool_calls"), usageChunk(), "[DONE]"];
    served.upstream.run((response, received, call) =>
      (call === 1 ? stream(wire(called)) : json(completion()))(response, received, call),
    );
    const { calls, answer } = await client.withTools({ model: MODEL, said: "Will it rain?" });
    expect(calls).toEqual(["sun", "rain"].map((name) => ({ name, input: { city: name } })));
    expect(answer.text).toBe("Halo!");
    const { messages } = JSON.parse(String(served.upstream.received[1]?.body)) as {
      messages: { role: string; tool_call_id?: string; content: unknown; tool_calls?: { id: string }[] }[];
    };
    const ids = messages.flatMap(({ tool_calls: made = [] }) => made.map(({ id }) => id));
    const results = messages.filter(({ role }) => role === "tool");
    expect(new Map(results.map(({ tool_call_id: id = "", content }) => [id, textOf(content)]))).toEqual(
      new Map([
        [ids[0], "result of sun"],
        [ids[1], "result of rain"],
      ]),
    );
    await expect.poll(chargesOf).toEqual([CHARGE, CHARGE].map((charge) => ["exact", charge]));
  });

  it("leaves a stream, which the gateway then reads to its end and bills exactly", async () => {
    const { client, accountId, chargesOf } = await opened();
    const left = Promise.withResolvers<void>();
    served.upstream.run(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(wire(ordinaryEvents().slice(0, 2)));
      await left.promise;
      response.end(wire(ordinaryEvents().slice(2)));
    });
    const abort = new AbortController();
    const pieces: string[] = [];
    const read = async (): Promise<void> => {
      for await (const piece of client.pieces({ model: MODEL, said: "Hi" }, abort.signal)) {
        if (piece === "") continue;
        pieces.push(piece);
        abort.abort();
      }
    };
    await read().catch(() => undefined);
    // It may see the end before it sees that the caller left.
    left.resolve();
    expect(pieces).toEqual(["Halo"]);
    await expect.poll(chargesOf).toEqual([[expect.stringMatching(/^(?:exact|drained)$/), CHARGE]]);
    expect(await served.balance(accountId)).toMatchObject({ held: "0" });
  });

  it("sees that a stream broke off", async () => {
    const { client, chargesOf } = await opened();
    served.upstream.run((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(wire(ordinaryEvents().slice(0, 2)), () => response.destroy());
    });
    await expect(client.streamed({ model: MODEL, said: "Hi" })).rejects.toThrow();
    await expect.poll(chargesOf).toEqual([["estimated", expect.not.stringMatching(/^0$/)]]);
  });

  it("reads why it was refused: the balance, the limit, the room of the model, and pays nothing", async () => {
    served.upstream.run(json(completion()));
    const poor = await opened({ credit: "0" });
    expect(await refusalOf(poor.client.whole({ model: MODEL, said: "Hi" }))).toMatchObject({ status: 402 });
    const limited = await opened({ rateLimit: 1 });
    await limited.client.whole({ model: MODEL, said: "Hi" });
    expect(await refusalOf(limited.client.whole({ model: MODEL, said: "Hi" }))).toMatchObject({ status: 429 });
    const rich = await opened();
    const wide = await refusalOf(rich.client.streamed({ model: "local/narrow", said: "word ".repeat(2_000) }));
    expect(wide).toMatchObject({ status: 400, message: expect.stringMatching(/too long|exceed|context/) });
    expect(served.upstream.received).toHaveLength(1);
    expect([await poor.chargesOf(), await rich.chargesOf()]).toEqual([[], []]);
  });
});

it.each(VENDOR_CLIENTS)("%s counts a prompt's tokens free of charge", async (_name, open) => {
  const { client, chargesOf } = await openAs(open, { credit: "0" });
  expect(await client.counted({ model: MODEL, said: "word ".repeat(100) })).toBeGreaterThan(100);
  expect(await chargesOf()).toEqual([]);
});

it("the client of Anthropic lists the models", async () => {
  const { key } = await served.customer();
  const models = await Array.fromAsync(anthropicOf(served.server.httpUrl, key).models.list());
  expect(models.map(({ id }) => id)).toEqual(expect.arrayContaining([MODEL, "local/narrow", "demo/echo"]));
  expect(models.every(({ type, display_name: name }) => type === "model" && name !== "")).toBe(true);
});

/** The text of a result, as a string or as parts. */
function textOf(content: unknown): string {
  return typeof content === "string" ? content : (content as { text: string }[]).map(({ text }) => text).join("");
}
