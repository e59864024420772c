import { expect, test } from "vitest";
import { stringify } from "yaml";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { takesServiceTier } from "../../src/catalog/upstream-file.ts";
import { createTestDatabase } from "../setup/test-database.ts";
import { applyCatalog } from "./apply.ts";

const local = { id: "local", base_url: "https://api.example.com/v1" };
const openai = { id: "openai", base_url: "https://api.openai.com/v1" };
const set = {
  ...local,
  output_cap_field: "max_completion_tokens",
  charges_cache_writes: true,
  takes_service_tier: true,
};

test("the catalog keeps which field of an upstream bounds its output, what it charges for, and whether it knows tiers", async () => {
  const opened = await createTestDatabase();
  const { database } = opened;
  try {
    const apply = async (...upstreams: object[]) => {
      const yaml = stringify({ upstreams, models: [] });
      const changes = await applyCatalog(database, { yaml, dryRun: false, presetUpstreams: [] });
      return changes.map(({ change, id }) => `${change} ${id}`);
    };
    const facts = async () => {
      const { upstreams } = await createCatalog({ database }).snapshot();
      return [...upstreams.values()].map((upstream) => {
        const { id, outputCapField = "max_tokens", chargesCacheWrites = false } = upstream;
        return [id, outputCapField, chargesCacheWrites, takesServiceTier(upstream)];
      });
    };
    await apply(local, openai);
    expect(await facts()).toEqual([
      ["local", "max_tokens", false, false],
      ["openai", "max_completion_tokens", true, true],
    ]);
    expect(await apply(local, openai)).toEqual([]);
    expect(await apply(set, openai)).toEqual(["changed local"]);
    expect(await facts()).toContainEqual(["local", "max_completion_tokens", true, true]);
    expect(await apply(set, { ...openai, takes_service_tier: false })).toEqual(["changed openai"]);
    expect(await facts()).toContainEqual(["openai", "max_completion_tokens", true, false]);
  } finally {
    await opened.drop();
  }
});
