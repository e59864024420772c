import { describe, expect, it } from "vitest";
import { RateLimited } from "../../kernel/errors.ts";
import { COUNTS_IN_A_MINUTE, createCountWindows } from "./count-window.ts";

describe("the window of counts", () => {
  it("has 300 slots a minute for each key", () => {
    let now = 0;
    const take = createCountWindows({ now: () => now });
    for (let slot = 0; slot < COUNTS_IN_A_MINUTE; slot += 1) take("a");
    now = 59_001;
    expect(() => take("a")).toThrow(RateLimited);
    expect(() => take("a")).toThrow("Try again in 1 seconds.");
    expect(() => take("b")).not.toThrow();
    now = 60_000;
    expect(() => take("a")).not.toThrow();
  });
});
