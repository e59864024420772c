// What is free has a bound of its own, and asks no database: counts of tokens, 300 a minute of a key whatever they are of, and the
// question with which Claude Code starts, 300 a minute of a network.

import { afterEach, describe, expect, it } from "vitest";
import { type CountWindowOptions, createCountWindows } from "../../../src/gateway/conversation/count-window.ts";
import { createGeminiService } from "../../../src/gateway/gemini-service.ts";
import { createMessagesService } from "../../../src/gateway/messages-service.ts";
import { createResponsesService } from "../../../src/gateway/responses-service.ts";
import { uuidv7 } from "../../../src/kernel/ids.ts";
import { KEY, modelOf, RATE } from "../../gateway/support.ts";
import { echoGateway, type Running, SECRET, startServers } from "../fakes.ts";

const COUNTS_IN_A_MINUTE = 300;
const SOLD = modelOf("local/m");
let running: Running;
afterEach(() => running.servers.close(1_000));

/** The servers with one window for the counts of every protocol, as the program has them. */
async function start(options: CountWindowOptions = {}): Promise<void> {
  const { takeCountSlot, takeCountedBytes } = createCountWindows(options);
  const deps = {
    gateway: echoGateway,
    keys: { takeSlot: async () => RATE },
    catalog: { snapshot: async () => ({ models: new Map([[SOLD.id, SOLD]]), upstreams: new Map(), takenAtMs: 0 }) },
    allowedModelsOf: () => null,
    takeCountedBytes,
    // The same key in both, as the program has it.
    caller: async () => ({ key: { ...KEY, keyId: "key-1" }, requestId: uuidv7(), receivedAtMs: 0 }),
  };
  const implementations = {
    messages: createMessagesService(deps),
    responses: createResponsesService(deps),
    gemini: createGeminiService(deps),
  };
  running = await startServers({ implementations, takeCountSlot });
}

/** A count of a text in each protocol, and what a refusal of it has. */
const COUNTS = {
  messages: {
    path: "/v1/messages/count_tokens?beta=true",
    bodyOf: (text: string) => ({ model: SOLD.id, messages: [{ role: "user", content: text }] }),
    refusal: { type: "error", error: { type: "rate_limit_error" } },
  },
  responses: {
    path: "/v1/responses/input_tokens",
    bodyOf: (text: string) => ({ model: SOLD.id, input: text }),
    refusal: { error: { type: "rate_limit_error", code: "rate_limit_exceeded" } },
  },
  gemini: {
    path: `/v1beta/models/${SOLD.id}:countTokens`,
    bodyOf: (text: string) => ({ contents: [{ role: "user", parts: [{ text }] }] }),
    refusal: { error: { code: 429, status: "RESOURCE_EXHAUSTED" } },
  },
} as const;
type Protocol = keyof typeof COUNTS;
const PROTOCOLS = Object.keys(COUNTS) as Protocol[];

async function count(protocol: Protocol, text: string) {
  const { path, bodyOf } = COUNTS[protocol];
  const headers = { authorization: `Bearer ${SECRET}`, "content-type": "application/json" };
  const response = await fetch(running.http + path, { method: "POST", headers, body: JSON.stringify(bodyOf(text)) });
  return { status: response.status, wait: Number(response.headers.get("retry-after")), body: await response.json() };
}

/** More than the 16 KiB of which a call was once made several. */
const LONG = "A word and one more. ".repeat(1_000);

describe("a count of tokens", () => {
  it.each(PROTOCOLS)("of %s is free 300 times a minute, however long the prompt is", async (protocol) => {
    await start();
    running.keys.full = true;
    const statuses = new Set<number>();
    for (let calls = 0; calls < COUNTS_IN_A_MINUTE; calls += 25) {
      const counts = await Promise.all(Array.from({ length: 25 }, () => count(protocol, calls === 0 ? "hi" : LONG)));
      for (const { status } of counts) statuses.add(status);
    }
    expect([...statuses]).toEqual([200]);
    const refused = await count(protocol, "hi");
    expect(refused).toMatchObject({ status: 429, body: COUNTS[protocol].refusal });
    expect(JSON.stringify(refused.body)).toContain("This key allows 300 requests a minute.");
    expect(refused.wait).toBeGreaterThanOrEqual(1);
    expect(refused.wait).toBeLessThanOrEqual(60);
    for (const other of PROTOCOLS) expect((await count(other, "hi")).status).toBe(429);
    expect(running.keys.slots).toBe(0);
  });

  it.each(PROTOCOLS)("of %s is refused where many bytes were counted, and is not read then", async (protocol) => {
    await start({ bytesInAMinute: 2.5 * LONG.length });
    expect((await count(protocol, LONG)).status).toBe(200);
    expect((await count(protocol, LONG)).status).toBe(200);
    const refused = await count(protocol, LONG);
    expect(refused).toMatchObject({ status: 429, body: COUNTS[protocol].refusal });
    expect(JSON.stringify(refused.body)).toContain("Too many large prompts were counted with this key.");
    expect(refused.wait).toBeGreaterThanOrEqual(1);
    const next = await fetch(running.http + COUNTS[protocol].path, {
      method: "POST",
      headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json" },
      body: "no JSON",
    });
    expect(next.status).toBe(429);
  });
});

describe("the question of Claude Code when it starts", () => {
  const ask = (network: string, method = "HEAD") =>
    fetch(`${running.http}/api/hello`, { method, headers: { "x-forwarded-for": network } });

  it("is answered 300 times a minute for a network, and does not keep out others", async () => {
    running = await startServers({ trustedProxies: 1 });
    const statuses = new Set<number>();
    for (let calls = 0; calls < COUNTS_IN_A_MINUTE; calls += 25) {
      const answers = await Promise.all(Array.from({ length: 25 }, (_, at) => ask(`203.0.113.${at}`)));
      for (const { status } of answers) statuses.add(status);
    }
    expect([...statuses]).toEqual([204]);
    const refused = await ask("203.0.113.200");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(await refused.text()).toBe("");
    expect(await (await ask("203.0.113.7", "GET")).json()).toMatchObject({ error: "rate_limit" });
    expect((await ask("198.51.100.7")).status).toBe(204);
  });
});
