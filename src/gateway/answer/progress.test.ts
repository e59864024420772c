import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ProgressRecorder } from "./progress.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("records a stream a second after its first byte and then every five, until it is over", async () => {
  const recorder = new ProgressRecorder();
  let records = 0;
  const end = recorder.begin(() => Promise.resolve((records += 1)));
  await vi.advanceTimersByTimeAsync(900);
  expect(records).toBe(0);
  await vi.advanceTimersByTimeAsync(600);
  expect(records).toBe(1);
  await vi.advanceTimersByTimeAsync(4_000);
  expect(records).toBe(1);
  await vi.advanceTimersByTimeAsync(4_500);
  expect(records).toBe(2);
  end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(records).toBe(2);
});

it("has one timer for all streams, none without a stream, and never records a short one", async () => {
  const recorder = new ProgressRecorder();
  let records = 0;
  const ends = Array.from({ length: 100 }, () => recorder.begin(() => Promise.resolve((records += 1))));
  expect(vi.getTimerCount()).toBe(1);
  for (const end of ends) end();
  await vi.advanceTimersByTimeAsync(2_000);
  expect([vi.getTimerCount(), records]).toEqual([0, 0]);
  recorder.begin(() => Promise.resolve((records += 1)));
  await vi.advanceTimersByTimeAsync(2_000);
  expect([vi.getTimerCount(), records]).toEqual([1, 1]);
});

it("waits for a record before it makes the next one, and goes on after one that failed", async () => {
  const recorder = new ProgressRecorder();
  const first = Promise.withResolvers<void>();
  let records = 0;
  recorder.begin(() => ((records += 1) === 1 ? first.promise : Promise.resolve()));
  await vi.advanceTimersByTimeAsync(30_000);
  expect(records).toBe(1);
  first.reject(new Error("the database is away"));
  await vi.advanceTimersByTimeAsync(6_000);
  expect(records).toBe(2);
});
