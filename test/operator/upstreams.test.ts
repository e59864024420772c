// The upstreams of the catalog for operators: their figures over all processes, and the processes' findings.

import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CatalogDraftSchema } from "#gen/saldo/operator/v1/catalog_pb.ts";
import { UpstreamCounts } from "../../src/gateway/upstreams/upstream-figures.ts";
import { forgetUpstreamMarks, UpstreamMarks } from "../../src/gateway/upstreams/upstream-marks.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { serveOperator, type ServedOperator } from "./operator-calls.ts";

const CATALOG = `
upstreams: [{ id: local, base_url: "https://llm.example.com/v1", api_key_env: LOCAL_API_KEY }]
models:
  - id: acme/large
    context_length: 1000
    max_output_tokens: 100
    price: { input: "5000", output: "15000" }
    routes: [{ upstream: local, model: l }, { upstream: openai, model: o }]
`;

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
  const draft = create(CatalogDraftSchema, { content: { case: "yaml", value: CATALOG } });
  await served.operator.publishCatalog({ draft, baseVersion: 0 });
});
afterAll(() => served.stop());

describe("the upstreams of the catalog", () => {
  test("are shown with their figures over all processes, and whether their variable is set", async () => {
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

  test("are shown with what processes found out of them, which processes share", async () => {
    const { pool } = served.database;
    const [one, other] = [new UpstreamMarks(), new UpstreamMarks()];
    one.add("local");
    const away = { query: () => Promise.reject(new Error("away")) };
    await expect(one.exchange(away as unknown as typeof pool)).rejects.toThrow("away");
    expect(await one.exchange(pool)).toMatchObject([{ upstream: "local" }]);
    const [mark] = await other.exchange(pool);
    expect(mark?.agoMs).toBeGreaterThanOrEqual(0);
    await pool.query("INSERT INTO learned_model (model, upstream, request_id) VALUES ('acme/large', 'local', $1)", [
      uuidv7(),
    ]);
    const { upstreams } = await served.operator.listUpstreams({});
    const healthOf = (id: string) => upstreams.find(({ upstream }) => upstream?.id === id);
    const [local, openai] = [healthOf("local"), healthOf("openai")];
    expect(local?.mixedUpAt).toBeDefined();
    expect(local?.hiddenOutputModels).toEqual(["acme/large"]);
    expect(openai?.mixedUpAt).toBeUndefined();
    expect(openai?.hiddenOutputModels).toEqual([]);
    await pool.query("UPDATE upstream_mark SET mixed_up_at = clock_timestamp() - interval '31 days'");
    await forgetUpstreamMarks(pool);
    expect(await other.exchange(pool)).toEqual([]);
  });

  test("are counted again where the database was away", async () => {
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
