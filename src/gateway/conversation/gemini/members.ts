// Google's JSON has two names for each member, such as `inlineData` and `inline_data`: its clients write the first, its documents
// often the second.

import type { JsonObject, Rule } from "../../request/field-rules.ts";
import type { Problems } from "../problems.ts";

/** One object of a request, and where it is in the body. Null counts as absent. */
export class Members {
  readonly #object: JsonObject;
  readonly #problems: Problems;
  /** The members whose other spellings were looked at. */
  readonly #looked = new Set<string>();
  #spellings: ReadonlyMap<string, readonly string[]> | null = null;
  readonly path: string;

  constructor(object: JsonObject, path: string, problems: Problems) {
    this.#object = object;
    this.path = path;
    this.#problems = problems;
  }

  pathOf(name: string): string {
    return this.path === "" ? name : `${this.path}.${name}`;
  }

  /**
   * The value under either name; null where it is absent. Under both names it is a problem, and so is a name that differs from them by
   * case alone: a service that took it for the same one would be asked for something that was not checked.
   */
  value(name: string): unknown {
    const other = snakeName(name);
    const own = this.#object[name] ?? null;
    const second = other === name ? null : (this.#object[other] ?? null);
    if (!this.#looked.has(name)) {
      this.#looked.add(name);
      if (own !== null && second !== null) this.refuse(name, "unique", `must not be sent as ${other} too`);
      const spelling = this.#spelled(name).find((each) => each !== name && each !== other);
      if (spelling !== undefined) this.refuse(spelling, "spelling", `must be written ${name}`);
    }
    return own ?? second;
  }

  /** All that the object has, but for nulls and empty lists, must be under one of these names. The first other name is a problem. */
  refuseOthers(names: ReadonlySet<string>, rule: string, message: string): void {
    const found = Object.keys(this.#object).find((name) => {
      const value = this.#object[name] ?? null;
      return value !== null && !(Array.isArray(value) && value.length === 0) && !names.has(camelName(name));
    });
    if (found !== undefined) this.refuse(camelName(found), rule, message);
  }

  /** The members of the object that are this one in some spelling. */
  #spelled(name: string): readonly string[] {
    this.#spellings ??= Map.groupBy(Object.keys(this.#object), foldedName);
    return this.#spellings.get(foldedName(name)) ?? [];
  }

  /** The value where it is as its rule wants it; null where it is absent or wrong. */
  optional(name: string, rule: Rule): unknown {
    const value = this.value(name);
    return value !== null && this.#problems.holds(rule, value, this.pathOf(name)) ? value : null;
  }

  /** A text that must be there; empty where it is wrong. */
  text(name: string, rule: Rule): string {
    return this.#problems.text(rule, this.value(name) ?? undefined, this.pathOf(name));
  }

  /** The object of a member; null where it is absent or none. */
  object(name: string): Members | null {
    const value = this.value(name);
    if (value === null) return null;
    const found = this.#problems.object(value, this.pathOf(name));
    return found === null ? null : new Members(found, this.pathOf(name), this.#problems);
  }

  /** The objects of a list; those that are none are problems, and the list may have at most `max`. */
  objects(name: string, max: number): Members[] {
    const value = this.value(name);
    if (value === null) return [];
    const path = this.pathOf(name);
    const found: Members[] = [];
    // Google's clients write one object where a list may have one.
    const list = typeof value === "object" && !Array.isArray(value) ? [value] : value;
    for (const [index, item] of this.#problems.list(list, path, max).entries()) {
      if (this.#problems.isFull) break;
      const object = this.#problems.object(item, `${path}[${index}]`);
      if (object !== null) found.push(new Members(object, `${path}[${index}]`, this.#problems));
    }
    return found;
  }

  /** Whether a list was sent, and has nothing in it. */
  isEmptyList(name: string): boolean {
    const value = this.value(name);
    return Array.isArray(value) && value.length === 0;
  }

  refuse(name: string, rule: string, message: string): void {
    this.#problems.add(name === "" ? this.path : this.pathOf(name), rule, message);
  }
}

/** The name that Google's documents have. */
export function snakeName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The name that Google's clients write. */
export function camelName(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The same for all spellings of a name. The long s and the Kelvin sign fold to ASCII letters. An underscore in front is kept. */
function foldedName(name: string): string {
  return name
    .toLowerCase()
    .replaceAll("\u017F", "s")
    .replaceAll(/(?<=.)_/g, "");
}
