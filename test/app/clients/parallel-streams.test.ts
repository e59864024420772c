// Many streams at once, through the real service: agents that share a small balance, and clients that are killed together.

import { type ClientRequest, request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chunk, usageChunk, wire } from "../../gateway/scripted-upstream.ts";
import { type ServedSaldo, serveSaldo } from "./served-saldo.ts";

const PRICE = { input: "5000", output: "15000" };
const MAX_DRAINS = 100;
/** How long everything may take to be as it was before. */
const BACK_WITHIN_MS = 60_000;

let served: ServedSaldo;
beforeAll(async () => {
  served = await serveSaldo({
    inOwnProcess: true,
    models: {
      agent: { price: PRICE, max_output_tokens: 32_768 },
      hidden: { price: PRICE, max_output_tokens: 32_768, hidden_output: true },
      plain: { price: PRICE },
    },
    settings: { SALDO_MAX_DRAINS: String(MAX_DRAINS) },
  });
});
afterAll(() => served.stop());

const ask = (model: string) => ({
  model: `local/${model}`,
  stream: true,
  max_tokens: 32_000,
  messages: [{ role: "user", content: "Write the whole module." }],
});

describe("ten agents that ask for 32 000 tokens each", () => {
  const AGENTS = 10;
  const OUTPUT_TOKENS = 6_000;
  const PROMPT_TOKENS = 20;
  const PER_PACKET = 50;
  /** Rp 0.005 × 20 and Rp 0.015 × 6 000 each. */
  const COST = AGENTS * (0.1 + 90);
  /** What the estimate of the input holds beyond its true tokens comes back only at the end of each. */
  const HELD_FOR_INPUT = 5;
  const packet = wire(Array.from({ length: PER_PACKET }, () => chunk({ content: " word" })));
  /** Runs that many agents; the upstream writes when all of them are decided on, so that they run side by side. */
  async function runAgents({ key, model, agents }: { key: string; model: string; agents: number }) {
    const allDecided = Promise.withResolvers<void>();
    served.upstream.run(async (response) => {
      await allDecided.promise;
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (let sent = 0; sent < OUTPUT_TOKENS; sent += PER_PACKET) {
        if (response.write(packet)) await new Promise((resolve) => setImmediate(resolve));
        else await new Promise((resolve) => response.once("drain", resolve).once("close", resolve));
      }
      const usage = { prompt_tokens: PROMPT_TOKENS, completion_tokens: OUTPUT_TOKENS };
      response.end(wire([chunk({}, "stop"), usageChunk(usage), "[DONE]"]));
    });
    let refused = 0;
    const answers = Array.from({ length: agents }, async () => {
      const response = await served.chat(key, ask(model));
      if (response.status === 402) refused += 1;
      return { status: response.status, text: await response.text() };
    });
    await expect.poll(() => served.upstream.received.length + refused, { timeout: 20_000 }).toBe(agents);
    allDecided.resolve();
    return Promise.all(answers);
  }

  it("all run in parallel on a balance that covers what they really use, and not much more", async () => {
    const { accountId, key } = await served.customer({ credit: String(COST + HELD_FOR_INPUT), rateLimit: 0 });
    const answers = await runAgents({ key, model: "agent", agents: AGENTS });
    for (const { text } of answers) {
      expect(text.split(" word")).toHaveLength(OUTPUT_TOKENS + 1);
      expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    }
    // None got a cap: their own bound holds.
    for (const { body } of served.upstream.received) {
      expect(JSON.parse(body.toString())).toMatchObject({ max_tokens: 32_000 });
    }
    const usage = await served.usage(accountId);
    expect(usage.map(({ basis, charge }) => `${basis} ${charge}`)).toEqual(usage.map(() => "exact 90.1"));
    expect(await served.balance(accountId)).toMatchObject({ posted: String(HELD_FOR_INPUT), held: "0" });
  });

  it("starve each other where the whole bound has to be held", async () => {
    const { key } = await served.customer({ credit: String(COST + HELD_FOR_INPUT), rateLimit: 0 });
    const answers = await runAgents({ key, model: "hidden", agents: AGENTS });
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(AGENTS - 2);
  });

  it("are ended with `length` when the balance is used up, and it never goes below zero", async () => {
    const { accountId, key } = await served.customer({ credit: "150", rateLimit: 0 });
    const answers = await runAgents({ key, model: "agent", agents: 2 });
    const stopped = answers.filter(({ text }) => text.includes('"finish_reason":"length"'));
    expect(stopped.length).toBeGreaterThan(0);
    expect(stopped.every(({ text }) => text.endsWith("data: [DONE]\n\n"))).toBe(true);
    const usage = await served.usage(accountId);
    expect(usage.filter(({ basis }) => basis === "estimated")).toHaveLength(stopped.length);
    // Nothing was relayed that was not held for.
    expect(usage.every(({ cost, charge }) => cost === charge)).toBe(true);
    const { posted, held } = await served.balance(accountId);
    expect(held).toBe("0");
    expect(Number(posted)).toBeGreaterThanOrEqual(0);
  });
});

