// The catalogs that were published, whole, and what each changed.

import type { Pool, PoolClient } from "pg";
import { entitiesOn } from "../database/orm.ts";
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

/** The number of the version that is live. 0: none was published yet. */
export async function readVersionNumber(client: Pool | PoolClient): Promise<number> {
  const { em, CatalogVersion } = await entitiesOn(client);
  const [latest] = await em.findAll(CatalogVersion, { orderBy: { number: "desc" }, limit: 1, fields: ["number"] });
  return latest?.number ?? 0;
}

/** Adds a version. */
export async function insertVersion(
  client: PoolClient,
  version: Pick<CatalogVersion, "number" | "operator" | "reason"> & { readonly yaml: string },
): Promise<void> {
  const { em, CatalogVersion } = await entitiesOn(client);
  await em.insert(CatalogVersion, version);
}

/** Versions with a number before `before`, newest first; null: from the newest on. */
export async function listVersions(
  pool: Pool,
  { before = null, limit }: { before?: number | null; limit: number },
): Promise<CatalogVersion[]> {
  const { em, CatalogVersion } = await entitiesOn(pool);
  const where = before === null ? {} : { number: { $lt: before } };
  const versions = await em.find(CatalogVersion, where, { orderBy: { number: "desc" }, limit, exclude: ["yaml"] });
  return versions.map(toVersion);
}

/** One version with its catalog and what it changed. Errors: NotFound. */
export async function readVersion(
  pool: Pool,
  number: number,
): Promise<{ version: CatalogVersion; yaml: string; changes: CatalogChange[] }> {
  const { em, CatalogVersion, CatalogChange } = await entitiesOn(pool);
  const version = await em.findOne(CatalogVersion, { number });
  if (version === null) throw new NotFound("There is no such version of the catalog.");
  const changes = await em.find(CatalogChange, { version: number }, { orderBy: { id: "asc" } });
  return {
    version: toVersion(version),
    yaml: version.yaml,
    changes: changes.map(({ subject, change, before, after, priceDifference }) => ({
      ...subjectOf(subject),
      change,
      fields: fieldsOf(before ?? {}, after ?? {}),
      priceDifference: (priceDifference ?? null) as PriceDifference | null,
    })),
  };
}

type VersionRow = Omit<CatalogVersion, "reason"> & { readonly reason?: string | null | undefined };

function toVersion({ number, operator, reason, publishedAt, added, changed, retired }: VersionRow): CatalogVersion {
  return { number, operator, reason: reason ?? null, publishedAt, added, changed, retired };
}

function subjectOf(subject: string): Pick<CatalogChange, "kind" | "id"> {
  const colon = subject.indexOf(":");
  return { kind: subject.slice(0, colon) === "upstream" ? "upstream" : "model", id: subject.slice(colon + 1) };
}

function fieldsOf(before: Record<string, unknown>, after: Record<string, unknown>): FieldChange[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return Array.from(names, (field) => ({ field, before: before[field] ?? null, after: after[field] ?? null }));
}

/** Whether the YAML of any version has a text in it. */
export async function wasPublished(client: PoolClient, text: string): Promise<boolean> {
  const { em, CatalogVersion, raw } = await entitiesOn(client);
  const where = { [raw("position(? in yaml)", [text])]: { $gt: 0 } };
  return (await em.findOne(CatalogVersion, where, { fields: ["number"] })) !== null;
}
