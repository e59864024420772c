// The catalog's tables. Reading takes models and upstreams of one moment, so that no route leads to an upstream unknown.

import type { PoolClient } from "pg";
import type { Database } from "../database/database.ts";
import { withTransaction } from "../database/transactions.ts";
import { uuidv7 } from "../kernel/ids.ts";
import type { CatalogModel, Modality, OutputCapField, Route, UpstreamConfig, UpstreamKind } from "./catalog-model.ts";
import type { CatalogChange } from "./catalog-changes.ts";
import { type FileModel, writeRoute } from "./catalog-file.ts";
import { parseOtherPrices, parsePrices, writeOtherPrices, type WrittenOtherPrices } from "./price-file.ts";
import { unusualFacts } from "./upstream-file.ts";

/** All that is sold, with the upstreams of the file. */
export type ActiveCatalog = { readonly upstreams: readonly UpstreamConfig[]; readonly models: readonly CatalogModel[] };

const LOCK = `LOCK TABLE catalog_model IN SHARE ROW EXCLUSIVE MODE`;
const ACTIVE_UPSTREAMS = `SELECT * FROM catalog_upstream WHERE state = 'active' ORDER BY id COLLATE "C"`;
const ACTIVE_MODELS = `SELECT * FROM catalog_model WHERE state = 'active' ORDER BY id COLLATE "C"`;

const PUT_UPSTREAM = `
INSERT INTO catalog_upstream (id, kind, base_url, api_key_env, allow_private_address,
                              connect_timeout_ms, first_byte_timeout_ms, idle_timeout_ms,
                              output_cap_field, charges_cache_writes, state)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'active')
ON CONFLICT (id) DO UPDATE SET kind = $2, base_url = $3, api_key_env = $4, allow_private_address = $5,
  connect_timeout_ms = $6, first_byte_timeout_ms = $7, idle_timeout_ms = $8,
  output_cap_field = $9, charges_cache_writes = $10, state = 'active', updated_at = clock_timestamp()`;

const PUT_MODEL = `
INSERT INTO catalog_model (id, name, description, badge, input_modalities, context_length, max_output_tokens,
                           input_price, output_price, cache_hit_price, routes, media_tokens, hidden_output,
                           other_prices, state)
VALUES ($1, $2, $3, $4, $5::text[], $6, $7, $8::bigint, $9::bigint, $10::bigint, $11::jsonb, $12::jsonb, $13,
        $14::jsonb, 'active')
ON CONFLICT (id) DO UPDATE SET name = $2, description = $3, badge = $4, input_modalities = $5::text[], context_length = $6,
  max_output_tokens = $7, input_price = $8::bigint, output_price = $9::bigint, cache_hit_price = $10::bigint,
  routes = $11::jsonb, media_tokens = $12::jsonb, hidden_output = $13, other_prices = $14::jsonb,
  state = 'active', updated_at = clock_timestamp()`;

const RETIRE = {
  upstream: `UPDATE catalog_upstream SET state = 'retired', updated_at = clock_timestamp() WHERE id = $1`,
  model: `UPDATE catalog_model SET state = 'retired', updated_at = clock_timestamp() WHERE id = $1`,
} as const;

const INSERT_CHANGE = `
INSERT INTO catalog_change (id, subject, change, before, after, version, price_difference)
VALUES ($1::uuid, $2, $3, $4::jsonb, $5::jsonb, $6::int, $7::jsonb)`;

type UpstreamRow = {
  id: string;
  kind: UpstreamKind;
  base_url: string;
  api_key_env: string | null;
  allow_private_address: boolean;
  connect_timeout_ms: number;
  first_byte_timeout_ms: number;
  idle_timeout_ms: number;
  output_cap_field: OutputCapField;
  charges_cache_writes: boolean;
};

// Prices in JSON are kept in the words of the file, so that none goes through a JavaScript number.
type RouteRow = ReturnType<typeof writeRoute>;

type ModelRow = {
  id: string;
  name: string;
  description: string;
  badge: string | null;
  input_modalities: Modality[];
  context_length: number;
  max_output_tokens: number;
  input_price: bigint;
  output_price: bigint;
  cache_hit_price: bigint | null;
  other_prices: WrittenOtherPrices | null;
  routes: RouteRow[];
  media_tokens: CatalogModel["mediaTokens"];
  hidden_output: boolean;
  created_at: Date;
};

/** Keeps every other apply waiting until the transaction ends; readers go on. */
export async function lockCatalog(client: PoolClient): Promise<void> {
  await client.query("SET LOCAL lock_timeout = '10s'");
  await client.query(LOCK);
}

