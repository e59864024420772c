import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { ValidationError } from "../kernel/errors.ts";
import type { ModelKind, Modality, UpstreamConfig } from "./catalog-model.ts";
import { type CatalogFile, readCatalogFile, writeCatalogFile } from "./catalog-file.ts";
import { DEFAULT_MEDIA_TOKENS, type FileModel } from "./model-file.ts";
import { MAX_PRICE } from "./prices.ts";
import { isKeyVariable } from "./upstream-file.ts";

const YAML = `
upstreams:
  - { id: local, kind: openai-compatible, base_url: "http://127.0.0.1:9102/v1/", api_key_env: LOCAL_API_KEY, allow_private_address: true }
models:
  - id: acme/large
    name: Acme Large
    description: One sentence.
    badge: "-20%"
    input_modalities: [image, text]
    context_length: 131072
    max_output_tokens: 16384
    media_tokens: { image: 50000 }
    hidden_output: true
    price: { input: "5000", output: "15000.5", cache_hit: "950" }
    routes: [{ upstream: local, model: acme-large-2026 }]
  - { id: small, context_length: 10, max_output_tokens: 10, price: { input: "0", output: "0" }, routes: [{ upstream: preset, model: m }] }
`;
const upstream: UpstreamConfig = {
  id: "preset",
  kind: "openai-compatible",
  baseUrl: "https://api.example.com/v1",
  apiKeyEnv: "PRESET_API_KEY",
  allowPrivateAddress: false,
  connectTimeoutMs: 5_000,
  firstByteTimeoutMs: 120_000,
  idleTimeoutMs: 60_000,
};

const mediaTokens = fc.integer({ min: 1, max: 10_000_000 });
type Entry = Record<string, unknown>;
const goodModel: Entry = {
  id: "acme/large",
  context_length: 1_000,
  max_output_tokens: 100,
  price: { input: "5000", output: "15000" },
  routes: [{ upstream: "preset", model: "m" }],
};
const goodUpstream: Entry = { id: "local", base_url: "https://api.example.com/v1" };

/** What a file is refused for: `field rule` of each problem. */
function problemsOf(content: unknown): string[] {
  try {
    readCatalogFile(typeof content === "string" ? content : stringify(content), [upstream]);
    return [];
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.details.map(({ field, rule }) => `${field} ${rule}`);
  }
}
/** An embeddings model without what only chat models have. */
function asItsKind(model: FileModel): FileModel {
  if (model.kind === "chat") return model;
  return {
    ...model,
    inputModalities: ["text"],
    maxOutputTokens: 0,
    mediaTokens: DEFAULT_MEDIA_TOKENS,
    hiddenOutput: false,
    outputPrice: 0n,
    cacheHitPrice: null,
    routes: model.routes.map(({ cost, ...route }) =>
      cost === undefined ? route : { ...route, cost: { ...cost, output: 0n, cacheHit: null } },
    ),
  };
}

const problemsOfModel = (fields: Entry) => problemsOf({ models: [{ ...goodModel, ...fields }] });
const problemsOfUpstream = (fields: Entry) => problemsOf({ upstreams: [{ ...goodUpstream, ...fields }], models: [] });

