// Reads the members of one object of a request. What is wrong is collected with its path, so that one answer names every field.

import { type FieldProblem, ValidationError } from "../../../kernel/errors.ts";
import { MAX_PROBLEMS } from "../../request/check-messages.ts";
import {
  isBoolean,
  isFullText,
  isObject,
  isText,
  problem,
  type JsonObject,
  type Rule,
} from "../../request/field-rules.ts";

/** The problems of one request. */
export class Problems {
  readonly #found: FieldProblem[] = [];

  /** Whether the answer names no more of them. */
  get isFull(): boolean {
    return this.#found.length >= MAX_PROBLEMS;
  }

  add(found: FieldProblem): void {
    if (!this.isFull) this.#found.push(found);
  }

  /** Errors: ValidationError where there is any. */
  refuseAny(): void {
    if (this.#found.length > 0) throw new ValidationError(this.#found);
  }
}

/** One object and its path in the body. Null counts as absent. */
export class ObjectReader {
  readonly object: JsonObject;
  readonly path: string;
  readonly problems: Problems;

  constructor(object: JsonObject, path: string, problems: Problems) {
    this.object = object;
    this.path = path;
    this.problems = problems;
  }

  pathOf(name: string): string {
    return this.path === "" ? name : `${this.path}.${name}`;
  }

  has(name: string): boolean {
    const value = this.object[name];
    return value !== undefined && value !== null;
  }

  refuse(name: string, rule: string, message: string): void {
    this.problems.add(problem(name === "" ? this.path : this.pathOf(name), rule, message));
  }

  /** A text that is not empty; empty where it is wrong. */
  fullText(name: string): string {
    return this.#checked(name, isFullText) ? String(this.object[name]) : "";
  }

  /** A text, which may be empty; empty where it is absent or wrong. */
  text(name: string): string {
    return this.has(name) && this.#checked(name, isText) ? String(this.object[name]) : "";
  }

  boolean(name: string): boolean | null {
    return this.has(name) && this.#checked(name, isBoolean) ? this.object[name] === true : null;
  }

  number(name: string, rule: Rule): number | null {
    return this.has(name) && this.#checked(name, rule) ? Number(this.object[name]) : null;
  }

  /** One of some texts; null where it is absent or wrong. */
  oneOf<T extends string>(name: string, allowed: readonly T[]): T | null {
    if (!this.has(name)) return null;
    const found = allowed.find((each) => each === this.object[name]);
    if (found === undefined) this.refuse(name, "in", `must be one of ${allowed.join(", ")}`);
    return found ?? null;
  }

  /** An object; null where it is absent or wrong. */
  member(name: string): ObjectReader | null {
    const value = this.object[name];
    if (!this.has(name)) return null;
    if (isObject(value)) return new ObjectReader(value, this.pathOf(name), this.problems);
    this.refuse(name, "object", "must be an object");
    return null;
  }

  /** The objects of a list of at most `most`. */
  *members(name: string, most: number): Generator<ObjectReader> {
    const list = this.object[name];
    if (!Array.isArray(list)) {
      this.refuse(name, "array", "must be an array");
      return;
    }
    if (list.length > most) {
      this.refuse(name, "max_items", `must hold at most ${most}`);
      return;
    }
    for (let index = 0; index < list.length && !this.problems.isFull; index += 1) {
      const value: unknown = list[index];
      const path = `${this.pathOf(name)}[${index}]`;
      if (isObject(value)) yield new ObjectReader(value, path, this.problems);
      else this.problems.add(problem(path, "object", "must be an object"));
    }
  }

  #checked(name: string, rule: Rule): boolean {
    const found = rule(this.object[name], this.pathOf(name));
    if (found !== null) this.problems.add(found);
    return found === null;
  }
}
