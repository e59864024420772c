import { describe, expect, it } from "vitest";
import { amountOf, asTyped, COINS, readAmount, RUPIAH, WHOLE_RUPIAH } from "./read-amount.ts";

describe("amounts as people type them", () => {
  it.each([
    ["50000", "50000"],
    ["0050", "50"],
    ["12,5", "12.5"],
    ["12.5", "12.5"],
    ["12.50", "12.5"],
    ["0,125", "0.125"],
    ["0.125", "0.125"],
    ["1234.567", "1234.567"],
    ["1.000.000", "1000000"],
    ["1,000,000", "1000000"],
    ["1.000,5", "1000.5"],
    ["1,000.5", "1000.5"],
    ["1.234.567,89", "1234567.89"],
    ["1,234,567.890", "1234567.89"],
    [" Rp 12.345,67 ", "12345.67"],
    ["Rp\u00a050000", "50000"],
    ["5,000000", "5"],
  ])("reads %j as %s", (typed, amount) => {
    expect(readAmount(typed, RUPIAH)).toEqual({ amount });
  });

  it.each([
    ["1.000", "1000", "1"],
    ["1,000", "1000", "1"],
    ["Rp 50.000", "50000", "50"],
    ["16.725", "16725", "16.725"],
  ])("does not guess what %j means: %s or %s", (typed, grouped, fraction) => {
    expect(readAmount(typed, RUPIAH)).toEqual({ wrong: "ambiguous", grouped, fraction });
    expect(amountOf(typed, COINS)).toBeNull();
  });

  it.each(["1.000", "1,000"])("reads %j where no decimals are allowed", (typed) => {
    expect(readAmount(typed, WHOLE_RUPIAH)).toEqual({ amount: "1000" });
  });

  it.each([
    ["", "empty"],
    ["Rp", "empty"],
    ["0", "zero"],
    ["0,00", "zero"],
    ["1,0000001", "tooFine"],
    ["-1", "noNumber"],
    ["1e3", "noNumber"],
    [".5", "noNumber"],
    ["5.", "noNumber"],
    ["1..5", "noNumber"],
    ["1.00.000", "noNumber"],
    ["1.000,00,5", "noNumber"],
    ["0.000.000", "noNumber"],
    ["1,000.000,5", "noNumber"],
    ["1000.000,5", "noNumber"],
    ["١", "noNumber"],
    ["1 USDT", "noNumber"],
    ["9".repeat(31), "noNumber"],
  ])("refuses %j as %s", (typed, wrong) => {
    expect(readAmount(typed, RUPIAH)).toEqual({ wrong });
  });

  it("distinguishes decimals of rupiah from text that is not a number", () => {
    expect(readAmount("10000.5", WHOLE_RUPIAH)).toEqual({ wrong: "notWhole" });
    expect(readAmount("50.000,5", WHOLE_RUPIAH)).toEqual({ wrong: "notWhole" });
    expect(readAmount("10.000,00", WHOLE_RUPIAH)).toEqual({ amount: "10000" });
    expect(readAmount("sepuluh ribu", WHOLE_RUPIAH)).toEqual({ wrong: "noNumber" });
  });

  it("accepts zero where zero is allowed", () => {
    expect(readAmount("0,0", { ...RUPIAH, zero: true })).toEqual({ amount: "0" });
  });

  it("keeps every digit of a coin", () => {
    expect(amountOf("0,000000000000000001", COINS)).toBe("0.000000000000000001");
    expect(amountOf("1,0001", COINS)).toBe("1.0001");
  });

  it.each(["16.725", "16.7", "1000", "0.125", "1234.567", "100.000001"])(
    "writes %s so that it is read as the same amount",
    (amount) => {
      expect(amountOf(asTyped(amount), RUPIAH)).toBe(amount);
    },
  );
});
