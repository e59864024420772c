// The catalog's tables. Reading takes models and upstreams of one moment, so that no route leads to an upstream unknown. A start and
// the path of requests read by SQL; publishing writes by the entity manager.

import type { PoolClient } from "pg";
import type { Database } from "../database/database.ts";
import { entitiesOn } from "../database/orm.ts";
import { withTransaction } from "../database/transactions.ts";
import { uuidv7 } from "../kernel/ids.ts";
import type {
  CatalogModel,
  Modality,
  ModelKind,
  OutputCapField,
  Route,
  UpstreamConfig,
  UpstreamKind,
} from "./catalog-model.ts";
import type { CatalogChange } from "./catalog-changes.ts";
import { parseAccepts, writeAccepts, type WrittenAccepts } from "./accepts-file.ts";
import { type FileModel, writeRoute } from "./model-file.ts";
import { parseOtherPrices, parsePrices, writeOtherPrices, type WrittenOtherPrices } from "./price-file.ts";
import { unusualFacts } from "./upstream-file.ts";

/** All that is sold, with the upstreams of the file. */
export type ActiveCatalog = { readonly upstreams: readonly UpstreamConfig[]; readonly models: readonly CatalogModel[] };

const LOCK = `LOCK TABLE catalog_model IN SHARE ROW EXCLUSIVE MODE`;
const ACTIVE_UPSTREAMS = `SELECT * FROM catalog_upstream WHERE state = 'active' ORDER BY id COLLATE "C"`;
const ACTIVE_MODELS = `SELECT * FROM catalog_model WHERE state = 'active' ORDER BY id COLLATE "C"`;

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
  takes_service_tier: boolean | null;
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
  accepts: WrittenAccepts | null;
  kind: ModelKind;
  created_at: Date;
};

/** Keeps every other apply waiting until the transaction ends; readers go on. */
export async function lockCatalog(client: PoolClient): Promise<void> {
  await client.query("SET LOCAL lock_timeout = '10s'");
  await client.query(LOCK);
}

/** Reads what is active inside the caller's transaction. */
export async function readActiveCatalog(client: Pick<PoolClient, "query">): Promise<ActiveCatalog> {
  const upstreams = await client.query<UpstreamRow>(ACTIVE_UPSTREAMS);
  const models = await client.query<ModelRow>(ACTIVE_MODELS);
  return { upstreams: upstreams.rows.map(fromRowUpstream), models: models.rows.map(fromRowModel) };
}

/** Reads the active catalog at one moment. */
export function readCatalogAtOnce(database: Pick<Database, "pool">): Promise<ActiveCatalog> {
  return atOneMoment(database, readActiveCatalog);
}

/** Runs reads that all see the same moment. */
export function atOneMoment<T>(database: Pick<Database, "pool">, read: (client: PoolClient) => Promise<T>): Promise<T> {
  return withTransaction(database, async (client) => {
    await client.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    return read(client);
  });
}

/** Adds an upstream or makes it what is given. */
export async function putUpstream(client: PoolClient, upstream: UpstreamConfig): Promise<void> {
  const { em, CatalogUpstream, raw } = await entitiesOn(client);
  const row = {
    id: upstream.id,
    kind: upstream.kind,
    baseUrl: upstream.baseUrl,
    apiKeyEnv: upstream.apiKeyEnv,
    allowPrivateAddress: upstream.allowPrivateAddress,
    connectTimeoutMs: upstream.connectTimeoutMs,
    firstByteTimeoutMs: upstream.firstByteTimeoutMs,
    idleTimeoutMs: upstream.idleTimeoutMs,
    outputCapField: upstream.outputCapField ?? "max_tokens",
    chargesCacheWrites: upstream.chargesCacheWrites ?? false,
    takesServiceTier: upstream.takesServiceTier ?? null,
    state: "active",
    updatedAt: raw("clock_timestamp()"),
  };
  await em.createQueryBuilder(CatalogUpstream).insert(row).onConflict("id").merge().execute("run");
}

/** Adds a model or makes it what is given. A model that comes back keeps the day it first came. */
export async function putModel(client: PoolClient, model: FileModel): Promise<void> {
  const { em, CatalogModel, raw } = await entitiesOn(client);
  const row = {
    id: model.id,
    kind: model.kind,
    name: model.name,
    description: model.description,
    badge: model.badge,
    inputModalities: [...model.inputModalities],
    contextLength: model.contextLength,
    maxOutputTokens: model.maxOutputTokens,
    inputPrice: model.inputPrice,
    outputPrice: model.outputPrice,
    cacheHitPrice: model.cacheHitPrice,
    routes: model.routes.map(writeRoute),
    mediaTokens: model.mediaTokens,
    hiddenOutput: model.hiddenOutput,
    accepts: model.accepts === undefined ? null : writeAccepts(model.accepts),
    otherPrices: model.otherPrices ? writeOtherPrices(model.otherPrices) : null,
    state: "active",
    updatedAt: raw("clock_timestamp()"),
  };
  await em.createQueryBuilder(CatalogModel).insert(row).onConflict("id").merge().execute("run");
}

/** Takes an upstream or model out of the catalog. Its row stays, for old usage records name it. */
export async function retire(client: PoolClient, { kind, id }: Pick<CatalogChange, "kind" | "id">): Promise<void> {
  const { em, CatalogModel, CatalogUpstream, raw } = await entitiesOn(client);
  const retired = { state: "retired", updatedAt: raw("clock_timestamp()") };
  if (kind === "upstream") await em.nativeUpdate(CatalogUpstream, { id }, retired);
  else await em.nativeUpdate(CatalogModel, { id }, retired);
}

/** Adds a line to the history of the version that brings it. */
export async function insertChange(client: PoolClient, line: CatalogChange & { version: number }): Promise<void> {
  const { em, CatalogChange } = await entitiesOn(client);
  const { kind, id, change, fields, version, priceDifference } = line;
  const side = (which: "before" | "after") => Object.fromEntries(fields.map((each) => [each.field, each[which]]));
  await em.insert(CatalogChange, {
    id: uuidv7(),
    subject: `${kind}:${id}`,
    change,
    before: change === "added" ? null : side("before"),
    after: change === "retired" ? null : side("after"),
    version,
    priceDifference,
  });
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
    ...(row.takes_service_tier === null ? {} : { takesServiceTier: row.takes_service_tier }),
  };
}

function fromRowModel(row: ModelRow): CatalogModel {
  return {
    id: row.id,
    kind: row.kind,
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
    ...(row.accepts === null ? {} : { accepts: parseAccepts(row.accepts) }),
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
