import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DecimalError, formatDecimal, parseDecimal } from "./decimal.ts";

const RUNS = { numRuns: 10_000 };
const scale = fc.integer({ min: 0, max: 18 });
const units = fc.bigInt({ min: 0n, max: 10n ** 38n });

/** What a text is read as, or the reason it is refused for. */
function outcomeOf(text: string, atScale = 6): bigint | string {
  try {
    return parseDecimal(text, atScale);
  } catch (error) {
    return error instanceof DecimalError ? error.reason : String(error);
  }
}

describe("parseDecimal", () => {
  test("reads back what formatDecimal printed", () => {
    fc.assert(
      fc.property(units, scale, (value, atScale) => {
        expect(parseDecimal(formatDecimal(value, atScale), atScale)).toBe(value);
      }),
      RUNS,
    );
  });

  test("agrees with a rational number for every form of a decimal", () => {
    const digits = fc.stringMatching(/^\d{0,12}$/);
    fc.assert(
      fc.property(fc.nat(), digits, fc.integer({ min: -40, max: 40 }), scale, (whole, fraction, exponent, atScale) => {
        const text = `${whole}${fraction === "" ? "" : `.${fraction}`}${exponent === 0 ? "" : `e${exponent}`}`;
        // text = numerator / denominator; in units that is numerator × 10^scale / denominator.
        const numerator = BigInt(`${whole}${fraction}`) * 10n ** BigInt(atScale + Math.max(exponent, 0));
        const denominator = 10n ** BigInt(fraction.length + Math.max(-exponent, 0));
        const exact = numerator % denominator === 0n;
        expect(outcomeOf(text, atScale)).toBe(exact ? numerator / denominator : "too_precise");
      }),
      RUNS,
    );
  });

  test("reads 5, 5.0, 5.000000000000, 50e-1 and 0.5E+1 as the same", () => {
    for (const text of ["5", "5.0", "5.000000000000", "50e-1", "0.5E+1", "5e0", "5e-0"]) {
      expect(parseDecimal(text, 6)).toBe(5_000_000n);
    }
  });

  test("takes every decimal the scale keeps and refuses one more", () => {
    expect(parseDecimal("0.000001", 6)).toBe(1n);
    expect(outcomeOf("0.0000001")).toBe("too_precise");
    expect(parseDecimal("0.0000010", 6)).toBe(1n);
    expect(outcomeOf("1e-7")).toBe("too_precise");
    expect(outcomeOf("1.5", 0)).toBe("too_precise");
    expect(parseDecimal("1.0", 0)).toBe(1n);
  });

  test("refuses what is not a plain non-negative decimal", () => {
    const refused = [
      "",
      " ",
      "-0",
      "-1",
      "+1",
      "01",
      "00",
      ".5",
      "5.",
      "5.e1",
      "1e",
      "1e+",
      "1_000",
      "1,5",
      "0x10",
      "1n",
    ];
    const strange = ["NaN", "Infinity", " 5", "5 ", "5\n", "٥", "５", "1e5.0", "1e1e1", "--1", "null", "[5]", "\u0000"];
    for (const text of [...refused, ...strange]) {
      expect(`${text}: ${outcomeOf(text)}`).toBe(`${text}: not_a_decimal`);
    }
  });

  test("bounds the length and the exponent, so that no text makes an endless number", () => {
    expect(outcomeOf("9".repeat(64), 0)).toBe(BigInt("9".repeat(64)));
    expect(outcomeOf("9".repeat(65))).toBe("not_a_decimal");
    expect(outcomeOf("1e40", 0)).toBe(10n ** 40n);
    for (const text of ["1e41", "1e400", "1e-41", `1e${"9".repeat(60)}`]) expect(outcomeOf(text)).toBe("not_a_decimal");
  });
});

describe("formatDecimal", () => {
  test("prints plain digits without an exponent or a trailing zero", () => {
    fc.assert(
      fc.property(units, scale, (value, atScale) => {
        expect(formatDecimal(value, atScale)).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
      }),
      RUNS,
    );
  });

  test("puts the point where the scale requires it", () => {
    expect(formatDecimal(6_500_000n, 6)).toBe("6.5");
    expect(formatDecimal(1n, 18)).toBe("0.000000000000000001");
    expect(formatDecimal(10n ** 38n, 18)).toBe("100000000000000000000");
    expect(formatDecimal(0n, 6)).toBe("0");
    expect(formatDecimal(120n, 0)).toBe("120");
  });

  test("prints a negative number with its sign, as a ledger line needs it", () => {
    expect(formatDecimal(-1_500_000n, 6)).toBe("-1.5");
    expect(formatDecimal(-1n, 6)).toBe("-0.000001");
  });
});
