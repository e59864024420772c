import { describe, expect, it } from "vitest";
import { byAmount, isMore, sumOf } from "./decimal.ts";

describe("decimal strings", () => {
  it("are added without binary floating point", () => {
    expect(sumOf(["0.1", "0.2"])).toBe("0.3");
    expect(sumOf(["9007199254740993", "0.000001"])).toBe("9007199254740993.000001");
    expect(sumOf(["-1.5", "1"])).toBe("-0.5");
    expect(sumOf([])).toBe("0");
  });

  it("are sorted with the larger first", () => {
    expect(["2", "10", "-3", "2.000001"].toSorted(byAmount)).toEqual(["10", "2.000001", "2", "-3"]);
  });

  it("are compared with all their decimals", () => {
    expect(isMore("1.000000000000000001", "1")).toBe(true);
    expect(isMore("9007199254740993", "9007199254740992.9")).toBe(true);
    expect(isMore("1.50", "1.5")).toBe(false);
    expect(isMore("9.9", "10")).toBe(false);
  });

  it("refuse other text", () => {
    expect(() => sumOf(["1e3"])).toThrow("not an amount");
    expect(() => sumOf(["0.0000001"])).toThrow("not an amount");
  });
});
