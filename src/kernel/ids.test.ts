import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isUuid, timeOfUuidv7, uuidv7, uuidv7Floor } from "./ids.ts";

const RUNS = { numRuns: 10_000 };
const LATEST_MS = 2 ** 48 - 1;
const moment = fc.integer({ min: 0, max: LATEST_MS });

describe("uuidv7", () => {
  test("is a UUID of version 7 and the standard variant", () => {
    fc.assert(
      fc.property(moment, (ms) => {
        expect(uuidv7(ms)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      }),
      RUNS,
    );
  });

  test("contains the millisecond it was made", () => {
    fc.assert(
      fc.property(moment, (ms) => {
        expect(timeOfUuidv7(uuidv7(ms))).toBe(ms);
      }),
      RUNS,
    );
    expect(timeOfUuidv7(uuidv7(1_700_000_000_000.75))).toBe(1_700_000_000_000);
  });

  test("sorts by time, and no id of a moment lies before the floor of the moment", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: LATEST_MS - 1 }), (ms) => {
        const id = uuidv7(ms);
        expect(uuidv7Floor(ms) <= id && id < uuidv7Floor(ms + 1)).toBe(true);
        expect(id < uuidv7(ms + 1)).toBe(true);
      }),
      RUNS,
    );
  });

  test("never comes twice, also when the pool of random bytes is refilled", () => {
    expect(new Set(Array.from({ length: 20_000 }, () => uuidv7(0))).size).toBe(20_000);
  });

  test("uses all four variants and every random digit", () => {
    const seen = Array.from({ length: 36 }, () => new Set<string>());
    for (let made = 0; made < 2000; made++) Array.from(uuidv7(0)).forEach((digit, at) => seen[at]?.add(digit));
    expect([...(seen[19] ?? [])].toSorted()).toEqual(["8", "9", "a", "b"]);
    for (const at of [15, 16, 17, 20, 21, 22, ...Array.from({ length: 12 }, (_, index) => 24 + index)]) {
      expect(`digit ${at}: ${seen[at]?.size}`).toBe(`digit ${at}: 16`);
    }
  });
});

describe("isUuid", () => {
  test("accepts a UUID of any version and refuses everything else", () => {
    expect(isUuid(uuidv7())).toBe(true);
    expect(isUuid("C73BCDCC-2669-4BF6-81D3-E4AE73FB11FD")).toBe(true);
    for (const text of ["", "c73bcdcc26694bf681d3e4ae73fb11fd", `${uuidv7()}\n`, `${uuidv7()}0`, "g".repeat(36)]) {
      expect(isUuid(text)).toBe(false);
    }
  });
});
