// The catalog for everyone: the same models and prices as for keys, without a session and without work for each call.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CatalogSnapshot } from "../../src/catalog/catalog-model.ts";
import { createPublicCatalogService } from "../../src/gateway/public-catalog-service.ts";
import { type Running, startServers } from "../transport/fakes.ts";
import { modelOf } from "./support.ts";

const METHOD = "/saldo.gateway.v1.PublicCatalogService/ListPublicModels";

/** A snapshot that counts how often its models are read. */
function snapshotOf(ids: readonly string[]): { readonly snapshot: CatalogSnapshot; readonly reads: () => number } {
  let reads = 0;
  const models = new Map(ids.map((id) => [id, modelOf(id)]));
  const snapshot = {
    takenAtMs: 0,
    upstreams: new Map(),
    get models() {
      reads += 1;
      return models;
    },
  };
  return { snapshot, reads: () => reads };
}

describe("the catalog without credentials", () => {
  let now = snapshotOf(["acme/small", "acme/large"]);
  let running: Running;
  const sessions: string[] = [];
  beforeAll(async () => {
    const publicCatalog = createPublicCatalogService({ snapshot: async () => now.snapshot });
    const verifySession = async (cookies: string) => (sessions.push(cookies), null);
    running = await startServers({
      implementations: { publicCatalog },
      people: { verifySession, accountExists: async () => false },
    });
  });
  afterAll(() => running.servers.close(0));

  const list = async () => {
    const answer = await fetch(`${running.http}${METHOD}?connect=v1&encoding=json&message=%7B%7D`);
    const { models } = (await answer.json()) as { models: { id: string; pricing: { input: string } }[] };
    return { status: answer.status, cache: answer.headers.get("cache-control"), models };
  };

  it("lists the models with their prices, and lets caches keep the list for a while", async () => {
    const { status, cache, models } = await list();
    expect([status, cache]).toEqual([200, "public, max-age=30"]);
    expect(models.map(({ id, pricing }) => [id, pricing.input])).toEqual([
      ["acme/large", "5000"],
      ["acme/small", "5000"],
    ]);
  });

  it("is built once for each copy of the catalog, however many ask", async () => {
    now = snapshotOf(["acme/new"]);
    const lists = await Promise.all(Array.from({ length: 20 }, list));
    expect(lists.map(({ models }) => models.map(({ id }) => id))).toEqual(lists.map(() => ["acme/new"]));
    expect(now.reads()).toBe(1);
    expect(sessions).toEqual([]);
  });

  it("has no path in REST, where the list is for keys", async () => {
    const answer = await fetch(`${running.http}/v1/models`);
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ error: "invalid_api_key" });
  });
});
