import { CHAT_FORMAT } from "../formats/chat/chat-format.ts";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { CatalogModel } from "../../catalog/catalog-model.ts";
import { InsufficientBalance, UpstreamBusy } from "../../kernel/errors.ts";
import type { Extension } from "../../ledger/ledger.ts";
import { costOf } from "../../billing/cost.ts";
import type { ExtensionAmounts } from "../metering/bill.ts";
import { countTokens } from "../metering/estimate.ts";
import { planHold, SLAB_TOKENS } from "../admission/hold.ts";
import { RelayedOutput } from "../metering/relayed-output.ts";
import { readRequest } from "../request/read-request.ts";
import type { OutputSize } from "./output-limit.ts";
import { readChunk } from "../formats/chat/read-chunk.ts";
import { SlabGate } from "./slab-gate.ts";
import { splitEvents } from "./sse.ts";

const MODEL: CatalogModel = {
  id: "acme/m",
  name: "M",
  description: "",
  badge: null,
  inputModalities: ["text"],
  contextLength: 200_000,
  maxOutputTokens: 32_000,
  kind: "chat",
  hiddenOutput: false,
  routes: [],
  createdAt: new Date(0),
  mediaTokens: { image: 4_096, audio: 16_384, video: 65_536 },
  inputPrice: 5_000_000_000n,
  outputPrice: 15_000_000_000n,
  cacheHitPrice: null,
};
const BODY = { model: "acme/m", stream: true, messages: [{ role: "user", content: "Write a long story." }] };
const PLAN = planHold(readRequest(Buffer.from(JSON.stringify(BODY))), MODEL);
const costOfOutput = (outputTokens: number): bigint =>
  costOf({ inputTokensUncached: PLAN.inputTokens, inputTokensCached: 0, outputTokens }, PLAN.prices);

const chunkOf = (content: string, more: Record<string, unknown> = {}): Buffer =>
  Buffer.from(
    `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content }, finish_reason: null }], ...more })}\n\n`,
  );
