import { expect, test } from "vitest";
import { billingDay } from "../../../kernel/clock.ts";
import { isUuid, timeOfUuidv7 } from "../../../kernel/ids.ts";
import { planRequests, seededChance } from "./plan-requests.ts";

const NOON = { nowMs: Date.parse("2026-11-21T05:00:00Z"), days: 30 };

test("the same seed and moment plan the same month, and another seed another one", () => {
  const plan = planRequests(seededChance(7), NOON);
  expect(planRequests(seededChance(7), NOON)).toEqual(plan);
  expect(planRequests(seededChance(8), NOON)).not.toEqual(plan);
});

test("a month has some hundred requests a day, oldest first, none of them from a time that has not come", () => {
  const plan = planRequests(seededChance(1), NOON);
  expect(plan.length).toBeGreaterThan(2_000);
  expect(plan.length).toBeLessThan(4_000);
  expect(plan.map(({ atMs }) => atMs)).toEqual(plan.map(({ atMs }) => atMs).toSorted((one, other) => one - other));
  expect(plan.at(-1)?.atMs).toBeLessThan(NOON.nowMs);
  expect(new Set(plan.map(({ atMs }) => billingDay(atMs))).size).toBe(NOON.days);
});

test("an id is unique and has the time of its request", () => {
  const plan = planRequests(seededChance(1), NOON);
  expect(new Set(plan.map(({ requestId }) => requestId)).size).toBe(plan.length);
  expect(plan.filter(({ requestId, atMs }) => !isUuid(requestId) || timeOfUuidv7(requestId) !== atMs)).toEqual([]);
});

test("working days are busier than weekends", () => {
  const plan = planRequests(seededChance(1), NOON);
  const on = (day: string) => plan.filter(({ atMs }) => billingDay(atMs) === day).length;
  // A Tuesday and the Sunday before it.
  expect(on("2026-11-17")).toBeGreaterThan(3 * on("2026-11-15"));
});

test("a free request has no tokens and no answer, any other has some", () => {
  const plan = planRequests(seededChance(1), NOON);
  const free = plan.filter(({ basis }) => basis === "free");
  expect(free.length).toBeGreaterThan(10);
  expect(free.every(({ counts, firstByteMs }) => counts.outputTokens === 0 && firstByteMs === null)).toBe(true);
  const others = plan.filter(({ basis }) => basis !== "free");
  expect(others.every(({ counts }) => counts.outputTokens > 0 && counts.inputTokensUncached > 0)).toBe(true);
  expect(free.every(({ failure }) => failure?.inStream === false)).toBe(true);
  expect(new Set(free.map(({ failure }) => failure?.code)).size).toBe(3);
  for (const { basis, failure } of others)
    expect(failure?.code, basis).toBe(basis === "drained" ? "client_left" : undefined);
  expect(new Set(plan.map(({ basis }) => basis))).toEqual(new Set(["exact", "drained", "estimated", "free"]));
});
