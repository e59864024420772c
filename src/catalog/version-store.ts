// The catalogs that were published, whole, and what each changed.

import type { Pool, PoolClient } from "pg";
import { NotFound } from "../kernel/errors.ts";
import type { CatalogChange, FieldChange, PriceDifference } from "./catalog-changes.ts";

/** A catalog that was published. It never changes. */
export type CatalogVersion = {
  readonly number: number;
  readonly operator: string;
  readonly reason: string | null;
  readonly publishedAt: Date;
  /** How many models and upstreams came, changed and went. */
  readonly added: number;
  readonly changed: number;
  readonly retired: number;
};

type Queryable = Pick<Pool | PoolClient, "query">;

const LATEST = `SELECT coalesce(max(number), 0) AS number FROM catalog_version`;
const INSERT = `INSERT INTO catalog_version (number, operator, reason, yaml) VALUES ($1::int, $2, $3, $4)`;
const count = (change: CatalogChange["change"]): string =>
  `(SELECT count(*)::int FROM catalog_change c WHERE c.version = v.number AND c.change = '${change}') AS ${change}`;
const COLUMNS = `
  v.number, v.operator, v.reason, v.published_at AS "publishedAt", ${count("added")}, ${count("changed")}, ${count("retired")}`;
const LIST = `
SELECT ${COLUMNS} FROM catalog_version v WHERE v.number < $1::bigint ORDER BY v.number DESC LIMIT $2::int`;
const ONE = `SELECT ${COLUMNS}, v.yaml FROM catalog_version v WHERE v.number = $1::bigint`;
const HAS_TEXT = `SELECT EXISTS (SELECT FROM catalog_version WHERE position($1 IN yaml) > 0) AS was`;
const CHANGES = `
SELECT subject, change, before, after, price_difference FROM catalog_change WHERE version = $1::bigint ORDER BY id`;

type ChangeRow = {
  subject: string;
  change: CatalogChange["change"];
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  price_difference: PriceDifference | null;
};

/** The number of the version that is live. 0: none was published yet. */
export async function readVersionNumber(client: Queryable): Promise<number> {
  return (await client.query<{ number: number }>(LATEST)).rows[0]?.number ?? 0;
}

/** Adds a version. */
export async function insertVersion(
  client: PoolClient,
  version: Pick<CatalogVersion, "number" | "operator" | "reason"> & { readonly yaml: string },
): Promise<void> {
  await client.query(INSERT, [version.number, version.operator, version.reason, version.yaml]);
}

/** Versions with a number before `before`, newest first; null: from the newest on. */
export async function listVersions(
  pool: Pool,
  { before = null, limit }: { before?: number | null; limit: number },
): Promise<CatalogVersion[]> {
  return (await pool.query<CatalogVersion>(LIST, [before ?? Number.MAX_SAFE_INTEGER, limit])).rows;
}

/** One version with its catalog and what it changed. Errors: NotFound. */
export async function readVersion(
  pool: Pool,
  number: number,
): Promise<{ version: CatalogVersion; yaml: string; changes: CatalogChange[] }> {
  const { rows } = await pool.query<CatalogVersion & { yaml: string }>(ONE, [number]);
  if (rows[0] === undefined) throw new NotFound("There is no such version of the catalog.");
  const { yaml, ...version } = rows[0];
  const changes = await pool.query<ChangeRow>(CHANGES, [number]);
  return { version, yaml, changes: changes.rows.map(fromRow) };
}

function fromRow({ subject, change, before, after, price_difference: priceDifference }: ChangeRow): CatalogChange {
  const colon = subject.indexOf(":");
  const kind = subject.slice(0, colon) === "upstream" ? "upstream" : "model";
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const fields = names.map((field): FieldChange => ({
    field,
    before: before?.[field] ?? null,
    after: after?.[field] ?? null,
  }));
  return { kind, id: subject.slice(colon + 1), change, fields, priceDifference };
}

/** Whether the YAML of any version has a text in it. */
export async function wasPublished(client: Pick<PoolClient, "query">, text: string): Promise<boolean> {
  const { rows } = await client.query<{ was: boolean }>(HAS_TEXT, [text]);
  return rows[0]?.was !== false;
}
