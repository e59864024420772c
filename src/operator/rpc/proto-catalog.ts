// Translates the catalog to its contract and back.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type Catalog as ProtoCatalog,
  type CatalogAccepts as ProtoAccepts,
  CatalogChangeKind,
  type CatalogDraft as ProtoDraft,
  CatalogEntryKind,
  type CatalogModel as ProtoModel,
  CatalogModelKind,
  type CatalogRoute as ProtoRoute,
  type CatalogUpstream as ProtoUpstream,
} from "#gen/saldo/operator/v1/catalog_pb.ts";
import type { ModelKind, UpstreamConfig } from "../../catalog/catalog-model.ts";
import type { CatalogChange } from "../../catalog/catalog-changes.ts";
import type { CatalogFile } from "../../catalog/catalog-file.ts";
import type { FileModel } from "../../catalog/model-file.ts";
import { pricesOf, showPrices } from "../../catalog/prices.ts";
import { takesServiceTier } from "../../catalog/upstream-file.ts";
import type { CatalogVersion } from "../../catalog/version-store.ts";
import { fromProtoPrices, toProtoDifference } from "./proto-catalog-prices.ts";
import { given } from "./proto-parts.ts";

const changeKind = {
  added: CatalogChangeKind.ADDED,
  changed: CatalogChangeKind.CHANGED,
  retired: CatalogChangeKind.RETIRED,
} as const satisfies Record<CatalogChange["change"], CatalogChangeKind>;
const entryKind = {
  model: CatalogEntryKind.MODEL,
  upstream: CatalogEntryKind.UPSTREAM,
} as const satisfies Record<CatalogChange["kind"], CatalogEntryKind>;
const modelKind = {
  chat: CatalogModelKind.CHAT,
  embeddings: CatalogModelKind.EMBEDDINGS,
} as const satisfies Record<ModelKind, CatalogModelKind>;

/** A draft as a file: messages are put into the words of the file, so that both are judged by one reader. JSON is YAML. */
export function yamlOf(draft: ProtoDraft | undefined): string {
  if (draft?.content.case === "yaml") return draft.content.value;
  if (draft?.content.case === "catalog") return JSON.stringify(fromProtoCatalog(draft.content.value));
  return "";
}

function fromProtoCatalog({ upstreams, models }: ProtoCatalog) {
  return { upstreams: upstreams.map(fromProtoUpstream), models: models.map(fromProtoModel) };
}

function fromProtoUpstream(upstream: ProtoUpstream) {
  return {
    id: upstream.id,
    ...given("kind", upstream.kind),
    ...given("base_url", upstream.baseUrl),
    ...given("api_key_env", upstream.apiKeyEnv),
    ...(upstream.allowPrivateAddress ? { allow_private_address: true } : {}),
    ...unlessZero("connect_timeout_ms", upstream.connectTimeoutMs),
    ...unlessZero("first_byte_timeout_ms", upstream.firstByteTimeoutMs),
    ...unlessZero("idle_timeout_ms", upstream.idleTimeoutMs),
    ...given("output_cap_field", upstream.outputCapField),
    ...(upstream.chargesCacheWrites === undefined ? {} : { charges_cache_writes: upstream.chargesCacheWrites }),
    ...(upstream.takesServiceTier === undefined ? {} : { takes_service_tier: upstream.takesServiceTier }),
  };
}

function fromProtoModel(model: ProtoModel) {
  const { price } = model;
  return {
    id: model.id,
    ...(model.kind === CatalogModelKind.EMBEDDINGS ? { kind: "embeddings" } : {}),
    ...given("name", model.name),
    ...given("description", model.description),
    ...given("badge", model.badge),
    ...(model.inputModalities.length === 0 ? {} : { input_modalities: model.inputModalities }),
    context_length: model.contextLength,
    ...(model.kind === CatalogModelKind.EMBEDDINGS ? {} : fromProtoOutput(model)),
    ...(price === undefined ? {} : { price: fromProtoPrices(price) }),
    routes: model.routes.map(fromProtoRoute),
  };
}

