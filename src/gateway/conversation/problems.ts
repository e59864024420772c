// The problems of a request while it is read.

import { type FieldProblem, ValidationError } from "../../kernel/errors.ts";
import { MAX_PROBLEMS } from "../request/check-messages.ts";
import { isObject, type JsonObject, problem, type Rule } from "../request/field-rules.ts";

/** Collects the problems, of a million wrong messages the first few. */
export class Problems {
  readonly #found: FieldProblem[] = [];

  get isFull(): boolean {
    return this.#found.length >= MAX_PROBLEMS;
  }

  add(field: string, rule: string, message: string): void {
    if (!this.isFull) this.#found.push(problem(field, rule, message));
  }

  /** Whether a value is as its rule wants it. */
  holds(rule: Rule, value: unknown, field: string): boolean {
    const found = rule(value, field);
    if (found !== null) this.add(found.field, found.rule, found.message);
    return found === null;
  }

  /** The text of a member, empty where it is wrong. */
  text(rule: Rule, value: unknown, field: string): string {
    return this.holds(rule, value, field) && typeof value === "string" ? value : "";
  }

  /** The object at a field, or null where it is none. */
  object(value: unknown, field: string): JsonObject | null {
    if (isObject(value)) return value;
    this.add(field, "object", "must be an object");
    return null;
  }

  /** The list at a field, empty where it is none or longer than `max`. */
  list(value: unknown, field: string, max: number): readonly unknown[] {
    if (!Array.isArray(value)) this.add(field, "array", "must be an array");
    else if (value.length > max) this.add(field, "max_items", `must hold at most ${max} items`);
    else return value;
    return [];
  }

  /** Errors: ValidationError where there are problems. */
  refuseAny(): void {
    if (this.#found.length > 0) throw new ValidationError(this.#found);
  }
}
