import { describe, expect, it } from "vitest";
import { MinuteWindows } from "./minute-windows.ts";

describe("windows of a minute", () => {
  it("are of each name, and begin with what it takes first", () => {
    let now = 5;
    const windows = new MinuteWindows(3, { now: () => now });
    expect([1, 2, 3].map(() => windows.take("a"))).toEqual([0, 0, 0]);
    expect([windows.take("a"), windows.take("b"), windows.waitOf("b"), windows.waitOf("c")]).toEqual([60, 0, 0, 0]);
    now = 59_006;
    expect([windows.take("a"), windows.waitOf("a")]).toEqual([1, 1]);
    now = 60_005;
    expect([windows.waitOf("a"), windows.take("a")]).toEqual([0, 0]);
  });

  it("have nothing left after a take of more than is left", () => {
    const windows = new MinuteWindows(10, { now: () => 0 });
    expect([windows.take("a", 10), windows.waitOf("a")]).toEqual([0, 60]);
    expect([windows.take("b", 4), windows.waitOf("b"), windows.take("b", 7), windows.waitOf("b")]).toEqual([
      0, 0, 60, 60,
    ]);
    expect(windows.take("b")).toBe(60);
  });
});
