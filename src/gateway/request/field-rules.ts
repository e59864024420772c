// The rules of the request checks: each rule checks one value and returns its problem, or null.

import type { FieldProblem } from "../../kernel/errors.ts";

/** A parsed JSON object. */
export type JsonObject = { readonly [key: string]: unknown };

/** The problem of a value, or null. */
export type Rule = (value: unknown, field: string) => FieldProblem | null;

/** Whether a parsed value is an object: neither an array nor null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function problem(field: string, rule: string, message: string): FieldProblem {
  return { field, rule, message };
}

/** A JSON number from `min` to `max`. */
export function numberBetween(min: number, max: number): Rule {
  return (value, field) => {
    if (typeof value !== "number") return problem(field, "number", "must be a number");
    return value >= min && value <= max ? null : problem(field, "range", `must be from ${min} to ${max}`);
  };
}

/** A whole JSON number from `min` to `max`. */
export function integerBetween(min: number, max: number): Rule {
  return (value, field) => {
    if (typeof value !== "number") return problem(field, "integer", "must be a whole number");
    if (value < min || value > max) return problem(field, "range", `must be from ${min} to ${max}`);
    return Number.isInteger(value) ? null : problem(field, "integer", "must be a whole number");
  };
}

export const isBoolean: Rule = (value, field) =>
  typeof value === "boolean" ? null : problem(field, "boolean", "must be true or false");

export const isText: Rule = (value, field) =>
  typeof value === "string" ? null : problem(field, "string", "must be a string");

export const isFullText: Rule = (value, field) =>
  typeof value === "string" && value !== "" ? null : problem(field, "string", "must be a string that is not empty");

export const isJsonObject: Rule = (value, field) =>
  isObject(value) ? null : problem(field, "object", "must be an object");

export const isTextOrObject: Rule = (value, field) =>
  typeof value === "string" || isObject(value) ? null : problem(field, "type", "must be a string or an object");
