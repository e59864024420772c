import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costOf } from "../../billing/cost.ts";
import type { CatalogModel } from "../../catalog/catalog-model.ts";
import { estimateInput } from "../metering/estimate.ts";
import {
  amountCovering,
  coveredOutput,
  heldTokens,
  leastTokens,
  NO_ADDITIONS,
  outputCap,
  planHold,
  planWithin,
  SLAB_TOKENS,
} from "./hold.ts";
import { type ChatRequest, readRequest } from "../request/read-request.ts";

const MODEL: CatalogModel = {
  id: "acme/m",
  name: "M",
  description: "",
  badge: null,
  inputModalities: ["text", "image"],
  contextLength: 100_000,
  maxOutputTokens: 8_000,
  mediaTokens: { image: 4_096, audio: 16_384, video: 65_536 },
  kind: "chat",
  hiddenOutput: false,
  inputPrice: 2_000_000n,
  outputPrice: 8_000_000n,
  cacheHitPrice: null,
  routes: [],
  createdAt: new Date(0),
};
const read = (more: object): ChatRequest =>
  readRequest(Buffer.from(JSON.stringify({ model: "acme/m", messages: [{ role: "user", content: "hi" }], ...more })));

const price = fc.bigInt({ min: 0n, max: 1_000_000_000_000_000n });
const models = fc.record({
  ...Object.fromEntries(Object.entries(MODEL).map(([name, value]) => [name, fc.constant(value)])),
  contextLength: fc.integer({ min: 1, max: 2_000_000 }),
  maxOutputTokens: fc.integer({ min: 1, max: 200_000 }),
  inputPrice: price,
  outputPrice: price,
  cacheHitPrice: fc.option(price),
}) as fc.Arbitrary<CatalogModel>;
const tokens = fc.option(fc.integer({ min: 1, max: 2_147_483_647 }), { nil: undefined });
const image = (bytes: number) => ({
  type: "image_url",
  image_url: { url: `data:image/png;base64,${"A".repeat(bytes)}` },
});

const words = fc
  .array(
    fc
      .constantFrom(
        "the",
        "money",
        "is",
        "set",
        "aside",
        "sebelum",
        "permintaan",
        "dijawab",
        "42",
        "3.14",
        "const",
        "=>",
        "()",
        "{",
        "}",
      )
      .map((word) => `${word} `),
    { maxLength: 40 },
  )
  .map((list) => list.join(""));
const scripts = fc.stringMatching(/^[\u4e00-\u9fa5\u0e01-\u0e2e\u0627-\u064a ]{0,40}$/);
const textPart = fc.oneof(words, scripts).map((text) => ({ type: "text", text }));
const imagePart = fc.nat({ max: 2_000 }).map((bytes) => image(bytes));
const message = fc.oneof(
  fc.record({
    role: fc.constantFrom("system", "user"),
    content: fc.oneof(words, scripts, fc.string({ maxLength: 200, unit: "grapheme" })),
  }),
  fc.record({
    role: fc.constant("user"),
    content: fc.array(fc.oneof(textPart, imagePart), { minLength: 1, maxLength: 4 }),
  }),
);
const tool = fc.record({
  type: fc.constant("function"),
  function: fc.record({
    name: fc.stringMatching(/^[a-z_]{1,20}$/),
    description: words,
    parameters: fc.constant({ type: "object", properties: { city: { type: "string" } } }),
  }),
});
const bounds = {
  stream: fc.boolean(),
  n: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 128 })),
  max_tokens: tokens,
  max_completion_tokens: tokens,
};
const messages = fc.array(message, { minLength: 1, maxLength: 5 });
const requests = fc
  .record({ ...bounds, messages, tools: fc.option(fc.array(tool, { minLength: 1, maxLength: 3 }), { nil: undefined }) })
  .map(read);

const partOf = (part: string | object) => (typeof part === "string" ? { type: "text", text: part } : part);
const imageTokens = (bytes: number) =>
  planHold(read({ messages: [{ role: "user", content: [image(bytes)] }] }), MODEL).inputTokens;

