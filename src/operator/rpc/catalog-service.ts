import type { ServiceImpl } from "@connectrpc/connect";
import type { CatalogService } from "#gen/saldo/operator/v1/catalog_service_pb.ts";
import { previewCatalog, readLiveCatalog } from "../../catalog/apply-catalog.ts";
import { listVersions, readVersion } from "../../catalog/version-store.ts";
import { publishCatalog } from "../commands/catalog.ts";
import { readNumberedPage } from "../../kernel/paging.ts";
import { toProtoCatalog, toProtoChange, toProtoVersion, yamlOf } from "./proto-catalog.ts";
import { toProtoWarning } from "./proto-catalog-prices.ts";
import { orNull, type Parts } from "./proto-parts.ts";
import { listUpstreams } from "./proto-upstreams.ts";

/** CatalogService: what is live, drafts, what was published, and the upstreams. */
export function createCatalogService({
  database,
  operatorContext,
  isSet,
  presetUpstreams = [],
  presetModels = [],
}: Pick<Parts, "database" | "operatorContext" | "isSet" | "presetUpstreams" | "presetModels">): ServiceImpl<
  typeof CatalogService
> {
  const remote = { isSet };
  const presets = { presetUpstreams, presetModels };
  return {
    async getCatalog() {
      const { version, yaml, catalog } = await readLiveCatalog(database, presets);
      return { version, yaml, catalog: toProtoCatalog(catalog) };
    },

    async previewCatalog({ draft }) {
      const wanted = { ...presets, yaml: yamlOf(draft), remote };
      const { version, changes, warnings } = await previewCatalog(database, wanted);
      return { version, changes: changes.map(toProtoChange), warnings: warnings.map(toProtoWarning) };
    },

    async publishCatalog({ draft, baseVersion, reason }, context) {
      const command = { ...presets, yaml: yamlOf(draft), baseVersion, reason: orNull(reason), remote };
      const { version, changes, warnings } = await publishCatalog(operatorContext(context), command);
      return { version, changes: changes.map(toProtoChange), warnings: warnings.map(toProtoWarning) };
    },

    async listCatalogVersions(request) {
      const page = await readNumberedPage(
        request,
        (range) => listVersions(database.pool, range),
        ({ number }) => number,
      );
      return { versions: page.items.map(toProtoVersion), nextPageToken: page.nextPageToken };
    },

    async getCatalogVersion({ number }) {
      const { version, yaml, changes } = await readVersion(database.pool, number);
      return { version: toProtoVersion(version), yaml, changes: changes.map(toProtoChange) };
    },

    async listUpstreams() {
      return { upstreams: await listUpstreams(database, { isSet, presetUpstreams, presetModels }) };
    },
  };
}
