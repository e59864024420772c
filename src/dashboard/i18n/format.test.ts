import { describe, expect, it } from "vitest";
import { formatsOf, UNKNOWN } from "./format.ts";

const [id, en] = [formatsOf("id"), formatsOf("en")];

describe("formats", () => {
  it("keeps every digit of a decimal string", () => {
    const exact = ["4", "4.4", "4.44", "4.444", "4.4440", "4.4444", "4.000001"].map((amount) => en.exactRupiah(amount));
    const texts = ["4", "4.40", "4.44", "4.4440", "4.4440", "4.4444", "4.000001"];
    expect(exact).toEqual(texts.map((text) => `Rp\u00a0${text}`));
    expect(id.exactRupiah("12345678901234567.000001")).toBe("Rp\u00a012.345.678.901.234.567,000001");
    expect(en.exactRupiah("12345678901234567.000001")).toBe("Rp\u00a012,345,678,901,234,567.000001");
  });

  it("never shows more balance than there is", () => {
    expect(id.rupiah("284350.999999")).toBe("Rp\u00a0284.350,99");
    expect(id.wholeRupiah("284350.999999")).toBe("Rp\u00a0284.350");
    expect(id.rupiah("284350")).toBe("Rp\u00a0284.350");
    expect(id.rupiah("-1")).toBe("-Rp\u00a01");
    expect(id.columnBalance("284350.999999")).toBe("Rp\u00a0284.350,99");
    expect(id.columnBalance("284350")).toBe("Rp\u00a0284.350,00");
    expect(id.columnBalance("-0.001")).toBe("-Rp\u00a00,01");
  });

  it("shows a cost below a hundredth instead of rounding it to zero", () => {
    expect(id.cost("26.774")).toBe("Rp\u00a026,77");
    expect(id.cost("0.002")).toBe("Rp\u00a00,0020");
    expect(id.cost("0.000012")).toBe("Rp\u00a00,000012");
    expect(id.cost("0")).toBe("Rp\u00a00,00");
    expect(id.headlineCost("0")).toBe("Rp\u00a00");
    expect(id.headlineCost("26.774")).toBe("Rp\u00a026,77");
    expect(id.headlineCost("0.000012")).toBe("Rp\u00a00,000012");
  });

  it("distinguishes unknown from zero", () => {
    expect(id.rupiah(undefined)).toBe(UNKNOWN);
    expect(id.cost("")).toBe(UNKNOWN);
    expect(id.rupiah("0")).toBe("Rp\u00a00");
  });

  it("refuses text that is not a decimal", () => {
    expect(() => id.rupiah("1e5")).toThrow("not a decimal");
  });

  it("formats context sizes in English notation in both languages", () => {
    expect(id.size(1_050_000)).toBe("1.05M");
    expect(id.size(131_072)).toBe("131K");
  });

  it("shows the same day in every time zone of the reader", () => {
    expect(en.day("2026-11-20")).toBe("20 Nov 2026");
    expect(en.shortDay("2026-11-20")).toBe("20 Nov");
  });

  it("shows both years of a range over two years", () => {
    expect(id.days("2026-10-24", "2026-11-22")).toBe("24 Okt – 22 Nov 2026");
    expect(id.days("2025-11-23", "2026-11-22")).toBe("23 Nov 2025 – 22 Nov 2026");
  });

  it("uses the singular for one", () => {
    expect([0, 1, 2].map((value) => en.counted(value, "request", "requests"))).toEqual([
      "0 requests",
      "1 request",
      "2 requests",
    ]);
    expect(id.counted(1, "permintaan", "permintaan")).toBe("1 permintaan");
  });

  it("shows coins with all their decimals", () => {
    expect(id.coins("0.000000000000000001", "ETH")).toBe("0,000000000000000001 ETH");
  });

  it("shows an age in the largest unit of which there are two", () => {
    expect([1, 119, 120, 7_199, 7_200, 172_799, 172_800].map((seconds) => id.age(seconds))).toEqual([
      "1 detik",
      "119 detik",
      "2 menit",
      "119 menit",
      "2 jam",
      "47 jam",
      "2 hari",
    ]);
    expect(en.age(60)).toBe("60 seconds");
  });
});