/** What only chat models have. */
function fromProtoOutput({ maxOutputTokens, mediaTokens, hiddenOutput, accepts }: ProtoModel) {
  return {
    max_output_tokens: maxOutputTokens,
    media_tokens: {
      ...unlessZero("image", mediaTokens?.image),
      ...unlessZero("audio", mediaTokens?.audio),
      ...unlessZero("video", mediaTokens?.video),
    },
    hidden_output: hiddenOutput,
    ...(accepts === undefined ? {} : { accepts: fromProtoAccepts(accepts) }),
  };
}

function fromProtoAccepts({ thinking, sampling, prefill, cacheMarkers }: ProtoAccepts) {
  return {
    ...given("thinking", thinking),
    sampling,
    prefill,
    ...(cacheMarkers === undefined ? {} : { cache_markers: cacheMarkers }),
  };
}

function fromProtoRoute({ upstream, model, firstByteTimeoutMs, mayRepeatPaid, cost }: ProtoRoute) {
  return {
    upstream,
    model,
    ...unlessZero("first_byte_timeout_ms", firstByteTimeoutMs),
    ...(mayRepeatPaid ? { may_repeat_paid: true } : {}),
    ...(cost === undefined ? {} : { cost: fromProtoPrices(cost) }),
  };
}

function unlessZero(name: string, value: number | undefined): Record<string, number> {
  return value === undefined || value === 0 ? {} : { [name]: value };
}

export function toProtoCatalog({ upstreams, models }: CatalogFile) {
  return { upstreams: upstreams.map(toProtoUpstream), models: models.map(toProtoModel) };
}

/** An upstream as it is set up, without its credential. */
export function toProtoUpstream(upstream: UpstreamConfig) {
  const { id, kind, baseUrl, apiKeyEnv, allowPrivateAddress } = upstream;
  const { connectTimeoutMs, firstByteTimeoutMs, idleTimeoutMs } = upstream;
  return {
    id,
    kind,
    // The one in our own process is nowhere else.
    baseUrl: kind === "demo" ? "" : baseUrl,
    apiKeyEnv: apiKeyEnv ?? "",
    allowPrivateAddress,
    connectTimeoutMs,
    firstByteTimeoutMs,
    idleTimeoutMs,
    outputCapField: upstream.outputCapField ?? "max_tokens",
    chargesCacheWrites: upstream.chargesCacheWrites ?? false,
    takesServiceTier: takesServiceTier(upstream),
  };
}

function toProtoModel(model: FileModel) {
  return {
    id: model.id,
    kind: modelKind[model.kind],
    name: model.name,
    description: model.description,
    badge: model.badge ?? "",
    inputModalities: [...model.inputModalities],
    contextLength: model.contextLength,
    maxOutputTokens: model.maxOutputTokens,
    mediaTokens: { ...model.mediaTokens },
    hiddenOutput: model.hiddenOutput,
    ...(model.accepts === undefined ? {} : { accepts: model.accepts }),
    price: showPrices(pricesOf(model)),
    routes: model.routes.map(({ cost, ...route }) => ({
      ...route,
      ...(cost === undefined ? {} : { cost: showPrices(cost) }),
    })),
  };
}

export function toProtoChange({ kind, id, change, fields, priceDifference }: CatalogChange) {
  return {
    kind: entryKind[kind],
    id,
    change: changeKind[change],
    fields: fields.map(({ field, before, after }) => ({ field, before: asJson(before), after: asJson(after) })),
    ...(priceDifference === null ? {} : { priceDifference: toProtoDifference(priceDifference) }),
  };
}

function asJson(value: unknown): string {
  return value === null ? "" : JSON.stringify(value);
}

export function toProtoVersion({ number, operator, reason, publishedAt, added, changed, retired }: CatalogVersion) {
  return {
    number,
    operator,
    reason: reason ?? "",
    publishedAt: timestampFromDate(publishedAt),
    added,
    changed,
    retired,
  };
}
