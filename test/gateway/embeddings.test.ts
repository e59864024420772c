import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costOf } from "../../src/billing/cost.ts";
import { planEmbeddings } from "../../src/gateway/embeddings/plan-embeddings.ts";
import { readEmbeddings } from "../../src/gateway/embeddings/read-embeddings.ts";
import { decodeVector, encodeVector } from "../../src/gateway/embeddings/vectors.ts";
import { answer, BASE64, CONTEXT, EMBED, RUPIAH, USAGE, useEmbeddings, VECTOR } from "./embeddings-support.ts";
import { json } from "./scripted-upstream.ts";
import { FakeSink } from "./support.ts";

const place = useEmbeddings();

describe("a request for vectors", () => {
  it("is sent with the model's name at the upstream and nothing but the known parameters", async () => {
    place.upstream.run(answer([VECTOR]));
    await place.embed({
      input: "Sel\u0061mat pagi 😀",
      dimensions: 3,
      user: "u-1",
      service_tier: "auto",
      encoding_format: null,
    });
    expect(JSON.parse(String(place.upstream.received[0]?.body))).toEqual({
      model: "embed",
      input: "Selamat pagi 😀",
      encoding_format: "float",
      dimensions: 3,
      // A tag of the account in place of the person's name.
      user: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
  });

  it("is answered with our model and the billed usage, after its settlement", async () => {
    place.upstream.run(answer([VECTOR, VECTOR]));
    const sink = new FakeSink();
    place.bench.ledger.onSettle = () => {
      expect(sink.chunks).toEqual([]);
      return Promise.resolve();
    };
    await place.embed({ input: ["a", "b"] }, sink);
    expect(sink.json).toEqual({
      object: "list",
      data: [0, 1].map((index) => ({ object: "embedding", index, embedding: VECTOR })),
      model: "local/embed",
      usage: { ...USAGE, cost_idr: "5" },
    });
    expect(sink.head).toMatchObject({ costIdr: "5", streamed: false });
    expect(place.bench.ledger.settlement).toMatchObject({
      cost: 5n * RUPIAH,
      inputTokensUncached: 5,
      inputTokensCached: 0,
      outputTokens: 0,
      basis: "exact",
      streamed: false,
      clamped: false,
      upstreamModel: "embed",
    });
    expect(place.bench.ledger.settlement.metering).toBeUndefined();
  });

  it.each<[string, string, unknown, unknown]>([
    ["numbers as numbers, byte for byte", "float", VECTOR, VECTOR],
    ["base64 as base64", "base64", BASE64, BASE64],
    ["numbers as base64", "base64", VECTOR, BASE64],
    ["base64 as numbers", "float", BASE64, VECTOR],
  ])("hands on %s", async (_title, encoding_format, given, shown) => {
    place.upstream.run(answer([given]));
    const { sink } = await place.embed({ input: "a", encoding_format });
    expect(JSON.parse(String(place.upstream.received[0]?.body))).toMatchObject({ encoding_format });
    expect((sink.json["data"] as { embedding: unknown }[])[0]?.embedding).toEqual(shown);
  });

  it("writes base64 as 32-bit numbers with the lowest byte first", () => {
    expect(Buffer.from(encodeVector([1, -2]), "base64").toString("hex")).toBe("0000803f000000c0");
    const numbers = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }));
    fc.assert(
      fc.property(numbers, (given) => {
        expect(decodeVector(encodeVector(given))).toEqual(given);
      }),
    );
  });

  it("is answered in the order of the inputs, whatever the order of the answer", async () => {
    const data = [1, 0].map((index) => ({ index, embedding: [index + 0.5] }));
    place.upstream.run(json(JSON.stringify({ data, usage: USAGE })));
    const { sink } = await place.embed({ input: ["a", "b"] });
    expect((sink.json["data"] as { embedding: number[] }[]).map(({ embedding }) => embedding)).toEqual([[0.5], [1.5]]);
  });

  it("holds tokens as they are, and texts by their bytes up to what the model reads", async () => {
    place.upstream.run(answer([VECTOR]));
    const held = async (input: unknown): Promise<bigint | undefined> => {
      await place.embed({ input });
      return place.bench.ledger.admissions.at(-1)?.amount;
    };
    expect(await held([1, 2, 3])).toBe(3n * RUPIAH);
    expect(await held([[1, 2], [3]])).toBe(3n * RUPIAH);
    expect(await held("äb")).toBe(BigInt(3 + 16) * RUPIAH);
    expect(await held("a".repeat(5_000))).toBe(BigInt(CONTEXT) * RUPIAH);
    expect(place.bench.ledger.open.size).toBe(0);
  });

  it("is shown by the demo with vectors that are the same for the same text", async () => {
    const { sink } = await place.embed({
      model: "demo/embed",
      input: ["rumah besar", "rumah besar", "kucing"],
      dimensions: 8,
    });
    const [one = [], same, other] = (sink.json["data"] as { embedding: number[] }[]).map(({ embedding }) => embedding);
    expect(one).toHaveLength(8);
    expect(same).toEqual(one);
    expect(other).not.toEqual(one);
    expect(sink.head).toMatchObject({ demo: true, origin: "demo" });
    expect(place.bench.ledger.settlement).toMatchObject({ basis: "exact", outputTokens: 0 });
  });
});

