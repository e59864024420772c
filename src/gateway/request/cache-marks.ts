// Which requests ask an upstream to write to its prompt cache, and which routes may take them: some upstreams charge more for
// cache writes than for other input.

import type { CatalogModel, Route, UpstreamConfig } from "../../catalog/catalog-model.ts";
import { type FieldProblem, ValidationError } from "../../kernel/errors.ts";
import { isObject, type JsonObject, problem } from "./field-rules.ts";
import { CACHE_MARKS, otherSpelling } from "./known-names.ts";

/** The cache writes that a request asks for: none, for minutes, or for an hour and more. */
export type CacheWrites = "none" | "short" | "long";

/** The lifetime of what is written for minutes, where a request names it. */
const SHORT_TTL = "5m";

/** Members of the body that are checked elsewhere, or hold the caller's own names. */
const LOOKED_AT_ELSEWHERE: ReadonlySet<string> = new Set([
  "messages",
  "cache_control",
  "metadata",
  "logit_bias",
  "response_format",
]);
/** Members with names of the caller's own, such as those of a schema: none of them is a cache mark. */
const FREE_JSON: ReadonlySet<string> = new Set([
  "parameters",
  "schema",
  "json_schema",
  "input_schema",
  "cache_control",
]);

/** Gathers what a request asks to be written, and the field that asks for most. */
export class CacheMarks {
  writes: CacheWrites = "none";
  /** Empty where nothing is asked for. */
  field = "";

  /**
   * Looks at every object within a value, such as the calls of a message. Some proxies lay their marks into them. Returns the
   * first name that differs from that of a mark by case alone.
   */
  lookWithin(value: unknown, where: string): FieldProblem | null {
    if (typeof value !== "object" || value === null) return null;
    let misspelled: FieldProblem | null = null;
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index += 1) {
        misspelled ??= this.lookWithin(value[index], `${where}[${index}]`);
      }
      return misspelled;
    }
    if (!isObject(value)) return null;
    this.look(value, where);
    for (const name of Object.keys(value)) {
      const member = value[name];
      misspelled ??= otherSpelling(name, CACHE_MARKS, where);
      if (typeof member !== "object" || member === null || FREE_JSON.has(name)) continue;
      misspelled ??= this.lookWithin(member, `${where}.${name}`);
    }
    return misspelled;
  }

  /** Looks at the body itself, a message, a part or a tool. `where` is its path, empty for the body. */
  look(object: JsonObject, where: string): void {
    const control = object["cache_control"];
    if (isSet(control)) this.#add(lifetimeOf(control), where, "cache_control");
    if (isSet(object["prompt_cache_breakpoint"])) this.#add("short", where, "prompt_cache_breakpoint");
  }

  /** Looks at the members that only the body itself has, and at its tools. */
  lookAtBody(body: JsonObject, problems: FieldProblem[]): void {
    this.look(body, "");
    const retention = body["prompt_cache_retention"];
    // Every request without a mark has the cache in memory.
    if (isSet(retention) && retention !== "in_memory" && retention !== "in-memory") {
      this.#add("short", "", "prompt_cache_retention");
    }
    for (const name of Object.keys(body)) {
      const member = body[name];
      if (typeof member !== "object" || member === null || LOOKED_AT_ELSEWHERE.has(name)) continue;
      const misspelled = this.lookWithin(member, name);
      if (misspelled !== null) problems.push(misspelled);
    }
  }

  #add(writes: CacheWrites, where: string, name: string): void {
    if (this.writes === writes || this.writes === "long") return;
    this.writes = writes;
    this.field = where === "" ? name : `${where}.${name}`;
  }
}

/**
 * The routes that may take a request: not those whose upstream charges for cache writes that the model has no price for.
 * Errors: ValidationError where that leaves none.
 */
export function routesThatMayTake(
  { cacheWrites, cacheField }: { readonly cacheWrites: CacheWrites; readonly cacheField: string },
  model: CatalogModel,
  upstreams: ReadonlyMap<string, UpstreamConfig>,
): readonly Route[] {
  if (cacheWrites === "none" || hasPriceFor(cacheWrites, model)) return model.routes;
  const routes = model.routes.filter(({ upstream }) => upstreams.get(upstream)?.chargesCacheWrites !== true);
  if (routes.length > 0) return routes;
  const message = `is not offered for ${model.id}: its upstream charges for cache writes, which have no price here`;
  throw new ValidationError([problem(cacheField, "unpriced", message)]);
}

function hasPriceFor(writes: CacheWrites, { otherPrices }: CatalogModel): boolean {
  if (otherPrices?.cacheWrite === undefined) return false;
  return writes === "short" || otherPrices.cacheWrite1h !== undefined;
}

/** How long the marks of one object ask its text to be kept. Null: it has none. */
export function lifetimeOfMarks(object: JsonObject): "5m" | "1h" | null {
  const control = object["cache_control"];
  if (isSet(control)) return lifetimeOf(control) === "short" ? "5m" : "1h";
  return isSet(object["prompt_cache_breakpoint"]) ? "5m" : null;
}

/** A lifetime that is not known to be short counts as long. */
function lifetimeOf(control: unknown): CacheWrites {
  const ttl = isObject(control) ? control["ttl"] : undefined;
  return !isSet(ttl) || ttl === SHORT_TTL ? "short" : "long";
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
