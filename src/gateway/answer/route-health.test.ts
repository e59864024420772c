import { expect, it } from "vitest";
import { RouteHealth } from "./route-health.ts";

it("an upstream that failed is not healthy for half a minute, or until it answers", () => {
  const health = new RouteHealth();
  expect(health.isHealthy("a", 0)).toBe(true);
  health.failed("a", 1_000);
  expect([1_000, 30_999, 31_000].map((nowMs) => health.isHealthy("a", nowMs))).toEqual([false, false, true]);
  expect(health.isHealthy("b", 1_000)).toBe(true);
  health.answered("a");
  expect(health.isHealthy("a", 1_001)).toBe(true);
});
