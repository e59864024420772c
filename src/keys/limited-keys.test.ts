import { describe, expect, test } from "vitest";
import { RateLimited } from "../kernel/errors.ts";
import type { VerifiedKey } from "./verified-key.ts";
import { createLimitedKeys, retryAfterSeconds } from "./limited-keys.ts";

const key: VerifiedKey = { keyId: "k", accountId: "a", rateLimit: 60 };

function limitedKeysUnderTest() {
  const clock = { nowMs: 5_000, now: () => clock.nowMs };
  return { clock, limited: createLimitedKeys({ clock }) };
}

describe("the memory of limited keys", () => {
  test("refuses until the very moment and returns how long that is", () => {
    const { clock, limited } = limitedKeysUnderTest();
    expect(() => limited.refuseWhileLimited(key)).not.toThrow();
    limited.rememberLimited(key, 1_500);
    expect(() => limited.refuseWhileLimited(key)).toThrow(new RateLimited({ retryAfterSeconds: 2, limit: 60 }));
    clock.nowMs += 1_499;
    expect(() => limited.refuseWhileLimited(key)).toThrow(new RateLimited({ retryAfterSeconds: 1, limit: 60 }));
    clock.nowMs += 1;
    expect(() => limited.refuseWhileLimited(key)).not.toThrow();
  });

  test("does not refuse another key", () => {
    const { limited } = limitedKeysUnderTest();
    limited.rememberLimited(key, 1_500);
    expect(() => limited.refuseWhileLimited({ ...key, keyId: "other" })).not.toThrow();
  });

  test("keeps the earliest moment of requests that were refused together", () => {
    const { clock, limited } = limitedKeysUnderTest();
    limited.rememberLimited(key, 2_000);
    limited.rememberLimited(key, 1_000);
    limited.rememberLimited(key, 3_000);
    clock.nowMs += 1_000;
    expect(() => limited.refuseWhileLimited(key)).not.toThrow();
  });

  test("forgets a refusal under a limit that the key no longer has", () => {
    const { limited } = limitedKeysUnderTest();
    limited.rememberLimited(key, 60_000);
    expect(() => limited.refuseWhileLimited({ ...key, rateLimit: 600 })).not.toThrow();
  });

  test("never asks a caller to wait less than a second or more than sixty", () => {
    expect([0, 1, 1_000, 1_001, 60_000, 61_000].map(retryAfterSeconds)).toEqual([1, 1, 1, 2, 60, 60]);
  });
});
