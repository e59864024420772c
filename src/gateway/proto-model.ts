import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ModelSchema } from "#gen/saldo/gateway/v1/model_pb.ts";
import type { CatalogModel, CatalogSnapshot } from "../catalog/catalog-model.ts";
import { cacheHitPercent, pricesOf, showPrices } from "../catalog/prices.ts";
import { nativeProtocols } from "./native-protocols.ts";

/** A catalog model as callers see it: with the prices that are billed, and of its upstreams only the formats that they speak. */
export function toProtoModel(
  model: CatalogModel,
  upstreams: CatalogSnapshot["upstreams"],
): MessageInitShape<typeof ModelSchema> {
  const percent = cacheHitPercent(model);
  const [owner, ...path] = model.id.split("/");
  return {
    id: model.id,
    kind: model.kind,
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
    nativeProtocols: nativeProtocols(model, upstreams),
    architecture: { inputModalities: [...model.inputModalities] },
    pricing: {
      currency: "IDR",
      unit: "per_1m_tokens",
      ...showPrices(pricesOf(model)),
      ...(percent === null ? {} : { cacheHitPercent: percent }),
    },
  };
}
