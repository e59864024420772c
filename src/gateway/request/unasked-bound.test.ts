import { describe, expect, it } from "vitest";
import { unaskedBound } from "./unasked-bound.ts";

const WINDOW = 32_768;
/** The bound for ASCII text of so many bytes, whose highest estimate is a token for every two. */
const boundFor = (asciiBytes: number, otherBytes = 0) =>
  unaskedBound(
    { asciiBytes, otherBytes },
    { contextLength: WINDOW, highest: Math.ceil(asciiBytes / 2) + otherBytes, ofMedia: 0 },
  );

describe("the bound of a request that names none", () => {
  it("is what the highest estimate of the input leaves of the window", () => {
    expect(boundFor(100)).toBe(WINDOW - 50);
    expect(boundFor(10_000)).toBe(WINDOW - 5_000);
  });

  it.each([
    ["prose, four bytes a token", 4],
    ["code, three bytes a token", 3],
    ["digits, two and a half", 2.5],
  ])("fits into the window beside an input that fits: %s", (_name, bytesPerToken) => {
    for (let tokens = 100; tokens <= WINDOW * 0.6; tokens += 1_000) {
      const bound = boundFor(Math.floor(tokens * bytesPerToken));
      expect(bound + tokens).toBeLessThanOrEqual(WINDOW);
      expect(bound).toBeGreaterThanOrEqual(1_000);
    }
  });

  it("leaves an answer at least half of what is free beside a long prompt", () => {
    for (const tokens of [20_000, 25_000, 30_000]) {
      const free = WINDOW - tokens;
      expect(boundFor(tokens * 4)).toBeGreaterThanOrEqual(Math.floor(free / 2));
      expect(boundFor(tokens * 4) + tokens).toBeLessThanOrEqual(WINDOW);
    }
  });

  it("is never tiny, however long the input seems", () => {
    expect(boundFor(WINDOW * 12)).toBe(1_024);
    expect(boundFor(0, WINDOW * 3)).toBe(1_024);
  });
});
