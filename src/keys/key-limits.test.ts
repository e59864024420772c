import { describe, expect, it } from "vitest";
import { ValidationError } from "../kernel/errors.ts";
import {
  budgetState,
  isModelAllowed,
  type KeyLimits,
  NO_LIMITS,
  requireFutureEnd,
  requireKeyLimits,
} from "./key-limits.ts";

const NOW = Date.parse("2026-11-26T10:00:00Z");

function wrongField(check: () => void): string {
  try {
    check();
  } catch (error) {
    if (error instanceof ValidationError) return error.details[0]?.field ?? "";
    throw error;
  }
  return "none";
}

describe("limits", () => {
  it.each<[string, Partial<KeyLimits>]>([
    ["limits.budgetIdr", { budget: { amount: -1n, period: "day" } }],
    ["limits.budgetIdr", { budget: { amount: 10n ** 18n + 1n, period: "day" } }],
    ["limits.expiresAt", { expiresAt: new Date("+020000-01-01T00:00:00Z") }],
    ["limits.expiresAt", { expiresAt: new Date(Number.NaN) }],
    ["limits.allowedModels", { allowedModels: [] }],
    ["limits.allowedModels", { allowedModels: ["a".repeat(201)] }],
    ["none", { budget: { amount: 0n, period: "total" }, allowedModels: ["demo/*"] }],
  ])("name %s where it is wrong", (field, limits) => {
    expect(wrongField(() => requireKeyLimits({ ...NO_LIMITS, ...limits }))).toBe(field);
  });

  it("have an end in the future, or the one that was there", () => {
    const past = new Date(NOW - 1);
    const check = (present: Date | null) =>
      wrongField(() => requireFutureEnd({ ...NO_LIMITS, expiresAt: past }, present, NOW));
    expect([check(null), check(new Date(NOW - 2)), check(new Date(past))]).toEqual([
      "limits.expiresAt",
      "limits.expiresAt",
      "none",
    ]);
  });

  it("allow models by id, or by a beginning with an asterisk behind it", () => {
    const asked = ["acme/large", "acme/larger", "demo/small", "demo", "other/acme/large"];
    const allowed = asked.filter((model) => isModelAllowed(["acme/large", "demo/*"], model));
    expect(allowed).toEqual(["acme/large", "demo/small"]);
    expect(asked.every((model) => isModelAllowed(null, model))).toBe(true);
  });
});

it("a budget that was lowered below what is spent and held has nothing left", () => {
  const counted = { spentNow: 7n, held: 4n, zone: "Asia/Jayapura", endsAt: new Date(NOW) };
  const shown = { spent: 7n, held: 4n, resetsAt: new Date(NOW), timeZone: "Asia/Jayapura" };
  expect(budgetState({ amount: 12n, period: "day", ...counted })).toEqual({ ...shown, left: 1n });
  expect(budgetState({ amount: 10n, period: "day", ...counted })).toEqual({ ...shown, left: 0n });
  const inJakarta = { ...counted, zone: null };
  expect(budgetState({ amount: 10n, period: "month", ...inJakarta })).toMatchObject({ timeZone: "Asia/Jakarta" });
  const total = { ...counted, endsAt: null };
  expect(budgetState({ amount: 10n, period: "total", ...total })).toMatchObject({ resetsAt: null, timeZone: null });
});