/** Reads what is active inside the caller's transaction. */
export async function readActiveCatalog(client: PoolClient): Promise<ActiveCatalog> {
  const upstreams = await client.query<UpstreamRow>(ACTIVE_UPSTREAMS);
  const models = await client.query<ModelRow>(ACTIVE_MODELS);
  return { upstreams: upstreams.rows.map(fromRowUpstream), models: models.rows.map(fromRowModel) };
}

/** Reads the active catalog at one moment. */
export async function readCatalogAtOnce(database: Pick<Database, "pool">): Promise<ActiveCatalog> {
  return withTransaction(database, async (client) => {
    await client.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    return readActiveCatalog(client);
  });
}

/** Adds an upstream or makes it what is given. */
export async function putUpstream(client: PoolClient, upstream: UpstreamConfig): Promise<void> {
  await client.query(PUT_UPSTREAM, [
    upstream.id,
    upstream.kind,
    upstream.baseUrl,
    upstream.apiKeyEnv,
    upstream.allowPrivateAddress,
    upstream.connectTimeoutMs,
    upstream.firstByteTimeoutMs,
    upstream.idleTimeoutMs,
    upstream.outputCapField ?? "max_tokens",
    upstream.chargesCacheWrites ?? false,
  ]);
}

/** Adds a model or makes it what is given. A model that comes back keeps the day it first came. */
export async function putModel(client: PoolClient, model: FileModel): Promise<void> {
  await client.query(PUT_MODEL, [
    model.id,
    model.name,
    model.description,
    model.badge,
    model.inputModalities,
    model.contextLength,
    model.maxOutputTokens,
    model.inputPrice,
    model.outputPrice,
    model.cacheHitPrice,
    JSON.stringify(model.routes.map(writeRoute)),
    JSON.stringify(model.mediaTokens),
    model.hiddenOutput,
    model.otherPrices ? JSON.stringify(writeOtherPrices(model.otherPrices)) : null,
  ]);
}

/** Takes an upstream or model out of the catalog. Its row stays, for old usage records name it. */
export async function retire(client: PoolClient, { kind, id }: Pick<CatalogChange, "kind" | "id">): Promise<void> {
  await client.query(RETIRE[kind], [id]);
}

/** Adds a line to the history of the version that brings it. */
export async function insertChange(client: PoolClient, line: CatalogChange & { version: number }): Promise<void> {
  const { kind, id, change, fields, version, priceDifference } = line;
  const side = (which: "before" | "after") =>
    JSON.stringify(Object.fromEntries(fields.map((each) => [each.field, each[which]])));
  await client.query(INSERT_CHANGE, [
    uuidv7(),
    `${kind}:${id}`,
    change,
    change === "added" ? null : side("before"),
    change === "retired" ? null : side("after"),
    version,
    priceDifference === null ? null : JSON.stringify(priceDifference),
  ]);
}

function fromRowUpstream(row: UpstreamRow): UpstreamConfig {
  return {
    id: row.id,
    kind: row.kind,
    baseUrl: row.base_url,
    apiKeyEnv: row.api_key_env,
    allowPrivateAddress: row.allow_private_address,
    connectTimeoutMs: row.connect_timeout_ms,
    firstByteTimeoutMs: row.first_byte_timeout_ms,
    idleTimeoutMs: row.idle_timeout_ms,
    ...unusualFacts({ outputCapField: row.output_cap_field, chargesCacheWrites: row.charges_cache_writes }),
  };
}

function fromRowModel(row: ModelRow): CatalogModel {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    badge: row.badge,
    inputModalities: row.input_modalities,
    contextLength: row.context_length,
    maxOutputTokens: row.max_output_tokens,
    inputPrice: row.input_price,
    outputPrice: row.output_price,
    cacheHitPrice: row.cache_hit_price,
    ...(row.other_prices === null ? {} : { otherPrices: parseOtherPrices(row.other_prices) }),
    routes: row.routes.map(fromRowRoute),
    mediaTokens: row.media_tokens,
    hiddenOutput: row.hidden_output,
    createdAt: row.created_at,
  };
}

function fromRowRoute(row: RouteRow): Route {
  const { upstream, model, cost, first_byte_timeout_ms: firstByteTimeoutMs } = row;
  return {
    upstream,
    model,
    ...(cost === undefined ? {} : { cost: parsePrices(cost) }),
    ...(firstByteTimeoutMs === undefined ? {} : { firstByteTimeoutMs }),
    ...(row.may_repeat_paid === true ? { mayRepeatPaid: true } : {}),
  };
}
