// Responses over HTTP at an upstream that speaks Responses: the bytes that pass, what they cost, and how each failure reaches the client.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventsOf, type Json, sseOf } from "../../gateway/fakes/responses-wire.ts";
import { ITEMS, RESPONSE as OF_ANOTHER, startUpstreams, TAG, USAGE } from "../../gateway/pass-responses.ts";
import { type Bench, RATE } from "../../gateway/support.ts";
import { json } from "../../gateway/scripted-upstream.ts";
import { customerTag } from "../../../src/gateway/request/customer-tag.ts";
import { type Running, SECRET, startServers } from "../fakes.ts";

let upstreams: Awaited<ReturnType<typeof startUpstreams>>;
let bench: Bench;
let running: Running;
beforeAll(async () => {
  upstreams = await startUpstreams();
});
afterAll(() => upstreams.stop());
afterEach(() => running.servers.close(1_000));

/** Serves the model with a route to the fake, or to what a test wants byte for byte. */
async function serve(upstream: "gpt" | "raw"): Promise<void> {
  bench = upstreams.open([upstream]);
  running = await startServers({ gateway: bench.gateway });
}

function ask(body: object): Promise<Response> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${SECRET}` };
  const text = JSON.stringify({ model: "acme/m", ...body });
  return fetch(`${running.http}/v1/responses`, { method: "POST", headers, body: text });
}

const dataOf = (text: string): Json[] =>
  text
    .split("\n\n")
    .slice(0, -1)
    .map((event) => JSON.parse(event.slice(event.indexOf("data: ") + 6)) as Json);
/** Rp 5 000, Rp 950 and Rp 15 000 for a million tokens, in millionths of a rupiah. */
const costOf = ({ input, cached, output }: { input: number; cached: number; output: number }): bigint =>
  BigInt((input - cached) * 5_000 + cached * 950 + output * 15_000);
const inRupiah = (millionths: bigint): string => String(Number(millionths) / 1e6);
const LOOK = { type: "function", name: "look", parameters: { type: "object" } };
const THINKING = { reasoning: { effort: "low" }, tools: [LOOK] };
const LONG = "Hello again. ".repeat(9);

describe("an answer of an upstream of Responses", () => {
  beforeEach(() => serve("gpt"));

  /** What the fake counted for its last answer is what was billed. */
  function expectExact(): bigint {
    const truth = upstreams.gpt.truths.at(-1);
    if (truth === undefined) throw new Error("nothing was answered");
    const settled = bench.ledger.settlements.at(-1);
    expect(settled).toMatchObject({ basis: "exact", clamped: false, cost: costOf(truth), outputTokens: truth.output });
    expect(settled).toMatchObject({
      inputTokensUncached: truth.input - truth.cached,
      inputTokensCached: truth.cached,
    });
    expect(bench.ledger.open.size).toBe(0);
    return costOf(truth);
  }

  it("is billed as it was counted, streamed and in one piece, and the second time from its cache", async () => {
    for (const stream of [true, false, true]) {
      const response = await ask({ input: `${LONG}!think !callall`, stream, ...THINKING });
      expect(response.status).toBe(200);
      const text = await response.text();
      const cost = expectExact();
      expect(text).toContain(`"cost_idr":"${inRupiah(cost)}"`);
      // A stream has begun before its cost is known.
      expect(response.headers.get("x-saldo-cost-idr")).toBe(stream ? null : inRupiah(cost));
      const last = stream ? dataOf(text).at(-1)?.["response"] : (JSON.parse(text) as Json);
      expect(last).toMatchObject({
        status: "completed",
        model: "acme/m",
        output: [{ type: "reasoning" }, { type: "function_call", arguments: '{"at":0,"text":"é\u{1F642}"}' }],
      });
    }
    expect(bench.ledger.settlements.map(({ inputTokensCached }) => inputTokensCached > 0)).toEqual([false, true, true]);
    expect(upstreams.gpt.requests.at(-1)?.body).toMatchObject({ store: false, input: `${LONG}!think !callall` });
  });

  it("that breaks off ends as a failure that is not repeated, and what came is paid", async () => {
    const response = await ask({ input: `${LONG}!cut`, stream: true });
    expect(response.status).toBe(200);
    const events = dataOf(await response.text());
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      response: { status: "failed", error: { code: "server_is_overloaded" } },
    });
    expect(events.some(({ type }) => type === "response.completed")).toBe(false);
    const { basis, outputTokens, cost } = bench.ledger.settlement;
    expect(basis).toBe("estimated");
    expect(outputTokens).toBeGreaterThan(5);
    expect(cost).toBeGreaterThan(0n);
  });

  it.each(["failed", "error"])(
    "that ends in an event '%s' behind output is a failure, and what came is paid",
    async (kind) => {
      const response = await ask({ input: `${LONG}!${kind}=server_error!late`, stream: true });
      const events = dataOf(await response.text());
      expect(events.at(-1)).toMatchObject({ type: "response.failed", response: { status: "failed" } });
      expect(events.filter(({ type }) => type === "response.output_text.delta").length).toBeGreaterThan(5);
      expect(bench.ledger.settlement).toMatchObject({ basis: "estimated" });
      expect(bench.ledger.settlement.outputTokens).toBeGreaterThan(5);
    },
  );

  it.each([true, false])("that is cut in one piece, or fails before output, is free, streamed: %s", async (stream) => {
    const response = await ask({ input: stream ? "!failed=server_error" : "!cut", stream });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ error: { type: "server_error", code: "server_is_overloaded" } });
    expect(bench.ledger.settlement).toMatchObject({ basis: "free", cost: 0n });
  });

  it.each([true, false])("has the balance before it, streamed: %s", async (stream) => {
    bench.ledger.admitWith = () => ({ outcome: "refused", available: 1n, rate: RATE });
    const before = upstreams.gpt.requests.length;
    const response = await ask({ input: "hi", stream });
    expect([response.status, await response.json()]).toMatchObject([
      402,
      {
        error: {
          type: "insufficient_quota",
          code: "insufficient_balance",
          message: expect.stringContaining("alance") as string,
        },
      },
    ]);
    expect([upstreams.gpt.requests.length, bench.ledger.settlements]).toEqual([before, []]);
  });

  it.each([true, false])("has the window of the key before it, streamed: %s", async (stream) => {
    running.keys.full = true;
    const before = upstreams.gpt.requests.length;
    const response = await ask({ input: "hi", stream });
    expect([response.status, response.headers.get("retry-after"), await response.json()]).toMatchObject([
      429,
      "17",
      { error: { type: "rate_limit_error", code: "rate_limit_exceeded" } },
    ]);
    expect([upstreams.gpt.requests.length, bench.ledger.admissions]).toEqual([before, []]);
  });

  it.each([
    ["!429", "7"],
    ["!429quota", "5"],
    ["!503", "5"],
  ])("that the upstream refuses for a while (%s) is free, and says when to try again", async (order, wait) => {
    for (const stream of [true, false]) {
      const response = await ask({ input: order, stream });
      expect([response.status, response.headers.get("retry-after"), await response.json()]).toMatchObject([
        503,
        wait,
        { error: { type: "server_error", code: "server_is_overloaded" } },
      ]);
      expect(bench.ledger.settlements.at(-1)).toMatchObject({ basis: "free", cost: 0n });
    }
  });

  it.each([true, false])("has the code by which Codex shortens a conversation, streamed: %s", async (stream) => {
    const response = await ask({ input: "!long", stream });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { type: "invalid_request_error", code: "context_length_exceeded" } },
    ]);
    expect(bench.ledger.settlement).toMatchObject({ basis: "free", cost: 0n });
  });
});

describe("the bytes of an upstream of Responses", () => {
  beforeEach(() => serve("raw"));
  const COST = costOf({ input: USAGE.input_tokens, cached: 5, output: USAGE.output_tokens });

  /** The customer of the key that the servers know. */
  const OWN_TAG = customerTag("account-1");
  const RESPONSE: Json = {
    ...(JSON.parse(JSON.stringify(OF_ANOTHER).replaceAll(TAG, OWN_TAG)) as Json),
    store: false,
  };

  /** What no library writes like this, and what is not known yet. */
  const MIDDLE = [
    '{"type":"response.output_text.delta","output_index":1,"item_id":"msg_1" , "content_index":0,"delta":"\\u00e9","logprobs":[1.0e0],"sequence_number":3}',
    '{ "type":"response.of_next_month","at":[1e2,12345678901234567890],"sequence_number":4}',
  ];
  const [CREATED = {}] = eventsOf(RESPONSE);
  const STREAM = Buffer.from(
    [
      sseOf(CREATED),
      ...MIDDLE.map((text) => `data: ${text}\r\n\r\n`),
      sseOf({ type: "response.completed", response: RESPONSE, sequence_number: 5 }),
    ].join(""),
  );

  it("pass as they are, wherever the network splits them", async () => {
    const shown = new Set<string>();
    const from = STREAM.indexOf(MIDDLE[0] ?? "");
    // Each byte of the first event and of the ends of its lines.
    for (let at = from; at < from + (MIDDLE[0] ?? "").length + 4; at += 4) {
      upstreams.raw.run((response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(STREAM.subarray(0, at), () => response.end(STREAM.subarray(at)));
      });
      const text = await (await ask({ input: "hi", stream: true })).text();
      shown.add(text.replaceAll(/resp_[0-9a-f-]{36}/g, "resp_ours"));
    }
    const [text = "", ...others] = shown;
    expect(others).toEqual([]);
    for (const each of MIDDLE) expect(text).toContain(`data: ${each}\n\n`);
    expect(dataOf(text)).toHaveLength(4);
    expect(text).toContain('"encrypted_content":"raw.gAAA-_="');
    expect(text).toContain(`"cost_idr":"${inRupiah(COST)}"`);
    for (const hidden of [OWN_TAG, "gpt-9", "resp_theirs"]) expect(text).not.toContain(hidden);
    for (const { basis, cost } of bench.ledger.settlements) expect([basis, cost]).toEqual(["exact", COST]);
  });

  it("pass as they are in one piece, with the bill", async () => {
    const written = JSON.stringify(RESPONSE).replace(
      '"of_next_month":[1]',
      '"of_next_month":[1.50, 12345678901234567890]',
    );
    upstreams.raw.run(json(written));
    const text = await (await ask({ input: "hi" })).text();
    expect(text).toContain('"of_next_month":[1.50, 12345678901234567890]');
    const { output, usage } = JSON.parse(text) as { readonly output: readonly Json[]; readonly usage: Json };
    expect(output[1]).toEqual(ITEMS[1]);
    expect(usage).toEqual({ ...USAGE, cost_idr: inRupiah(COST) });
    expect(bench.ledger.settlement).toMatchObject({ basis: "exact", cost: COST });
  });
});
