// Google's JSON has two names for each member, such as `inlineData` and `inline_data`: its clients write the first, its documents
// often the second.

import type { JsonObject, Rule } from "../../request/field-rules.ts";
import type { Problems } from "../problems.ts";

/** One object of a request, and where it is in the body. Null counts as absent. */
export class Members {
  readonly #object: JsonObject;
  readonly #problems: Problems;
  /** The members that were found under both names. */
  readonly #twice = new Set<string>();
  readonly path: string;

  constructor(object: JsonObject, path: string, problems: Problems) {
    this.#object = object;
    this.path = path;
    this.#problems = problems;
  }

  pathOf(name: string): string {
    return this.path === "" ? name : `${this.path}.${name}`;
  }

  /** The value under either name; null where it is absent. Under both names it is a problem. */
  value(name: string): unknown {
    const other = snakeName(name);
    const own = this.#object[name] ?? null;
    const second = other === name ? null : (this.#object[other] ?? null);
    if (own !== null && second !== null && !this.#twice.has(name)) {
      this.#twice.add(name);
      this.refuse(name, "unique", `must not be sent as ${other} too`);
    }
    return own ?? second;
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

function snakeName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
