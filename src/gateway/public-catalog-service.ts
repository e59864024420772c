// PublicCatalogService: the catalog for callers without credentials. An answer is made once for each snapshot of the catalog, so that
// many callers cost neither queries nor translations.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type ListPublicModelsResponse,
  ListPublicModelsResponseSchema,
  type PublicCatalogService,
} from "#gen/saldo/gateway/v1/public_catalog_service_pb.ts";
import type { CatalogSnapshot } from "../catalog/catalog-model.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { toProtoModel } from "./proto-model.ts";

/** For how long browsers and proxies may show an answer without another call. */
const FRESH_SECONDS = 30;

/** Makes the service. */
export function createPublicCatalogService(catalog: Catalog): ServiceImpl<typeof PublicCatalogService> {
  const answers = new WeakMap<CatalogSnapshot, ListPublicModelsResponse>();
  return {
    async listPublicModels(_request, context) {
      const snapshot = await catalog.snapshot();
      const known = answers.get(snapshot);
      const answer = known ?? answerOf(snapshot);
      if (known === undefined) answers.set(snapshot, answer);
      context.responseHeader.set("cache-control", `public, max-age=${FRESH_SECONDS}`);
      return answer;
    },
  };
}

function answerOf({ models, upstreams }: CatalogSnapshot): ListPublicModelsResponse {
  const sorted = [...models.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return create(ListPublicModelsResponseSchema, { models: sorted.map((model) => toProtoModel(model, upstreams)) });
}