describe("a catalog file", () => {
  test("is read with prices in micro-rupiah, and what is left out has its default", () => {
    const { upstreams, models } = readCatalogFile(YAML, [upstream]);
    expect(upstreams).toEqual([
      {
        ...upstream,
        id: "local",
        baseUrl: "http://127.0.0.1:9102/v1",
        apiKeyEnv: "LOCAL_API_KEY",
        allowPrivateAddress: true,
      },
    ]);
    expect(models).toEqual([
      {
        id: "acme/large",
        kind: "chat",
        name: "Acme Large",
        description: "One sentence.",
        badge: "-20%",
        inputModalities: ["text", "image"],
        contextLength: 131_072,
        maxOutputTokens: 16_384,
        mediaTokens: { image: 50_000, audio: 16_384, video: 65_536 },
        hiddenOutput: true,
        inputPrice: 5_000_000_000n,
        outputPrice: 15_000_500_000n,
        cacheHitPrice: 950_000_000n,
        routes: [{ upstream: "local", model: "acme-large-2026" }],
      },
      {
        id: "small",
        kind: "chat",
        name: "small",
        description: "",
        badge: null,
        inputModalities: ["text"],
        contextLength: 10,
        maxOutputTokens: 10,
        mediaTokens: { image: 4_096, audio: 16_384, video: 65_536 },
        hiddenOutput: false,
        inputPrice: 0n,
        outputPrice: 0n,
        cacheHitPrice: null,
        routes: [{ upstream: "preset", model: "m" }],
      },
    ]);
  });

  test("reports every problem at once, with its path", () => {
    const models = [
      { ...goodModel, price: { input: 5000, output: "-1" }, colour: "red" },
      { ...goodModel, routes: [{ upstream: "nowhere", model: "m" }] },
    ];
    expect(problemsOf({ models, modles: [] })).toEqual([
      " unknown_key",
      "models[0] unknown_key",
      "models[0].price.input decimal",
      "models[0].price.output decimal.not_a_decimal",
      "models[1].routes[0].upstream upstream.known",
      "models[1] id.unique",
    ]);
  });

  test.each([
    [{ price: { input: "0.0000001", output: "1" } }, "models[0].price.input decimal.too_precise"],
    [{ price: { input: "1000000000.000001", output: "1" } }, "models[0].price.input decimal.max"],
    [{ price: { input: "1" } }, "models[0].price.output required"],
    [{ price: undefined }, "models[0].price required"],
    [{ max_output_tokens: 1_001 }, "models[0].max_output_tokens max_output_tokens"],
    [{ max_output_tokens: 0 }, "models[0].max_output_tokens integer"],
    [{ media_tokens: 4_096 }, "models[0].media_tokens mapping"],
    [{ media_tokens: { image: 0 } }, "models[0].media_tokens.image integer"],
    [{ media_tokens: { text: 1 } }, "models[0].media_tokens unknown_key"],
    [{ hidden_output: "yes" }, "models[0].hidden_output flag"],
    [{ context_length: 1.5 }, "models[0].context_length integer"],
    [{ context_length: undefined }, "models[0].context_length required"],
    [{ input_modalities: ["image"] }, "models[0].input_modalities input_modalities"],
    [{ input_modalities: ["text", "text"] }, "models[0].input_modalities input_modalities"],
    [{ input_modalities: ["text", "smell"] }, "models[0].input_modalities[1] one_of"],
    [{ input_modalities: "text" }, "models[0].input_modalities list"],
    [{ routes: [] }, "models[0].routes list"],
    [{ routes: [{ upstream: "preset" }] }, "models[0].routes[0].model required"],
    [{ routes: ["preset"] }, "models[0].routes[0] mapping"],
    [{ routes: [{ upstream: "preset", model: "m", cost: "3000" }] }, "models[0].routes[0].cost mapping"],
    [
      { routes: [{ upstream: "preset", model: "m", cost: { input: "1" } }] },
      "models[0].routes[0].cost.output required",
    ],
    [
      { routes: [{ upstream: "preset", model: "m", cost: { input: 1, output: "1" } }] },
      "models[0].routes[0].cost.input decimal",
    ],
    [{ name: "two\nlines" }, "models[0].name text"],
    [{ description: "\0" }, "models[0].description text"],
    [{ badge: "x".repeat(41) }, "models[0].badge text"],
  ])("refuses a model with %j", (fields, problem) => {
    expect(problemsOfModel(fields)).toContain(problem);
  });

  test("takes ids with slashes, dots, colons and dashes up to 200 characters, and nothing that looks like a path", () => {
    for (const id of ["a", "acme/large", "acme/large-2.5:free", "a/b/c_d", "A".repeat(200)]) {
      expect(problemsOfModel({ id })).toEqual([]);
    }
    for (const id of ["", "/a", "a/", "a//b", "../a", "a/../b", "a b", "a?b", "ä", "A".repeat(201), 7]) {
      expect(problemsOfModel({ id })).toEqual(["models[0].id text"]);
    }
  });

  test.each([
    [{ base_url: undefined }, "required"],
    [{ base_url: "ftp://example.com" }, "base_url.form"],
    [{ base_url: "api.example.com" }, "base_url.form"],
    [{ base_url: "https://user:secret@example.com" }, "base_url.credentials"],
    [{ base_url: "https://example.com/v1?key=secret" }, "base_url.query"],
    [{ base_url: "http://example.com" }, "base_url.https"],
    [{ base_url: "http://8.8.8.8", allow_private_address: true }, "base_url.https"],
    [{ base_url: "https://10.0.0.1" }, "base_url.private"],
    [{ base_url: "https://169.254.169.254/latest" }, "base_url.private"],
    [{ base_url: "http://localhost:11434/v1" }, "base_url.private"],
    [{ base_url: "https://example.com", kind: "demo" }, "base_url.demo"],
  ])("refuses an upstream with %j", (fields, rule) => {
    expect(problemsOfUpstream(fields)).toContain(`upstreams[0].base_url ${rule}`);
  });

  test("takes plain http and private addresses where the operator allows them", () => {
    for (const base_url of [
      "http://localhost:11434/v1",
      "http://192.168.1.5",
      "http://[::1]:1",
      "http://ollama:11434",
    ]) {
      expect(problemsOfUpstream({ base_url, allow_private_address: true })).toEqual([]);
    }
  });

  test("takes the name of an environment variable and not a credential, which no message repeats", () => {
    expect(problemsOfUpstream({ api_key_env: "LOCAL_API_KEY" })).toEqual([]);
    for (const api_key_env of ["MIDTRANS_SERVER_KEY", "XENDIT_API_KEY", "SALDO_API_KEY", "DATABASE_URL", "PATH"]) {
      expect(problemsOfUpstream({ api_key_env })).toEqual(["upstreams[0].api_key_env text"]);
    }
    const secret = "sk-abcdef";
    for (const fields of [
      { api_key_env: secret },
      { base_url: `https://${secret}@x.example` },
      { [secret]: 1 },
      { kind: secret },
    ]) {
      const read = () => readCatalogFile(stringify({ upstreams: [{ ...goodUpstream, ...fields }], models: [] }));
      expect(read).toThrow(ValidationError);
      expect(read).not.toThrow(secret);
    }
  });

  test("takes an embeddings model with a price for its input, and refuses what only chat models have", () => {
    const { max_output_tokens: _, ...embed }: Entry = { ...goodModel, kind: "embeddings", price: { input: "260" } };
    const problems = (fields: Entry) => problemsOf({ models: [{ ...embed, ...fields }] });
    expect(readCatalogFile(stringify({ models: [embed] }), [upstream]).models).toMatchObject([
      { kind: "embeddings", maxOutputTokens: 0, inputPrice: 260_000_000n, outputPrice: 0n, inputModalities: ["text"] },
    ]);
    expect(problems({ price: { input: "260", output: "0", per_request: "0.5" } })).toEqual([]);
    expect(problems({ kind: "rerank" })).toContain("models[0].kind one_of");
    for (const fields of [{ max_output_tokens: 10 }, { media_tokens: { image: 9 } }, { hidden_output: false }]) {
      expect(problems(fields)).toEqual([`models[0].${Object.keys(fields)[0]} embeddings`]);
    }
    expect(problems({ input_modalities: ["text", "image"] })).toEqual(["models[0].input_modalities embeddings"]);
    expect(problems({ price: { input: "260", output: "1" } })).toEqual(["models[0].price.output embeddings"]);
    expect(problems({ price: { input: "260", cache_hit: "1" } })).toEqual(["models[0].price unknown_key"]);
    expect(problems({ price: {} })).toEqual(["models[0].price.input required"]);
    expect(problemsOfModel({ max_output_tokens: undefined })).toEqual(["models[0].max_output_tokens required"]);
  });

  test("is not mistaken for one when it is no YAML, no mapping, twice a key, a bomb, or without models", () => {
    expect(problemsOf("models: [")).toEqual([" yaml"]);
    expect(problemsOf("models: []\nmodels: []")).toEqual([" yaml"]);
    expect(problemsOf("models: []\n---\nmodels: []")).toEqual([" yaml"]);
    const bomb = Array.from(
      { length: 12 },
      (_, n) =>
        `a${n}: &a${n} [${Array(9)
          .fill(n === 0 ? "x" : `*a${n - 1}`)
          .join()}]`,
    );
    expect(problemsOf(bomb.join("\n"))).toEqual([" yaml"]);
    for (const text of ["", "just text", "[]"]) expect(problemsOf(text)).toHaveLength(1);
    expect(problemsOf("upstreams: []")).toEqual(["models required"]);
    expect(problemsOf("models: []\n__proto__: { x: 1 }")).toEqual([" unknown_key"]);
  });

  test("reads as the same after it was written", () => {
    const text = fc.string({ unit: "binary", maxLength: 40 }).filter((each) => /^[^\p{Cc}\p{Cs}]*$/u.test(each));
    const named = text.filter((each) => each !== "");
    const price = fc.bigInt({ min: 0n, max: MAX_PRICE });
    const ids = fc.uniqueArray(fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,20}$/), { minLength: 1, maxLength: 4 });
    const timeout = fc.integer({ min: 100, max: 600_000 });
    const modalities = fc
      .subarray<Modality>(["image", "audio", "video"])
      .map((others): Modality[] => ["text", ...others]);
    const file: fc.Arbitrary<CatalogFile> = ids.chain((upstreamIds) =>
      fc.record({
        upstreams: fc.tuple(
          ...upstreamIds.map((id) =>
            fc.record({
              id: fc.constant(id),
              kind: fc.constant("openai-compatible" as const),
              baseUrl: fc.constantFrom("https://api.example.com/v1", "https://x.example:8443"),
              apiKeyEnv: fc.option(fc.stringMatching(/^[A-RT-W][A-Z0-9_]{0,20}_API_KEY$/).filter(isKeyVariable)),
              allowPrivateAddress: fc.boolean(),
              connectTimeoutMs: fc.oneof(fc.constant(5_000), timeout),
              firstByteTimeoutMs: timeout,
              idleTimeoutMs: timeout,
            }),
          ),
        ),
        models: fc.uniqueArray(
          fc
            .record({
              kind: fc.constantFrom<ModelKind>("chat", "embeddings"),
              id: fc.stringMatching(/^[A-Za-z0-9][\w.:-]{0,20}(\/[A-Za-z0-9][\w.:-]{0,20})?$/),
              name: named,
              description: text,
              badge: fc.option(named),
              inputModalities: modalities,
              contextLength: fc.integer({ min: 1_000, max: 100_000_000 }),
              maxOutputTokens: fc.integer({ min: 1, max: 1_000 }),
              mediaTokens: fc.record({ image: mediaTokens, audio: mediaTokens, video: mediaTokens }),
              hiddenOutput: fc.boolean(),
              inputPrice: price,
              outputPrice: price,
              cacheHitPrice: fc.option(price),
              routes: fc.array(
                fc.record(
                  {
                    upstream: fc.constantFrom(...upstreamIds),
                    model: named,
                    cost: fc.record({ input: price, output: price, cacheHit: fc.option(price) }),
                  },
                  { requiredKeys: ["upstream", "model"] },
                ),
                { minLength: 1, maxLength: 3 },
              ),
            })
            .map(asItsKind),
          { selector: ({ id }) => id, maxLength: 5 },
        ),
      }),
    );
    fc.assert(
      fc.property(file, (given) => {
        expect(readCatalogFile(writeCatalogFile(given))).toEqual(given);
      }),
    );
  });
});
