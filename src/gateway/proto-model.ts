import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ModelSchema } from "#gen/saldo/gateway/v1/model_pb.ts";
import type { CatalogModel } from "../catalog/catalog-model.ts";
import { cacheHitPercent, pricesOf, showPrices } from "../catalog/prices.ts";

/** A catalog model as callers see it: with the prices that are billed, and nothing of its upstreams. */
export function toProtoModel(model: CatalogModel): MessageInitShape<typeof ModelSchema> {
  const percent = cacheHitPercent(model);
  const [owner, ...path] = model.id.split("/");
  return {
    id: model.id,
    object: "model",
    type: "model",
    created: Math.floor(model.createdAt.getTime() / 1_000),
    ownedBy: path.length === 0 || owner === undefined ? "saldo" : owner,
    name: model.name,
    displayName: model.name,
    createdAt: model.createdAt.toISOString(),
    description: model.description,
    ...(model.badge === null ? {} : { badge: model.badge }),
    contextLength: model.contextLength,
    maxOutputTokens: model.maxOutputTokens,
    architecture: { inputModalities: [...model.inputModalities] },
    pricing: {
      currency: "IDR",
      unit: "per_1m_tokens",
      ...showPrices(pricesOf(model)),
      ...(percent === null ? {} : { cacheHitPercent: percent }),
    },
  };
}