const CITATIONS = Array.from({ length: 30 }, (_, page) => `https://example.com/articles/2026/11/${page}`);
const escaped = (event: Buffer): Buffer =>
  Buffer.from(
    event.toString().replace(/[^\n -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
/** The same text as upstreams write it. */
const WRITTEN = {
  plainly: (text: string) => chunkOf(text),
  escaped: (text: string) => escaped(chunkOf(text)),
  "with citations": (text: string) => chunkOf(text, { citations: CITATIONS }),
  "with a signature": (text: string) => chunkOf(text, { signature: "A1+/".repeat(300) }),
  "behind comments": (text: string) => Buffer.concat([Buffer.from(": keep-alive\n\n".repeat(5)), chunkOf(text)]),
  "under a name": (text: string) => Buffer.concat([Buffer.from("event: message\r\nid: 7\r\n"), chunkOf(text)]),
} as const;

/** How much output is in a packet of events. */
function sizeOf(packet: Buffer): OutputSize {
  const sizes = splitEvents(packet).map((event) => readChunk(event).size);
  const sum = (count: (size: OutputSize) => number): number => sizes.reduce((total, size) => total + count(size), 0);
  return {
    asciiBytes: sum((size) => size.asciiBytes),
    otherBytes: sum((size) => size.otherBytes),
    events: sum((size) => size.events),
    hasMedia: sizes.some((size) => size.hasMedia),
  };
}

/** A stream at its gate, with an account of its own: what it relays, holds and asks for. */
function openStream(balance: bigint, answer?: (asked: ExtensionAmounts) => Promise<Extension>) {
  const output = new RelayedOutput(CHAT_FORMAT);
  const asked: ExtensionAmounts[] = [];
  const stream = { held: PLAN.amount, relayed: "", asked, output };
  const grant = (more: ExtensionAmounts): Promise<Extension> => {
    const granted = more.leastAmount <= balance;
    const amount = more.amount < balance ? more.amount : balance;
    if (!granted) return Promise.resolve({ outcome: "refused", amount: stream.held, othersHold: false });
    stream.held = amount > stream.held ? amount : stream.held;
    return Promise.resolve({ outcome: "granted", amount: stream.held });
  };
  const gate = new SlabGate({
    plan: PLAN,
    granted: PLAN.amount,
    output,
    patienceMs: 0,
    extend: (more) => {
      asked.push(more);
      return (answer ?? grant)(more);
    },
  });
  return {
    ...stream,
    gate,
    get held() {
      return stream.held;
    },
    async write(texts: readonly string[], way: keyof typeof WRITTEN = "plainly"): Promise<void> {
      const packet = Buffer.concat(texts.map(WRITTEN[way]));
      const size = sizeOf(packet);
      if (!gate.covers(size)) {
        await gate.whenOpen(size);
        expect(gate.covers(size)).toBe(true);
      }
      gate.take(size);
      output.add(packet);
      stream.relayed += texts.join("");
    },
  };
}

describe("a stream at its gate", () => {
  // Loading the tokenizer takes longer than these streams.
  beforeAll(() => countTokens("word"));

  it("asks for nothing and reads nothing while there is plenty of room", async () => {
    const stream = openStream(0n);
    for (let word = 0; word < 500; word += 1) await stream.write([" word"]);
    expect(stream.asked).toEqual([]);
  });

  it("asks before the slab runs out, for a slab more than the tokenizer counts, and reports the count", async () => {
    const stream = openStream(costOfOutput(100_000));
    for (let word = 0; word < 4_000; word += 1) {
      await stream.write([" word"]);
      if (word % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const [first] = stream.asked;
    expect(first?.outputTokens).toBeGreaterThan(2_000);
    expect(first?.outputTokens).toBeLessThan(3_000);
    expect(first?.amount).toBe(costOfOutput((first?.outputTokens ?? 0) + SLAB_TOKENS));
    expect(stream.asked.length).toBeLessThan(4);
  });

  it("never relays more than is held, whatever the text, the packets and the balance", async () => {
    const ways = Object.keys(WRITTEN) as (keyof typeof WRITTEN)[];
    const words = fc.array(
      fc.constantFrom(" word", " dan", "1234", "\n\n", '{"a":', " ✓", "日本", "…", " selamat pagi"),
      {
        minLength: 1,
        maxLength: 60,
      },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(words, fc.constantFrom(...ways), fc.boolean()), { minLength: 20, maxLength: 60 }),
        fc.integer({ min: SLAB_TOKENS, max: 12_000 }),
        async (packets, affordable) => {
          const stream = openStream(costOfOutput(affordable));
          const overspent: bigint[] = [];
          const write = async (): Promise<void> => {
            for (let round = 0; round < 8; round += 1) {
              // Some upstreams write word by word, some all of it at once.
              for (const [texts, way, isOne] of packets) await stream.write(isOne ? [texts.join("")] : texts, way);
              const cost = costOfOutput(await stream.output.estimateTokens());
              if (cost > stream.held) overspent.push(cost - stream.held);
            }
          };
          const failure: unknown = await write().then(
            () => null,
            (error: unknown) => error,
          );
          const relayed = await stream.output.estimateTokens();
          expect(overspent).toEqual([]);
          expect(costOfOutput(relayed)).toBeLessThanOrEqual(stream.held);
          // It is stopped for want of money only, and only where hardly any is left.
          expect(failure === null || (failure instanceof InsufficientBalance && relayed > affordable - 1_000)).toBe(
            true,
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  it.each(["with citations", "with a signature"] as const)("is not deceived by a first event %s", async (way) => {
    const stream = openStream(costOfOutput(100_000));
    const overspent: bigint[] = [];
    await stream.write([" word"], way);
    for (let event = 0; event < 80; event += 1) {
      await stream.write([" word".repeat(190)]);
      const cost = costOfOutput(await stream.output.estimateTokens());
      if (cost > stream.held) overspent.push(cost - stream.held);
    }
    expect(overspent).toEqual([]);
    expect(stream.asked.length).toBeGreaterThan(0);
  });

  it("counts no more of escaped text than its characters", async () => {
    const stream = openStream(costOfOutput(100_000));
    await stream.write(["日本語のテキスト".repeat(40)], "escaped");
    const overspent: bigint[] = [];
    for (let event = 0; event < 400; event += 1) {
      await stream.write([" word".repeat(40)]);
      const cost = costOfOutput(await stream.output.estimateTokens());
      if (cost > stream.held) overspent.push(cost - stream.held);
    }
    expect(overspent).toEqual([]);
  });

  it("takes comments for what they are, not for frames around no text", async () => {
    const stream = openStream(costOfOutput(100_000));
    for (let packet = 0; packet < 500; packet += 1) await stream.write([" word".repeat(8)], "behind comments");
    expect(stream.asked.length).toBeGreaterThan(0);
    expect(stream.held).toBeGreaterThanOrEqual(costOfOutput(await stream.output.estimateTokens()));
  });

  it("relays no sound or pictures before the whole bound is held", async () => {
    const stream = openStream(costOfOutput(100_000));
    const sound = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { audio: { data: "UklGRg==" } } }] })}\n\n`;
    const { size } = readChunk(Buffer.from(sound));
    expect(stream.gate.covers(size)).toBe(false);
    await stream.gate.whenOpen(size);
    expect(stream.gate.covers(size)).toBe(true);
    expect(stream.held).toBeGreaterThanOrEqual(costOfOutput(PLAN.outputBound));

    const poor = openStream(costOfOutput(SLAB_TOKENS + 1_000));
    await expect(poor.gate.whenOpen(size)).rejects.toBeInstanceOf(InsufficientBalance);
  });

  it("takes what there is when that is less than a slab, and stops when not even that is useful", async () => {
    const stream = openStream(costOfOutput(SLAB_TOKENS + 300));
    await expect(
      (async () => {
        for (let packet = 0; packet < 10_000; packet += 1) await stream.write([" word", " and", " another"]);
      })(),
    ).rejects.toBeInstanceOf(InsufficientBalance);
    const relayed = await stream.output.estimateTokens();
    expect(stream.held).toBe(costOfOutput(SLAB_TOKENS + 300));
    expect(relayed).toBeGreaterThan(SLAB_TOKENS + 200);
    expect(relayed).toBeLessThanOrEqual(SLAB_TOKENS + 300);
  });

  it("is open for good once the whole bound is held", async () => {
    const stream = openStream(costOfOutput(100_000), ({ outputTokens }) =>
      Promise.resolve({ outcome: "granted", amount: costOfOutput(outputTokens < 0 ? 0 : PLAN.outputBound) }),
    );
    for (let word = 0; word < 20_000; word += 1) {
      await stream.write([" word"]);
      if (word % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(stream.asked).toHaveLength(1);
  });

  it("fails with a busy service when another process has resolved the hold", async () => {
    const stream = openStream(0n, () => Promise.resolve({ outcome: "gone" }));
    await expect(
      (async () => {
        for (let packet = 0; packet < 10_000; packet += 1) await stream.write([" word"]);
      })(),
    ).rejects.toBeInstanceOf(UpstreamBusy);
  });
});
