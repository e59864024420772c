// A model of the catalog file: read and judged, and written in the same form.

import type {
  CatalogModel,
  MediaModality,
  Modality,
  ModelKind,
  Route,
  RouteCost,
  UpstreamKind,
} from "./catalog-model.ts";
import { readAccepts, writeAccepts } from "./accepts-file.ts";
import { checkAnthropicRoute, type PriceField } from "./anthropic-routes.ts";
import type { FileField } from "./file-field.ts";
import { readEmbeddingsPrices, readPrices, writePrices } from "./price-file.ts";
import { pricesOf } from "./prices.ts";
import { TIMEOUT_RANGE_MS } from "./upstream-file.ts";

/** A model of the file. The database has the time at which it entered the catalog. */
export type FileModel = Omit<CatalogModel, "createdAt">;

/** The kinds of the upstreams that routes may name, by id. */
export type UpstreamKinds = ReadonlyMap<string, UpstreamKind>;

const MAX_ROUTES = 16;
const MAX_TOKENS = 100_000_000;
const MAX_MEDIA_TOKENS = 10_000_000;
/** Most pictures and clips come to less. What large ones cost beyond it is charged as far as the balance reaches. */
export const DEFAULT_MEDIA_TOKENS = { image: 4_096, audio: 16_384, video: 65_536 } as const;
const MEDIA = ["image", "audio", "video"] as const satisfies readonly MediaModality[];
const KINDS = ["chat", "embeddings"] as const satisfies readonly ModelKind[];
const MODALITIES = ["text", "image", "audio", "video"] as const satisfies readonly Modality[];
// Parts between slashes begin with a letter or digit, so that an id is never mistaken for a path like `../x`.
const MODEL_ID = /^[A-Za-z0-9][\w.:-]*(?:\/[A-Za-z0-9][\w.:-]*)*$/;

/** Reads a model, and notes every problem. Null: it is no mapping. */
export function readModel(field: FileField, upstreamKinds: UpstreamKinds): FileModel | null {
  const at = field.mapping([
    "id",
    "kind",
    "name",
    "description",
    "badge",
    "input_modalities",
    "context_length",
    "max_output_tokens",
    "media_tokens",
    "hidden_output",
    "accepts",
    "price",
    "routes",
  ]);
  if (at === null) return null;
  const id = at.id.text({ max: 200, pattern: MODEL_ID, rule: "letters, digits and . _ : - / as in acme/large" });
  const contextLength = at.context_length.integer({ min: 1, max: MAX_TOKENS });
  const kind = at.kind.oneOf(KINDS, "chat") ?? "chat";
  const maxOutputTokens = kind === "chat" ? readMaxOutput(at.max_output_tokens, contextLength) : 0;
  if (kind === "embeddings") {
    for (const name of ["max_output_tokens", "media_tokens", "hidden_output", "accepts"] as const)
      refuseForEmbeddings(at[name]);
  }
  const price = readPricesOf(kind, at.price, contextLength);
  const accepts = readAccepts(at.accepts);
  return {
    id,
    kind,
    name: at.name.text({ max: 200, fallback: id }),
    description: at.description.text({ max: 1_000, fallback: "" }),
    badge: at.badge.isAbsent ? null : at.badge.text({ max: 40 }),
    inputModalities: readModalities(at.input_modalities, kind),
    contextLength,
    maxOutputTokens,
    mediaTokens: readMediaTokens(at.media_tokens),
    hiddenOutput: at.hidden_output.flag(false),
    ...(accepts === undefined ? {} : { accepts }),
    inputPrice: price.input,
    outputPrice: price.output,
    cacheHitPrice: price.cacheHit,
    ...(price.other ? { otherPrices: price.other } : {}),
    routes: at.routes
      .list({ min: 1, max: MAX_ROUTES })
      .map((route) =>
        readRoute(route, { upstreamKinds, contextLength, kind, price: { field: at.price, prices: price } }),
      )
      .filter((each) => each !== null),
  };
}

function readMaxOutput(field: FileField, contextLength: number): number {
  const maxOutputTokens = field.integer({ min: 1, max: MAX_TOKENS });
  if (maxOutputTokens > contextLength) field.note("max_output_tokens", "must not exceed context_length");
  return maxOutputTokens;
}

function readPricesOf(kind: ModelKind, field: FileField, contextLength: number): RouteCost {
  return kind === "chat" ? readPrices(field, contextLength) : readEmbeddingsPrices(field);
}

