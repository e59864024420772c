import { describe, expect, it } from "vitest";
import { idr } from "./money.ts";
import { rupiahText } from "./rupiah-text.ts";

describe("rupiahText", () => {
  it.each([
    [0n, "Rp 0.00", "Rp 0,00"],
    [4_296_000n, "Rp 4.2960", "Rp 4,2960"],
    [4_296_000_000n, "Rp 4,296.00", "Rp 4.296,00"],
    [1_250_000n, "Rp 1.25", "Rp 1,25"],
    [500_000n, "Rp 0.50", "Rp 0,50"],
    [1n, "Rp 0.000001", "Rp 0,000001"],
    [1_000_000_000_001_000n, "Rp 1,000,000,000.0010", "Rp 1.000.000.000,0010"],
    [-123_456_700_000n, "-Rp 123,456.70", "-Rp 123.456,70"],
  ])("writes %i micro-rupiah so that it has one meaning", (units, english, indonesian) => {
    expect([rupiahText(idr(units)), rupiahText(idr(units), "id")]).toEqual([english, indonesian]);
  });

  it("writes no number that both a thousand and a fraction could be", () => {
    for (const units of [1_000n, 12_345_000n, 999_999_000n, 1_001_001_000n]) {
      for (const language of ["en", "id"] as const) {
        expect(rupiahText(idr(units), language)).not.toMatch(/^-?Rp \d{1,3}[.,]\d{3}$/);
      }
    }
  });

  it("refuses coins", () => {
    expect(() => rupiahText({ units: 1n, asset: "USDT/6" })).toThrow("rupiah are written as rupiah");
  });
});
