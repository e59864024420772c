// The catalog as an operator writes it: YAML, read whole and judged whole, and written back in the same form.

import { parseDocument, stringify } from "yaml";
import { ValidationError, type FieldProblem } from "../kernel/errors.ts";
import type {
  CatalogModel,
  MediaModality,
  Modality,
  ModelKind,
  Route,
  RouteCost,
  UpstreamConfig,
  UpstreamKind,
} from "./catalog-model.ts";
import { readAccepts, writeAccepts } from "./accepts-file.ts";
import { checkAnthropicRoute, type PriceField } from "./anthropic-routes.ts";
import { FileField } from "./file-field.ts";
import { readEmbeddingsPrices, readPrices, writePrices } from "./price-file.ts";
import { pricesOf } from "./prices.ts";
import { readUpstream, TIMEOUT_RANGE_MS, writeUpstream } from "./upstream-file.ts";

/** A model of the file. The database has the time at which it entered the catalog. */
export type FileModel = Omit<CatalogModel, "createdAt">;

type UpstreamKinds = ReadonlyMap<string, UpstreamKind>;

/** The content of a file. */
export type CatalogFile = { readonly upstreams: readonly UpstreamConfig[]; readonly models: readonly FileModel[] };

const MAX_FILE_LENGTH = 4_000_000;
const MAX_UPSTREAMS = 200;
const MAX_MODELS = 5_000;
const MAX_ROUTES = 16;
const MAX_TOKENS = 100_000_000;
const MAX_MEDIA_TOKENS = 10_000_000;
const MAX_ALIASES = 100;
/** Most pictures and clips come to less. What large ones cost beyond it is charged as far as the balance reaches. */
export const DEFAULT_MEDIA_TOKENS = { image: 4_096, audio: 16_384, video: 65_536 } as const;
const MEDIA = ["image", "audio", "video"] as const satisfies readonly MediaModality[];
const KINDS = ["chat", "embeddings"] as const satisfies readonly ModelKind[];
const MODALITIES = ["text", "image", "audio", "video"] as const satisfies readonly Modality[];
// Parts between slashes begin with a letter or digit, so that an id is never mistaken for a path like `../x`.
const MODEL_ID = /^[A-Za-z0-9][\w.:-]*(?:\/[A-Za-z0-9][\w.:-]*)*$/;

/**
 * Reads a catalog file. Routes may name the file's upstreams and the preset ones. Errors: ValidationError with every
 * problem there is.
 */
export function readCatalogFile(yaml: string, presetUpstreams: readonly UpstreamConfig[] = []): CatalogFile {
  const problems: FieldProblem[] = [];
  const root = new FileField("", parseYaml(yaml), problems).mapping(["upstreams", "models"]);
  // A file without models would retire them all: that has to be written as `models: []`.
  if (root?.models.isAbsent === true) root.models.note("required", "must be given");
  const upstreams = readEntries(root?.upstreams.list({ max: MAX_UPSTREAMS }) ?? [], readUpstream);
  // An upstream of the file replaces a preset of its id.
  const upstreamKinds = new Map([...presetUpstreams, ...upstreams].map(({ id, kind }) => [id, kind]));
  const models = readEntries(root?.models.list({ max: MAX_MODELS }) ?? [], (field) => readModel(field, upstreamKinds));
  if (problems.length > 0) throw new ValidationError(problems);
  return { upstreams, models };
}

/** Writes a catalog file that reads as the same. What has its default is left out. */
export function writeCatalogFile({ upstreams, models }: CatalogFile): string {
  return stringify({ upstreams: upstreams.map(writeUpstream), models: models.map(writeModel) }, { lineWidth: 0 });
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

function parseYaml(yaml: string): unknown {
  if (yaml.length > MAX_FILE_LENGTH) throw notYaml(`must be at most ${MAX_FILE_LENGTH} characters long`);
  // Made readable, each of its errors would be searched for its line: that is quadratic in a file that is one long line.
  const document = parseDocument(yaml, { prettyErrors: false });
  const [wrong] = document.errors;
  if (wrong !== undefined) throw notYaml(`must be YAML: ${wrong.message} ${placeOf(yaml, Math.max(0, wrong.pos[0]))}`);
  try {
    return document.toJS({ mapAsMap: true, maxAliasCount: MAX_ALIASES });
  } catch (error) {
    throw error instanceof ReferenceError ? notYaml("must not use so many aliases") : error;
  }
}

/** A place in a text, as editors number it. */
function placeOf(text: string, index: number): string {
  const before = text.slice(0, index).split("\n");
  return `at line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
}

function notYaml(message: string): ValidationError {
  return new ValidationError([{ field: "", rule: "yaml", message }]);
}

function readModel(field: FileField, upstreamKinds: UpstreamKinds): FileModel | null {
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

/** Reads the entries of a list, whose ids must differ. An entry that is no mapping is noted and left out. */
function readEntries<Entry extends { readonly id: string }>(
  fields: readonly FileField[],
  read: (field: FileField) => Entry | null,
): Entry[] {
  const seen = new Set<string>();
  return fields.flatMap((field) => {
    const entry = read(field);
    if (entry === null) return [];
    if (entry.id !== "" && seen.has(entry.id)) field.note("id.unique", "must have an id that no other entry has");
    seen.add(entry.id);
    return [entry];
  });
}
