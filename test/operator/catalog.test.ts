// The catalog as an operator edits it, and how its upstreams do.

import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  CatalogChangeKind,
  CatalogDraftSchema,
  CatalogEntryKind,
  CatalogSchema,
} from "#gen/saldo/operator/v1/catalog_pb.ts";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { UpstreamCounts } from "../../src/gateway/upstream-figures.ts";
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

  test("is previewed, published against its version, and told to whoever comes late", async () => {
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

  test("is the same as a file and as messages, there and back", async () => {
    const { operator } = served;
    const { version, yaml: live, catalog } = await operator.getCatalog({});
    if (catalog === undefined) throw new Error("there is a catalog");
    const content = { case: "catalog", value: catalog } as const;
    expect((await operator.previewCatalog({ draft: { content } })).changes).toEqual([]);
    expect((await operator.previewCatalog({ draft: draft(live) })).changes).toEqual([]);
    // Publishing what is there makes no version and leaves no line.
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
      routes: [{ upstream: "nobody", model: "m" }],
    };
    const content = { case: "catalog", value: create(CatalogSchema, { models: [model] }) } as const;
    const { count } = await served.actions();
    const refused = await refusal(operator.publishCatalog({ draft: { content }, baseVersion: 2 }));
    expect(refused.rules.toSorted()).toEqual([
      "models[0].max_output_tokens max_output_tokens",
      "models[0].price.input decimal.not_a_decimal",
      "models[0].price.output decimal.not_a_decimal",
      "models[0].routes[0].upstream upstream.known",
    ]);
    expect((await refusal(operator.previewCatalog({ draft: {} }))).code).toBe("validation_error");
    expect((await served.actions()).count).toBe(count);
  });

  test("shows how its upstreams do, over all processes, and whether their variable is set", async () => {
    const { pool } = served.database;
    const [one, other] = [new UpstreamCounts(), new UpstreamCounts()];
    for (let n = 1; n <= 18; n += 1) one.answered("local", 150);
    one.failed("local", "the connection was reset");
    await one.flush(pool);
    other.answered("local", 4_000);
    other.answered("local", 40_000);
    other.answered("openai", null);
    await Promise.all([other.flush(pool), one.flush(pool)]);
    const { upstreams } = await served.operator.listUpstreams({});
    expect(upstreams.map(({ upstream }) => upstream?.id)).toEqual(["local", "openai"]);
    const [local, openai] = upstreams;
    expect(local).toMatchObject({
      isKnown: true,
      isPreset: false,
      isCredentialSet: false,
      variable: "LOCAL_API_KEY",
      models: 1,
    });
    const figures = { answered: 20n, failed: 1n, firstByteP50Ms: 200, firstByteP95Ms: 5_000 };
    expect(local?.recent).toMatchObject({ minutes: 5, ...figures });
    expect(local?.hour).toMatchObject({ minutes: 60, ...figures });
    expect(local?.lastFailure).toBe("the connection was reset");
    expect(openai).toMatchObject({ isPreset: true, isCredentialSet: true, variable: "SET_API_KEY", models: 1 });
    expect(openai?.recent).toMatchObject({ answered: 1n, failed: 0n });
    expect(openai?.recent?.firstByteP50Ms).toBeUndefined();
  });

  test("counts again what the database did not take", async () => {
    const counts = new UpstreamCounts();
    counts.answered("later", 100);
    const away = { query: () => Promise.reject(new Error("away")) } as unknown as typeof served.database.pool;
    await expect(counts.flush(away)).rejects.toThrow("away");
    counts.answered("later", 100);
    await counts.flush(served.database.pool);
    const { rows } = await served.database.pool.query("SELECT answered FROM upstream_minute WHERE upstream = 'later'");
    expect(rows).toEqual([{ answered: 2n }]);
  });
});
