// Upstreams that are silent, or answer no client, against the real service: what a client reads meanwhile, and what is
// billed.

import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRawUpstream, rawJson } from "../../gateway/raw-upstream.ts";
import { completion, json, ordinaryEvents, stream, wire } from "../../gateway/scripted-upstream.ts";
import { type Customer, type ServedSaldo, serveSaldo } from "./served-saldo.ts";

let served: ServedSaldo;
let customer: Customer;
let client: OpenAI;

beforeAll(async () => {
  served = await serveSaldo({
    models: { m: { price: { input: "5000", output: "15000", cache_hit: "950" } } },
    settings: { SALDO_KEEP_ALIVE_SECONDS: "1" },
  });
  customer = await served.customer({ rateLimit: 0 });
  client = new OpenAI({ apiKey: customer.key, baseURL: served.baseUrl, maxRetries: 0 });
});
afterAll(() => served.stop());

const messages = [{ role: "user" as const, content: "hi" }];

/** Asks for a stream and reads its bytes; `onText` gets each piece. */
async function readStream(onText: (text: string) => void): Promise<{ status: number; text: string }> {
  const response = await fetch(`${served.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${customer.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "local/m", stream: true, messages }),
  });
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes as Uint8Array, { stream: true });
    onText(text);
  }
  return { status: response.status, text };
}

describe("a silent upstream", () => {
  it("has its stream kept open by a comment, and a later failure sent inside it, free of charge", async () => {
    const commented = Promise.withResolvers<void>();
    served.upstream.run(async (response) => {
      await commented.promise;
      response.writeHead(503, { "retry-after": "9" }).end("{}");
    });
    const { status, text } = await readStream((read) => {
      if (read.includes(": keep-alive\n\n")) commented.resolve();
    });
    expect(status).toBe(200);
    expect(text).toContain('"code":"upstream_busy","retry_after":9');
    expect(text).not.toContain("[DONE]");
    const [record] = await served.usage(customer.accountId);
    expect(record).toMatchObject({ basis: "free", cost: "0" });
  });

  it("answers official clients behind its comments", async () => {
    served.upstream.run((response, received, call) => {
      setTimeout(() => void stream(wire(ordinaryEvents()))(response, received, call), 1_500);
    });
    let received = "";
    const events = await client.chat.completions.create({ model: "local/m", messages, stream: true });
    for await (const { choices } of events) received += choices[0]?.delta.content ?? "";
    expect(received).toBe("Halo dunia");
  });

  it("costs nothing where the client leaves before any answer", async () => {
    const before = (await served.usage(customer.accountId)).length;
    const leaving = new AbortController();
    served.upstream.run((response) => {
      leaving.abort();
      // It fails long before the time of a drain is over.
      setTimeout(() => response.socket?.destroy(), 300);
    });
    const asked = client.chat.completions.create({ model: "local/m", messages }, { signal: leaving.signal });
    await expect(asked).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
    await expect.poll(async () => (await served.usage(customer.accountId)).length).toBe(before + 1);
    const [record] = await served.usage(customer.accountId);
    expect(record).toMatchObject({ basis: "free", cost: "0", charge: "0" });
    const { rows } = await served.database.pool.query<{ unbilled: bigint }>(
      "SELECT unbilled_cost AS unbilled FROM usage_record WHERE request_id = $1",
      [record?.requestId],
    );
    expect(rows[0]?.unbilled).toBe(25_000n);
  });
});

describe("an upstream that sends what answers no request", () => {
  it("raises an alarm in the metrics, and is marked for every process", async () => {
    const raw = await startRawUpstream();
    raw.run((socket) => void socket.write(rawJson(completion()) + rawJson(completion())));
    const mixed = await serveSaldo({
      models: { m: { price: { input: "5000", output: "15000" } } },
      upstream: { base_url: raw.baseUrl },
    });
    try {
      const { key } = await mixed.customer({ rateLimit: 0 });
      const ask = new OpenAI({ apiKey: key, baseURL: mixed.baseUrl, maxRetries: 0 }).chat.completions;
      for (let time = 0; time < 3; time += 1) await ask.create({ model: "local/m", messages });
      expect(raw.requests).toEqual([1, 1, 1]);
      const metrics = await (await fetch(`${mixed.server.metricsUrl}/metrics`)).text();
      expect(metrics).toContain('saldo_gateway_events_total{kind="upstream_mixed_up",upstream="local"} 1');
      const marked = async () => (await mixed.database.pool.query("SELECT upstream FROM upstream_mark")).rows;
      await expect.poll(marked, { timeout: 15_000, interval: 200 }).toEqual([{ upstream: "local" }]);
    } finally {
      await mixed.stop();
      await raw.stop();
    }
  });
});

it("leaves the books in order", async () => {
  served.upstream.run(json(completion()));
  await client.chat.completions.create({ model: "local/m", messages });
  expect(await served.saldo(["audit"])).toMatchObject({ ok: true, violations: [] });
});