/** Notes a field that only chat models have. */
function refuseForEmbeddings(field: FileField): void {
  if (!field.isAbsent) field.note("embeddings", "must be left out of an embeddings model");
}

/** The modalities in one order, independent of the order in the file: a change of order is no change. */
function readModalities(field: FileField, kind: ModelKind): readonly Modality[] {
  if (field.isAbsent) return ["text"];
  const given = field.list({ min: 1, max: MODALITIES.length }).map((item) => item.oneOf(MODALITIES));
  if (!given.includes("text")) field.note("input_modalities", "must include text");
  if (kind === "embeddings" && given.length > 1) field.note("embeddings", "must be text alone for an embeddings model");
  if (new Set(given).size < given.length) field.note("input_modalities", "must name each modality once");
  return MODALITIES.filter((modality) => given.includes(modality));
}

function readMediaTokens(field: FileField): FileModel["mediaTokens"] {
  const at = field.isAbsent ? null : field.mapping(MEDIA);
  if (at === null) return DEFAULT_MEDIA_TOKENS;
  const read = (medium: MediaModality): number =>
    at[medium].integer({ min: 1, max: MAX_MEDIA_TOKENS, fallback: DEFAULT_MEDIA_TOKENS[medium] });
  return { image: read("image"), audio: read("audio"), video: read("video") };
}

/** What the reader of a route knows of its model, and of the upstreams there are. */
type RouteFacts = {
  readonly upstreamKinds: UpstreamKinds;
  readonly contextLength: number;
  readonly kind: ModelKind;
  readonly price: PriceField;
};

function readRoute(field: FileField, { upstreamKinds, contextLength, kind, price }: RouteFacts): Route | null {
  const at = field.mapping(["upstream", "model", "first_byte_timeout_ms", "may_repeat_paid", "cost"]);
  if (at === null) return null;
  const upstream = at.upstream.text({ max: 64 });
  if (upstream !== "" && !upstreamKinds.has(upstream)) {
    at.upstream.note("upstream.known", "must name an upstream of this file or of the environment");
  }
  const read = {
    upstream,
    model: at.model.text({ max: 200 }),
    ...(at.first_byte_timeout_ms.isAbsent
      ? {}
      : { firstByteTimeoutMs: at.first_byte_timeout_ms.integer(TIMEOUT_RANGE_MS) }),
    ...(at.may_repeat_paid.flag(false) ? { mayRepeatPaid: true } : {}),
  };
  const cost = at.cost.isAbsent ? undefined : readPricesOf(kind, at.cost, contextLength);
  if (upstreamKinds.get(upstream) === "anthropic") {
    checkAnthropicRoute(kind, field, [price, ...(cost === undefined ? [] : [{ field: at.cost, prices: cost }])]);
  }
  return cost === undefined ? read : { ...read, cost };
}

/** A model in the words of the file. */
export function writeModel(model: FileModel) {
  return {
    id: model.id,
    ...(model.kind === "chat" ? {} : { kind: model.kind }),
    name: model.name,
    ...(model.description === "" ? {} : { description: model.description }),
    ...(model.badge === null ? {} : { badge: model.badge }),
    input_modalities: [...model.inputModalities],
    context_length: model.contextLength,
    ...(model.kind === "chat" ? { max_output_tokens: model.maxOutputTokens } : {}),
    ...writeMediaTokens(model.mediaTokens),
    ...(model.hiddenOutput ? { hidden_output: true } : {}),
    ...(model.accepts === undefined ? {} : { accepts: writeAccepts(model.accepts) }),
    price: writePrices(pricesOf(model)),
    routes: model.routes.map(writeRoute),
  };
}

/** A route in the words of the file. */
export function writeRoute({ upstream, model, cost, firstByteTimeoutMs, mayRepeatPaid }: Route) {
  return {
    upstream,
    model,
    ...(firstByteTimeoutMs === undefined ? {} : { first_byte_timeout_ms: firstByteTimeoutMs }),
    ...(mayRepeatPaid === true ? { may_repeat_paid: true } : {}),
    ...(cost === undefined ? {} : { cost: writePrices(cost) }),
  };
}

function writeMediaTokens(mediaTokens: FileModel["mediaTokens"]): { media_tokens?: Record<string, number> } {
  const set = MEDIA.filter((medium) => mediaTokens[medium] !== DEFAULT_MEDIA_TOKENS[medium]);
  if (set.length === 0) return {};
  return { media_tokens: Object.fromEntries(set.map((medium) => [medium, mediaTokens[medium]])) };
}