describe("planHold", () => {
  it("is never below the cost of a request within its estimate and bound", () => {
    fc.assert(
      fc.property(
        requests,
        models,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (request, model, share, cached, written) => {
          const plan = planHold(request, model);
          const input = Math.floor(plan.inputTokens * share);
          const inputTokensCached = Math.floor(input * cached);
          const counts = {
            inputTokensCached,
            inputTokensUncached: input - inputTokensCached,
            outputTokens: Math.floor(plan.heldOutput * plan.choices * written),
          };
          return costOf(counts, plan.prices) <= plan.amount && plan.leastAmount <= plan.amount;
        },
      ),
      { numRuns: 10_000 },
    );
  });

  it("covers the input as the tokenizer counts it, in prose, code and other scripts", async () => {
    const content = fc.oneof(
      words,
      scripts,
      fc.tuple(words, scripts).map((parts) => parts.join(" ")),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(content, { minLength: 1, maxLength: 4 }), async (texts) => {
        const request = read({ messages: texts.map((text) => ({ role: "user", content: text })) });
        return (await estimateInput(request)) <= planHold(request, MODEL).inputTokens;
      }),
      { numRuns: 10_000 },
    );
  });

  it("shrinks to a cap whose cost never exceeds what was granted", () => {
    fc.assert(
      fc.property(requests, models, fc.bigInt({ min: 0n, max: 1_000_000n }), (request, model, share) => {
        const plan = planHold(request, model);
        const granted = plan.leastAmount + ((plan.amount - plan.leastAmount) * share) / 1_000_000n;
        const cap = outputCap(plan, granted);
        const outputTokens = (cap ?? plan.heldOutput) * plan.choices;
        const counts = { inputTokensUncached: plan.inputTokens, inputTokensCached: 0, outputTokens };
        return (
          costOf(counts, { ...plan.prices, cacheHit: null }) <= granted && (cap === null || cap <= plan.outputBound)
        );
      }),
      { numRuns: 10_000 },
    );
  });

  it("covers with every extension what it was sized for, and never counts more as covered than it costs", () => {
    const outputs = fc.integer({ min: 0, max: 2_147_483_647 });
    fc.assert(
      fc.property(
        requests,
        models,
        outputs,
        fc.bigInt({ min: 0n, max: 10n ** 18n }),
        (request, model, output, held) => {
          const plan = { ...planHold(request, model), choices: 1 };
          fc.pre(plan.prices.output > 0n);
          const costOfOutput = (outputTokens: number) =>
            costOf(
              { inputTokensUncached: plan.inputTokens, inputTokensCached: 0, outputTokens },
              { ...plan.prices, cacheHit: null },
            );
          const sized = coveredOutput(plan, amountCovering(plan, output)) >= Math.min(output, plan.outputBound);
          const covered = coveredOutput(plan, held);
          return sized && (covered === 0 || costOfOutput(covered) <= held);
        },
      ),
      { numRuns: 10_000 },
    );
  });

  it("holds a slab for a stream, and the whole bound where its output is not all seen as it is produced", () => {
    const heldFor = (more: object, model = MODEL) => planHold(read(more), model).heldOutput;
    expect(heldFor({ stream: true })).toBe(SLAB_TOKENS);
    expect(heldFor({ stream: true, max_tokens: 100 })).toBe(100);
    expect(heldFor({})).toBe(8_000);
    expect(heldFor({ stream: true, n: 2 })).toBe(8_000);
    expect(heldFor({ stream: true }, { ...MODEL, hiddenOutput: true })).toBe(8_000);
    expect(heldFor({ stream: true }, { ...MODEL, outputPrice: 0n })).toBe(8_000);
    // How many tokens a picture is charged as is not seen in its data.
    expect(heldFor({ stream: true }, { ...MODEL, otherPrices: { imageOutput: 9_000_000n } })).toBe(8_000);
    expect(heldFor({ stream: true }, { ...MODEL, otherPrices: { cacheWrite: 9_000_000n } })).toBe(SLAB_TOKENS);
  });

  it("holds for the dearest kind of token that the body can reach, with its price of the request", () => {
    const otherPrices = { cacheWrite: 2_500_000n, cacheWrite1h: 4_000_000n, imageInput: 6_000_000n, perRequest: 123n };
    const model = { ...MODEL, otherPrices };
    const plan = planHold(read({ max_tokens: 100 }), model);
    expect(plan.prices).toEqual({ input: 2_000_000n, output: 8_000_000n, cacheHit: null, other: otherPrices });
    expect(plan.amount).toBe((BigInt(plan.inputTokens) * 5n) / 2n + 800n + 123n);
    const pictured = planHold(read({ max_tokens: 100, messages: [{ role: "user", content: [image(100)] }] }), model);
    const text = pictured.inputTokens - MODEL.mediaTokens.image;
    expect(pictured.amount).toBe((BigInt(text) * 5n + 1n) / 2n + 4_096n * 6n + 800n + 123n);
  });

  it("holds at the prices of the length that the estimate can reach", () => {
    const longContext = [{ above: 50_000, input: 4_000_000n, output: 12_000_000n, cacheHit: null }];
    const amountFor = (bytes: number) =>
      planHold(read({ max_tokens: 10, messages: [{ role: "user", content: "in the end ".repeat(bytes / 11) }] }), {
        ...MODEL,
        otherPrices: { longContext },
      });
    const [short, long] = [amountFor(110_000), amountFor(165_000)];
    expect(short.inputTokens).toBeLessThan(50_000);
    expect(short.amount).toBe(BigInt(short.inputTokens) * 2n + 80n);
    expect(long.amount).toBe(BigInt(long.inputTokens) * 4n + 120n);
    expect(outputCap(long, long.amount - 1n)).toBe(9);
  });

  it("counts a text by how dense it is, at most a token for each byte, and sixteen per message", () => {
    const tokensOf = (...contents: string[]) =>
      planHold(read({ messages: contents.map((content) => ({ role: "user", content })) }), MODEL).inputTokens;
    const none = tokensOf("");
    expect(tokensOf("8".repeat(2_000)) - none).toBeGreaterThanOrEqual(2_000);
    expect(tokensOf("\u3456".repeat(500)) - none).toBeGreaterThanOrEqual(1_500);
    expect(tokensOf("8\u3456".repeat(500)) - none).toBeLessThan(2_010);
    expect(tokensOf("the rest of the text ".repeat(100)) - none).toBeLessThan(1_050);
    expect(tokensOf("a", "b") - tokensOf("a")).toBeGreaterThan(16);
  });

  it("has a fifth more for models whose tokenizer makes more tokens, and no more than a token for each byte", () => {
    const textOf = (content: string, perToken: number) => {
      const request = read({ messages: [{ role: "user", content }] });
      return planHold(request, MODEL, { ...NO_ADDITIONS, perToken }).inputTokens;
    };
    const prose = "the rest of the text ".repeat(1_000);
    expect(textOf(prose, 1.2) / textOf(prose, 1)).toBeCloseTo(1.2, 2);
    const digits = "8".repeat(2_000);
    expect(textOf(digits, 1.2) - textOf("", 1.2)).toBeLessThan(2_040);
  });

  it("counts a picture by the catalog's figure and not by its bytes", () => {
    expect(imageTokens(80_000)).toBe(imageTokens(2_000));
    expect(imageTokens(2_000)).toBeGreaterThan(MODEL.mediaTokens.image);
    // The address of a small picture is read as text.
    expect(imageTokens(100) - imageTokens(2_000)).toBeLessThan(150);
  });

  it("has all text beside a picture, before and behind it", () => {
    const held = (before: string, behind: string) =>
      planHold(read({ messages: [{ role: "user", content: [before, image(5_000), behind].map(partOf) }] }), MODEL)
        .inputTokens;
    expect(held("7".repeat(300), "8".repeat(2_000)) - held("", "")).toBeGreaterThanOrEqual(2_300);
  });

  it("bounds what an upstream may claim for a picture far above what is held for it", () => {
    const plan = planHold(read({ messages: [{ role: "user", content: [image(100)] }] }), MODEL);
    expect(plan.inputBound).toBeGreaterThan(50_000);
    expect(plan.inputTokens).toBeLessThan(5_000);
  });

  it("takes the larger of the two bounds, up to the model's maximum, for each of n answers", () => {
    expect(planHold(read({ max_tokens: 10, max_completion_tokens: 20, n: 3 }), MODEL)).toMatchObject({
      outputBound: 20,
      choices: 3,
    });
    expect(planHold(read({ max_tokens: 131_072 }), MODEL).outputBound).toBe(8_000);
    expect(planHold(read({}), MODEL).outputBound).toBe(8_000);
  });

  it("finds a request useful from 256 tokens of output, or all it asked for", () => {
    const input = BigInt(planHold(read({}), MODEL).inputTokens) * 2n;
    expect(planHold(read({}), MODEL).leastAmount).toBe(input + 256n * 8n);
    const small = planHold(read({ max_tokens: 5 }), MODEL);
    expect(small.leastAmount).toBe(small.amount);
  });

  it("cut to tokens has no more of them, and holds what its output can cost", () => {
    fc.assert(
      fc.property(
        models,
        fc.boolean(),
        fc.integer({ min: 1, max: 4 }),
        tokens,
        fc.nat(400_000),
        (model, stream, n, max_tokens, more) => {
          const plan = planHold(read({ stream, n, max_tokens }), model);
          const wanted = leastTokens(plan) + more;
          const cut = planWithin(plan, wanted);
          if (wanted >= heldTokens(plan)) return cut === plan;
          return (
            heldTokens(cut) <= wanted &&
            cut.outputBound === cut.heldOutput &&
            cut.outputBound >= cut.leastOutput &&
            cut.amount === amountCovering(plan, cut.outputBound * n) &&
            cut.amount <= plan.amount &&
            cut.amount >= cut.leastAmount
          );
        },
      ),
    );
  });

  it("adds no cap where the whole hold was granted, or the model is free", () => {
    const plan = planHold(read({}), MODEL);
    expect(outputCap(plan, plan.amount)).toBeNull();
    expect(outputCap(plan, plan.amount - 1n)).toBe(7_999);
    expect(outputCap(plan, plan.leastAmount)).toBe(256);
    const free = planHold(read({}), { ...MODEL, inputPrice: 0n, outputPrice: 0n });
    expect([free.amount, outputCap(free, 0n)]).toEqual([0n, null]);
  });
});