describe("the bill of vectors", () => {
  it.each<[string, unknown, object]>([
    ["of an upstream with a total alone", { total_tokens: 7 }, { inputTokensUncached: 7, basis: "exact" }],
    ["of a total beyond the input", { prompt_tokens: 4, total_tokens: 9 }, { inputTokensUncached: 4, outputTokens: 0 }],
    ["of reported output", { prompt_tokens: 4, completion_tokens: 9 }, { inputTokensUncached: 4, outputTokens: 0 }],
    ["without usage", undefined, { inputTokensUncached: 1, basis: "estimated", outputTokens: 0 }],
    ["of no tokens", { prompt_tokens: 0, total_tokens: 0 }, { inputTokensUncached: 1, basis: "estimated" }],
    ["of negative tokens", { prompt_tokens: -4 }, { inputTokensUncached: 1, basis: "estimated" }],
    ["of nonsense", { prompt_tokens: "many" }, { inputTokensUncached: 1, basis: "estimated" }],
    ["of more than the hold", { prompt_tokens: 900 }, { inputTokensUncached: 20, basis: "exact", clamped: true }],
    [
      "of more than any model reads",
      { prompt_tokens: 2e9 },
      { inputTokensUncached: 1, basis: "estimated", clamped: true },
    ],
  ])("%s is right", async (_title, usage, settled) => {
    place.upstream.run(answer([VECTOR], { usage }));
    const { sink } = await place.embed({ input: "halo" });
    expect(place.bench.ledger.settlement).toMatchObject(settled);
    const { inputTokensUncached, cost } = place.bench.ledger.settlement;
    expect(cost).toBe(BigInt(inputTokensUncached) * RUPIAH);
    expect(sink.json["usage"]).toMatchObject({ prompt_tokens: inputTokensUncached, total_tokens: inputTokensUncached });
  });

  it("without usage counts token arrays exactly", async () => {
    place.upstream.run(answer([VECTOR, VECTOR], {}));
    await place.embed({ input: [[1, 2, 3], [4]] });
    expect(place.bench.ledger.settlement).toMatchObject({ inputTokensUncached: 4, basis: "estimated" });
    expect(place.bench.ledger.settlement.metering?.rules).toEqual(["input_estimated"]);
  });

  it("is never more than the hold", async () => {
    const text = fc.oneof(fc.string({ unit: "binary", minLength: 1 }), fc.constant("a".repeat(3_000)));
    const tokens = fc.array(fc.nat(), { minLength: 1, maxLength: 20 });
    const input = fc.oneof(text, tokens, fc.array(text, { minLength: 1 }), fc.array(tokens, { minLength: 1 }));
    const count = fc.oneof(
      fc.constant(undefined),
      fc.nat(3_000),
      fc.integer(),
      fc.double(),
      fc.bigInt({ min: 0n }).map(String),
    );
    const price = fc.bigInt({ min: 0n, max: 10n ** 9n });
    await fc.assert(
      fc.asyncProperty(input, count, price, fc.option(price), async (given, prompt_tokens, inputPrice, perRequest) => {
        const sold = { ...EMBED, inputPrice, ...(perRequest === null ? {} : { otherPrices: { perRequest } }) };
        place.sell(sold);
        const vectors = Array.isArray(given) && typeof given[0] !== "number" ? given.length : 1;
        place.upstream.run(
          answer(
            Array.from({ length: vectors }, () => VECTOR),
            { usage: { prompt_tokens } },
          ),
        );
        const { outcome } = await place.embed({ input: given });
        expect(outcome).toBe("answered");
        const { cost, inputTokensUncached } = place.bench.ledger.settlement;
        expect(cost).toBeLessThanOrEqual(place.bench.ledger.admissions[0]?.amount ?? -1n);
        const counts = { inputTokensUncached, inputTokensCached: 0, outputTokens: 0 };
        expect(cost).toBe(costOf(counts, planEmbeddings(readEmbeddings(bodyOf(given)), sold).prices));
      }),
      { numRuns: 60 },
    );
  });
});

const bodyOf = (input: unknown) => Buffer.from(JSON.stringify({ model: "local/embed", input }));
