// The least rate of a body, on a clock that the test holds.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DomainError, UpstreamBusy } from "../../kernel/errors.ts";
import { RequestTimeout } from "../../kernel/intake-errors.ts";
import { type Arriving, BodyBudget } from "./body-budget.ts";

const LOOK_MS = 1_000;
let nowMs = 0;

beforeEach(() => {
  nowMs = 1_000_000;
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Makes the budget check once, after so much time. */
function look(afterMs = LOOK_MS): void {
  nowMs += afterMs;
  vi.advanceTimersByTime(LOOK_MS);
}

function open(budget: BodyBudget): { arriving: Arriving; ended: DomainError[] } {
  const ended: DomainError[] = [];
  const arriving = budget.open({ limit: 1_000_000, caller: "key" }, 1_000_000, (error) => {
    ended.push(error);
    budget.close(arriving as Arriving);
  });
  if (arriving instanceof Error) throw arriving;
  return { arriving, ended };
}

test("a body is ended when less than 10 KiB arrive in 10 seconds", () => {
  const budget = new BodyBudget();
  const { arriving, ended } = open(budget);
  look();
  for (let i = 0; i < 9; i += 1) {
    budget.add(arriving, 1_024);
    look();
  }
  expect(ended).toEqual([]);
  budget.add(arriving, 1_023);
  look();
  expect(ended).toEqual([expect.any(RequestTimeout)]);
  expect(budget.statistics).toMatchObject({ bytesInFlight: 0, refused: { slow: 1 } });
});

test("a body that arrives at the least rate goes on, and what came fast before excuses no silence", () => {
  const budget = new BodyBudget();
  const { arriving, ended } = open(budget);
  look();
  for (let i = 0; i < 100; i += 1) {
    budget.add(arriving, 1_024);
    look();
  }
  budget.add(arriving, 500_000);
  for (let i = 0; i < 10; i += 1) look();
  expect(ended).toEqual([]);
  for (let i = 0; i < 10; i += 1) look();
  expect(ended).toHaveLength(1);
});

test("a process that was held up itself ends no body for it", () => {
  const budget = new BodyBudget();
  const { arriving, ended } = open(budget);
  look();
  look(60_000);
  expect(ended).toEqual([]);
  for (let i = 0; i < 9; i += 1) look();
  budget.add(arriving, 10_240);
  look();
  expect(ended).toEqual([]);
});

test("nothing is looked at once no body is left", () => {
  const budget = new BodyBudget();
  const { arriving } = open(budget);
  expect(vi.getTimerCount()).toBe(1);
  budget.close(arriving);
  look();
  expect(vi.getTimerCount()).toBe(0);
  open(budget);
  expect(vi.getTimerCount()).toBe(1);
});

test("strangers have a sixteenth of the budget, beside that of callers", () => {
  const budget = new BodyBudget({ budgetBytes: 1_600, uploadsPerCaller: 1, patienceMs: 10_000 });
  const take = (caller: string | null, bytes: number): DomainError | null => {
    const arriving = budget.open({ limit: 2_000, caller }, bytes, () => undefined);
    return arriving instanceof DomainError ? arriving : budget.add(arriving, bytes);
  };
  expect(take(null, 101)).toBeInstanceOf(UpstreamBusy);
  expect(take(null, 100)).toBeNull();
  expect(take(null, 1)).toBeInstanceOf(UpstreamBusy);
  expect(take("key", 1_600)).toBeNull();
  expect(take("key", 1)).toBeInstanceOf(UpstreamBusy);
});