/** A streaming client on a connection of its own. */
class StreamingClient {
  readonly #call: ClientRequest;
  #text = "";
  #isOver = false;

  constructor(key: string) {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    this.#call = request(`${served.baseUrl}/chat/completions`, { method: "POST", headers, agent: false });
    this.#call.on("response", (response) => {
      response.on("data", (bytes: Buffer) => (this.#text += bytes.toString()));
      response.on("close", () => (this.#isOver = true));
    });
    // A killed client gets the event of its own end.
    this.#call.on("error", () => (this.#isOver = true));
    this.#call.end(JSON.stringify(ask("plain")));
  }

  get hasText(): boolean {
    return this.#text.includes("Halo");
  }
  get isComplete(): boolean {
    return this.#isOver && this.#text.endsWith("data: [DONE]\n\n");
  }
  kill(): void {
    this.#call.destroy();
  }
}

/** The state that the process reports. */
async function processNow(): Promise<{ files: number; bytes: number; openHolds: number }> {
  const text = await (await fetch(`${served.server.metricsUrl}/metrics`)).text();
  const read = (name: string): number => Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "m").exec(text)?.[1]);
  return {
    files: read("process_open_fds"),
    bytes: read("process_resident_memory_bytes"),
    openHolds: read("saldo_ledger_open_holds"),
  };
}

describe("500 streams at once, of which 250 clients are killed together", () => {
  const STREAMS = 500;
  const KILLED = 250;
  const patiently = { timeout: BACK_WITHIN_MS, interval: 100 };

  it(
    "are each billed by their rule, and leave neither holds nor sockets nor memory behind",
    async () => {
      const { accountId, key } = await served.customer({ credit: "100000", rateLimit: 0 });
      const countOf = async (basis: string) =>
        (await served.usage(accountId)).filter((record) => record.basis === basis).length;
      const usage = { prompt_tokens: 20, completion_tokens: 3 };
      let goOn = Promise.withResolvers<void>();
      served.upstream.run(async (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(wire([chunk({ content: "Halo" })]));
        await goOn.promise;
        response.end(wire([chunk({ content: " dunia" }), chunk({}, "stop"), usageChunk(usage), "[DONE]"]));
      });
      const play = async (streams: number, killed: number) => {
        goOn = Promise.withResolvers<void>();
        const clients = Array.from({ length: streams }, () => new StreamingClient(key));
        await expect.poll(() => clients.filter(({ hasText }) => hasText).length, patiently).toBe(streams);
        const estimatedBefore = await countOf("estimated");
        for (const client of clients.slice(0, killed)) client.kill();
        // Those beyond the number that is read on are settled at once, while the upstreams are still writing.
        const overflow = Math.max(0, killed - MAX_DRAINS);
        await expect.poll(() => countOf("estimated"), patiently).toBe(estimatedBefore + overflow);
        goOn.resolve();
        await expect
          .poll(() => clients.filter(({ isComplete }) => isComplete).length, patiently)
          .toBe(streams - killed);
        await expect.poll(() => served.balance(accountId), patiently).toMatchObject({ held: "0" });
      };

      // What a process keeps once it has been busy is no leak.
      await play(STREAMS, KILLED);
      await expect.poll(() => served.upstream.openSockets, patiently).toBe(0);
      const before = await processNow();
      const known = (await served.usage(accountId)).length;
      expect(known).toBe(STREAMS);
      await play(STREAMS, KILLED);

      const records = (await served.usage(accountId)).slice(0, -known);
      // By its rule each: the upstream's count where that is known, else what was relayed.
      const billed = Map.groupBy(records, ({ basis, inputTokensUncached: input, outputTokens: output, cost, charge }) =>
        [basis, basis === "estimated" ? "" : input, output, basis === "estimated" ? cost === charge : charge].join(" "),
      );
      expect(Object.fromEntries([...billed].map(([as, { length }]) => [as, length]))).toEqual({
        "drained 20 3 0.145": MAX_DRAINS,
        "estimated  1 true": KILLED - MAX_DRAINS,
        "exact 20 3 0.145": STREAMS - KILLED,
      });
      await expect.poll(() => served.upstream.openSockets, patiently).toBe(0);
      await expect.poll(async () => (await processNow()).files, patiently).toBeLessThan(before.files + 20);
      await expect.poll(async () => (await processNow()).openHolds, patiently).toBe(0);
      // Coarse: nothing makes the process collect its garbage.
      await expect
        .poll(async () => (await processNow()).bytes, patiently)
        .toBeLessThan(before.bytes + 150 * 1024 * 1024);
      expect(await served.saldo(["audit"])).toMatchObject({ ok: true, violations: [] });
    },
    4 * BACK_WITHIN_MS,
  );
});
