// The operators' editor of the catalog.

import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  CatalogChangeKind,
  CatalogDraftSchema,
  CatalogEntryKind,
  CatalogAcceptsSchema,
  CatalogPricesSchema,
  CatalogRouteSchema,
  CatalogSchema,
  CatalogUpstreamSchema,
  CatalogWarningReason,
} from "#gen/saldo/operator/v1/catalog_pb.ts";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { IDR, parseMoney } from "../../src/kernel/money.ts";
import { OPERATOR, refusal, serveOperator, type ServedOperator } from "./operator-calls.ts";

let served: ServedOperator;
beforeAll(async () => {
  served = await serveOperator({
    presetUpstreams: [
      {
        id: "openai",
        kind: "openai-compatible",
        baseUrl: "https://api.openai.com/v1",
        apiKeyEnv: "SET_API_KEY",
        allowPrivateAddress: false,
        connectTimeoutMs: 5_000,
        firstByteTimeoutMs: 120_000,
        idleTimeoutMs: 60_000,
      },
    ],
  });
});
afterAll(() => served.stop());

const rupiah = (text: string): bigint => parseMoney(text, IDR).units;

const parsed = (json: string): unknown => (json === "" ? null : JSON.parse(json));

describe("the catalog", () => {
  const yaml = (input: string) =>
    `
upstreams: [{ id: local, base_url: "https://llm.example.com/v1", api_key_env: LOCAL_API_KEY }]
models:
  - id: acme/large
    context_length: 1000
    max_output_tokens: 100
    price: { input: "${input}", output: "15000", cache_hit: "950.5" }
    routes: [{ upstream: local, model: l, cost: { input: "1", output: "2" } }, { upstream: openai, model: o }]
`;
  const draft = (value: string) => create(CatalogDraftSchema, { content: { case: "yaml", value } });

  test("takes neither a private address nor a new host for a key over the network, however it is tried", async () => {
    const { operator } = served;
    const of = (upstream: string) => ({ draft: draft(`models: []\nupstreams: [{ id: evil, ${upstream} }]`) });
    const rulesOf = async (upstream: string): Promise<string[]> => {
      const previewed = await refusal(operator.previewCatalog(of(upstream)));
      expect(await refusal(operator.publishCatalog(of(upstream)))).toEqual(previewed);
      return previewed.rules;
    };
    const host = ["upstreams.evil.base_url catalog.new_host"];
    // The key of a preset, and one that the environment has for another purpose.
    expect(await rulesOf('base_url: "https://evil.example.com/v1", api_key_env: SET_API_KEY')).toEqual(host);
    expect(await rulesOf('base_url: "https://api.openai.com.evil.example.com", api_key_env: SET_API_KEY')).toEqual(
      host,
    );
    expect(await rulesOf('base_url: "https://10.0.0.7/v1", allow_private_address: true')).toEqual([
      "upstreams.evil.allow_private_address catalog.private_address",
    ]);
    // A preset's own host may have its key, and another upstream a key without an owner.
    await operator.previewCatalog(of('base_url: "https://api.openai.com/v2", api_key_env: SET_API_KEY'));
    await operator.previewCatalog(of('base_url: "https://llm.example.com/v1", api_key_env: NEW_API_KEY'));
  });

  test("is previewed, published against its version, and reported to a late publisher", async () => {
    const { operator } = served;
    const first = await operator.previewCatalog({ draft: draft(yaml("5000")) });
    expect(first.version).toBe(0);
    expect(first.changes.map(({ kind, id, change }) => [kind, id, change])).toEqual([
      [CatalogEntryKind.UPSTREAM, "local", CatalogChangeKind.ADDED],
      [CatalogEntryKind.MODEL, "acme/large", CatalogChangeKind.ADDED],
    ]);
    expect((await operator.getCatalog({})).catalog?.models).toEqual([]);
    await operator.publishCatalog({ draft: draft(yaml("5000")), baseVersion: 0 });
    const dearer = await operator.previewCatalog({ draft: draft(yaml("5500")) });
    expect(dearer).toMatchObject({ version: 1, changes: [{ id: "acme/large", change: CatalogChangeKind.CHANGED }] });
    expect(dearer.changes[0]?.priceDifference).toMatchObject({ input: "+500", output: "0", cacheHit: "0" });
    expect(dearer.changes[0]?.fields).toMatchObject([{ field: "price.input", before: '"5000"', after: '"5500"' }]);
    const late = await refusal(operator.publishCatalog({ draft: draft(yaml("5500")), baseVersion: 0 }));
    expect(late).toEqual({ code: "validation_error", rules: ["baseVersion catalog.base_version"] });
    await operator.publishCatalog({ draft: draft(yaml("5500")), baseVersion: 1, reason: "dearer" });

    const { models } = await createCatalog({ database: served.database }).snapshot();
    expect(models.get("acme/large")?.inputPrice).toBe(rupiah("5500"));
    const { versions } = await operator.listCatalogVersions({});
    expect(versions).toMatchObject([
      { number: 2, operator: OPERATOR, reason: "dearer", added: 0, changed: 1, retired: 0 },
      { number: 1, operator: OPERATOR, reason: "", added: 2 },
    ]);
    const page = await operator.listCatalogVersions({ pageSize: 1 });
    expect(page.versions).toMatchObject([{ number: 2 }]);
    const next = await operator.listCatalogVersions({ pageSize: 1, pageToken: page.nextPageToken });
    expect(next.versions).toMatchObject([{ number: 1 }]);
    expect(next.nextPageToken).toBe("");
    const old = await operator.getCatalogVersion({ number: 1 });
    expect(old.yaml).toContain('"5000"');
    // The database keeps fields in an order of its own.
    const byField = ({ changes }: Pick<typeof old, "changes">) =>
      changes.map(({ id, fields }) => [
        id,
        Object.fromEntries(fields.map(({ field, after }) => [field, parsed(after)])),
      ]);
    expect(byField(old)).toEqual(byField({ changes: first.changes }));
    expect(await refusal(operator.getCatalogVersion({ number: 9 }))).toMatchObject({ code: "not_found" });
  });

  test("remembers that a key was some host's although its upstream was taken out", async () => {
    const { operator } = served;
    const plain = yaml("5500");
    const withSpare = (baseUrl: string): string =>
      plain.replace(
        "LOCAL_API_KEY }",
        `LOCAL_API_KEY }, { id: spare, base_url: "${baseUrl}", api_key_env: SPARE_API_KEY }`,
      );
    const publish = async (text: string): Promise<void> => {
      const { version } = await operator.getCatalog({});
      await operator.publishCatalog({ draft: draft(text), baseVersion: version });
    };
    await publish(withSpare("https://spare.example.com"));
    await publish(plain);
    expect((await refusal(publish(withSpare("https://evil.example.com")))).rules).toEqual([
      "upstreams.spare.base_url catalog.new_host",
    ]);
  });

  test("takes prices of every kind as messages, shows how far they move, and warns of a loss", async () => {
    const { operator } = served;
    const { version, catalog } = await operator.getCatalog({});
    const [model] = catalog?.models ?? [];
    if (catalog === undefined || model?.price === undefined) throw new Error("there is a model with a price");
    const longContext = [{ above: 500, input: "10000", output: "30000", cacheHit: "1900", cacheWrite: "12500" }];
    const price = {
      input: model.price.input,
      output: model.price.output,
      cacheHit: "950.5",
      cacheWrite: "6250",
      cacheWrite1h: "10000",
      audioInput: "7000",
      imageInput: "8000",
      imageOutput: "90000",
      perRequest: "25",
      longContext,
    };
    const dearer = { input: "1", output: "2", cacheWrite: "7000", longContext: [] };
    const routes = [
      { upstream: "local", model: "l", firstByteTimeoutMs: 15_000, mayRepeatPaid: true, cost: dearer },
      { upstream: "openai", model: "o" },
    ].map((route) => create(CatalogRouteSchema, route));
    const accepts = create(CatalogAcceptsSchema, { thinking: "adaptive", sampling: true, prefill: true });
    const changed = { ...model, price: create(CatalogPricesSchema, price), routes, accepts };
    // Its own fields precede the facts of its host.
    const contrary = create(CatalogUpstreamSchema, {
      id: "contrary",
      kind: "openai-compatible",
      baseUrl: "https://api.openai.com/v1",
      outputCapField: "max_tokens",
      chargesCacheWrites: false,
      takesServiceTier: false,
    });
    const value = create(CatalogSchema, { upstreams: [...catalog.upstreams, contrary], models: [changed] });
    const content = { case: "catalog", value } as const;
    const shown = await operator.previewCatalog({ draft: { content } });
    const [ofUpstream, ofModel] = shown.changes;
    expect(ofUpstream?.fields).toContainEqual(
      expect.objectContaining({ field: "output_cap_field", after: '"max_tokens"' }),
    );
    expect(ofModel?.priceDifference).toMatchObject({
      input: "0",
      cacheWrite: "+750",
      cacheWrite1h: "+4500",
      audioInput: "+1500",
      imageOutput: "+75000",
      perRequest: "+25",
      longContext: [{ above: 500, input: "+4500", output: "+15000", cacheHit: "+949.5", cacheWrite: "+7000" }],
    });
    const loss = { model: "acme/large", route: 0, upstream: "local", price: "cache_write", sold: "6250", cost: "7000" };
    expect(shown.warnings).toMatchObject([{ reason: CatalogWarningReason.COST_EXCEEDS_PRICE, above: 0, ...loss }]);
    const published = await operator.publishCatalog({ draft: { content }, baseVersion: version, reason: "kinds" });
    expect(published).toMatchObject({ version: version + 1, warnings: [loss] });
    const [now] = (await operator.getCatalog({})).catalog?.models ?? [];
    expect(now?.price).toMatchObject(price);
    expect(now?.accepts).toMatchObject({ thinking: "adaptive", sampling: true, prefill: true, cacheMarkers: true });
    expect(now?.routes).toMatchObject([{ firstByteTimeoutMs: 15_000, mayRepeatPaid: true, cost: dearer }, {}]);
    const old = await operator.getCatalogVersion({ number: version + 1 });
    expect(old.changes[1]?.priceDifference).toEqual(ofModel?.priceDifference);
    const { upstreams } = (await operator.getCatalog({})).catalog ?? {};
    expect(upstreams).toMatchObject([
      { id: "contrary", outputCapField: "max_tokens", chargesCacheWrites: false, takesServiceTier: false },
      { id: "local", outputCapField: "max_tokens", chargesCacheWrites: false },
    ]);
  });

  test("is the same as a file and as messages, there and back", async () => {
    const { operator } = served;
    const { version, yaml: live, catalog } = await operator.getCatalog({});
    if (catalog === undefined) throw new Error("there is a catalog");
    const content = { case: "catalog", value: catalog } as const;
    expect((await operator.previewCatalog({ draft: { content } })).changes).toEqual([]);
    expect((await operator.previewCatalog({ draft: draft(live) })).changes).toEqual([]);
    // Publishing the same catalog makes no version and leaves no line.
    const { count } = await served.actions();
    expect(await operator.publishCatalog({ draft: { content }, baseVersion: version })).toMatchObject({
      version,
      changes: [],
    });
    expect((await served.actions()).count).toBe(count);
  });

  test("is refused whole, with every problem and its place, as a file and as messages", async () => {
    const { operator } = served;
    const wrong = await refusal(operator.previewCatalog({ draft: draft(`models: [{ id: "a b" }]`) }));
    expect(wrong.code).toBe("validation_error");
    expect(wrong.rules).toEqual(expect.arrayContaining(["models[0].id text", "models[0].price required"]));
    const price = { input: "1e400", output: "-1" };
    const model = {
      id: "acme/x",
      contextLength: 10,
      maxOutputTokens: 11,
      price,
      routes: [{ upstream: "missing", model: "m" }],
    };
    const content = { case: "catalog", value: create(CatalogSchema, { models: [model] }) } as const;
    const { count } = await served.actions();
    const refused = await refusal(operator.publishCatalog({ draft: { content }, baseVersion: 3 }));
    expect(refused.rules.toSorted()).toEqual([
      "models[0].max_output_tokens max_output_tokens",
      "models[0].price.input decimal.not_a_decimal",
      "models[0].price.output decimal.not_a_decimal",
      "models[0].routes[0].upstream upstream.known",
    ]);
    expect((await refusal(operator.previewCatalog({ draft: {} }))).code).toBe("validation_error");
    expect((await served.actions()).count).toBe(count);
  });
});
